//! `plimsoll types`: declarations that TypeScript's compiler accepts, and checks scripts with.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Ran, verb};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A script in TypeScript that uses every module of ours, and makes mistakes that must be noticed.
const USES: &str = "
import flow, { asyncTask } from 'plimsoll/flow';
import redis, { Client } from 'k6/x/redis';
import old from 'k6/experimental/redis';
import sql from 'k6/x/sql';
import postgres from 'k6/x/sql/driver/postgres';
import sqlite from 'k6/x/sql/driver/sqlite3';
import mysql, { addTLS, loadTLS, TLS_1_3 } from 'k6/x/sql/driver/mysql';
import faker, { Faker } from 'k6/x/faker';
import { Client as Mqtt, QoS } from 'k6/x/mqtt';
import exec from 'k6/x/exec';
import dns from 'k6/x/dns';
import { parse as env } from 'k6/x/dotenv';
import yaml from 'k6/x/yaml';
import * as toml from 'k6/x/toml';
import x509 from 'k6/crypto/x509';
import { crypto as webcrypto } from 'k6/experimental/webcrypto';
import { WebSocket } from 'k6/experimental/websockets';
import http from 'k6/http';
import remote from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';

const db = sql.open(postgres, 'postgres://localhost/shop');
sql.open(sqlite, ':memory:').close();
loadTLS({ enableTLS: true, minVersion: TLS_1_3 });
const rows: object[] = sql.open(mysql, addTLS('u@tcp(localhost)/shop')).queryWithTimeout('1s', 'SELECT 1');
const made: string = new Faker(11).person.firstName() + faker.internet.password(true) + rows.length;
const mqtt = new Mqtt({ client_id: made });
mqtt.on('message', (topic, payload) => mqtt.publish(topic, payload, { qos: QoS.AtLeastOnce }));
const today: string = exec.command('date', ['-u'], { continue_on_error: true });
const client: Client = new redis.Client({ socket: { host: 'localhost' } });
new old.Client('redis://localhost');

export default async function (): Promise<void> {
  const done = flow.task({
    submit: () => 7,
    poll: (id) => http.get(`/${id.toFixed()}`),
    done: (answer) => answer.status === 200,
    interval: '200ms',
  });
  const polls: number = done.polls;
  const later = await asyncTask({ submit: async () => 'id', poll: async (id) => id.length, done: (n) => n > 2 });
  const length: number | undefined = later.answer;
  const affected: number = db.exec('DELETE FROM item').rowsAffected();
  const value: string = await client.get(env('A=1')['A']);
  yaml.parse(toml.stringify({ a: 1 }));
  const names: string[] = x509.getAltNames('pem');
  const bytes = await webcrypto.subtle.digest('SHA-256', new TextEncoder().encode(value));
  new WebSocket('ws://localhost').close();
  const addresses: string[] = await dns.resolve(today, 'A', '127.0.0.1:53');
  addresses.sort();
  const page = await fetch(new URL('/a', 'http://localhost'));
  setTimeout(() => console.log(__ENV.A, __VU, page.status, remote, global, polls, length, affected, names, bytes), 1);

  // @ts-expect-error: an option that does not exist
  flow.task({ submit: () => 1, poll: () => 2, done: () => true, every: 3 });
  // @ts-expect-error: a driver is needed
  sql.open('postgres://localhost/shop');
  // @ts-expect-error: a method that does not exist
  client.hgetAll('a');
  // @ts-expect-error: a function that does not exist
  faker.person.firstNam();
  // @ts-expect-error: scripts have no page
  document.title;
}
";

/// Complaints about scripts in JavaScript that come from the types of k6 alone: bodies are whatever JSON is.
const OF_K6: &[&str] = &["JSONValue", "JSONArray", "string | ArrayBuffer"];

/// Folders of the project's scripts.
const FOLDERS: &[&str] = &[
    "examples",
    "examples/flow",
    "lab/appstore",
    "lab/feed",
    "lab/ingress",
    "lab/scan",
    "crates/session/src/scripts",
];

/// The folder of TypeScript's compiler and k6's types, which the page's tests install.
fn packages() -> Option<PathBuf> {
    let packages = root().join("ui/node_modules");
    let is_there = packages.join("typescript/lib/tsc.js").is_file() && packages.join("@types/k6").is_dir();
    if !is_there {
        assert!(
            std::env::var_os("PLIMSOLL_TESTS").is_none(),
            "TypeScript and @types/k6 are not installed: run npm ci in ui"
        );
        eprintln!(
            "skipped: TypeScript and @types/k6 are not installed in ui, so declarations are not compiled"
        );
    }
    is_there.then_some(packages)
}

/// Complaints of the compiler about the files of a folder.
fn compiled(ran: &Ran, packages: &Path, flags: &[&str]) -> Vec<String> {
    let link = ran.folder().join("node_modules");
    if !link.exists() {
        std::os::unix::fs::symlink(packages, link).expect("a link");
    }
    let tsc = packages.join("typescript/lib/tsc.js");
    let output =
        Command::new("node").arg(tsc).args(flags).current_dir(ran.folder()).output().expect("node runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    // Explanations are indented.
    text.lines().filter(|line| !line.starts_with(' ')).map(str::to_owned).collect()
}

#[test]
fn the_compiler_accepts_the_declarations_and_notices_mistakes() {
    let Some(packages) = packages() else { return };
    let ran = verb("types").file("uses.ts", USES).run().exits(0);
    assert_eq!(compiled(&ran, &packages, &["--strict"]), [""; 0]);
    // The declarations themselves, which the settings leave out with those of others.
    let all = compiled(&ran, &packages, &["--strict", "--skipLibCheck", "false"]);
    let ours: Vec<&String> = all.iter().filter(|line| line.contains("plimsoll.d.ts")).collect();
    assert!(ours.is_empty(), "{ours:?}");
}

#[test]
fn the_compiler_accepts_the_projects_scripts() {
    let Some(packages) = packages() else { return };
    let ran = verb("types").run().exits(0);
    let mut count = 0;
    for folder in FOLDERS {
        let to = ran.folder().join(folder);
        std::fs::create_dir_all(&to).expect("a folder");
        for entry in std::fs::read_dir(root().join(folder)).expect("a folder of scripts") {
            let path = entry.expect("a file").path();
            if path.extension().is_some_and(|extension| extension == "js") {
                std::fs::copy(&path, to.join(path.file_name().expect("a name"))).expect("a copy");
                count += 1;
            }
        }
    }
    assert!(count > 10, "{count} scripts");
    let complaints = compiled(&ran, &packages, &["--checkJs", "true"]);
    let ours: Vec<&String> =
        complaints.iter().filter(|line| !OF_K6.iter().any(|known| line.contains(known))).collect();
    assert!(ours.is_empty(), "{ours:#?}");
    assert_eq!(compiled(&ran, &packages, &[]), [""; 0], "with the settings as they are written");
}

#[test]
fn files_of_the_user_are_kept() {
    let ran = verb("types tests").run().exits(0);
    assert!(
        ran.err.contains("wrote plimsoll.d.ts and tsconfig.json") && ran.err.contains("npm install"),
        "{}",
        ran.err
    );
    let check = |words: &str, code: i32, expect: &str| {
        let again = verb("types").flags(words).run().exits(code);
        assert!(again.err.contains(expect), "{}", again.err);
    };
    let folder = ran.folder().join("tests");
    std::fs::write(folder.join("tsconfig.json"), "{}").expect("it is written");
    let path = folder.to_str().expect("UTF-8");
    check(path, 0, "kept your tsconfig.json");
    assert_eq!(std::fs::read_to_string(folder.join("tsconfig.json")).expect("it is there"), "{}");
    check(&format!("--force {path}"), 0, "wrote plimsoll.d.ts and tsconfig.json");
    std::fs::write(folder.join("plimsoll.d.ts"), "mine").expect("it is written");
    check(path, 255, "--force overwrites it");
    assert_eq!(std::fs::read_to_string(folder.join("plimsoll.d.ts")).expect("it is there"), "mine");
}
