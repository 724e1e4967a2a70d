//! Secrets stay secret: a password is planted in each flag, setting, file and variable, and everything that the program writes is
//! searched for it.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::harness::{Plimsoll, Ran, eventually, plimsoll, verb};
use crate::page::get;
use crate::stored_safety::{stored_file, texts};

/// The password of a place; each place has its own, so that a failure names the leak.
fn planted(place: &str) -> String {
    format!("Pw7/\"~{place}-x9")
}

/// The spellings that are searched for.
fn spellings(secret: &str) -> Vec<String> {
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let escaped = |byte: u8| match byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    let base64 = STANDARD.encode(secret);
    let whole_groups = base64.len() - 4;
    vec![
        secret.to_owned(),
        secret.replace('"', "\\\""),
        secret.replace('"', "&quot;"),
        secret.bytes().map(escaped).collect(),
        base64[..whole_groups].to_owned(),
        hex,
    ]
}

#[track_caller]
fn assert_absent(text: &str, what: &str, places: &[&str]) {
    for place in places {
        for spelling in spellings(&planted(place)) {
            let at = text.find(&spelling);
            let start = at.map(|at| text.floor_char_boundary(at.saturating_sub(200)));
            let around = start.zip(at).map(|(start, at)| &text[start..at]);
            assert_eq!(around, None, "the password of {place} is in {what} as {spelling}, after this");
        }
    }
}

/// Fails if a password is in standard output, standard error, or a file that the run wrote.
#[track_caller]
fn assert_kept(ran: &Ran, places: &[&str], own_files: &[&str]) {
    assert_absent(&ran.out, "standard output", places);
    assert_absent(&ran.err, "standard error", places);
    let mut folders = vec![ran.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if !own_files.contains(&name.as_str()) {
                let bytes = std::fs::read(&path).expect("a file");
                assert_absent(&String::from_utf8_lossy(&bytes), &name, places);
            }
        }
    }
}

/// Uses each secret in every way in which a script can name things.
const LEAKY: &str = "import http from 'k6/http'; import { check, group } from 'k6'; import exec from 'k6/execution';
    import { Counter, Trend } from 'k6/metrics'; import secrets from 'k6/secrets'; import encoding from 'k6/encoding';
    const count = new Counter('count');
    export const options = { scenarios: { main: { executor: 'shared-iterations', iterations: 1, vus: 1,
        env: { DB_PASS: __ENV.DB_PASS, SEEN: __ENV.DATABASE_URL } } } };
    export default async () => {
        const url = __ENV.DATABASE_URL.split(':')[2].split('@')[0];
        const values = [__ENV.DB_PASS, __ENV.PGPASS, __ENV.DB_PWD, __ENV.JWT, __ENV.BEARER, __ENV.CREDS, __ENV.CLI_TOKEN,
            decodeURIComponent(url), await secrets.get('mock'), await secrets.source('file').get('file')];
        for (const secret of values) {
            const hex = Array.from(secret, (c) => c.charCodeAt(0).toString(16).padStart(2, '0')).join('');
            const base64 = encoding.b64encode(secret);
            exec.vu.metrics.tags.json = JSON.stringify({ secret });
            exec.vu.metrics.metadata.there = secret;
            http.get(`${__ENV.URL}/json?t=${encodeURIComponent(secret)}`, { headers: { Authorization: `Basic ${base64}` }, tags: { own: secret, hex, base64 } });
            http.get(`http://user:${encodeURIComponent(secret)}@127.0.0.1:1/${encodeURIComponent(secret)}`);
            check(0, { [`is ${secret}`]: () => false }, { tagged: secret });
            group(secret, () => count.add(1, { n: secret, hex, base64 }));
        }
        throw new Error(`failed with ${values.join(' and ')}`);
    };";

const VARIABLES: [&str; 6] = ["DB_PASS", "PGPASS", "DB_PWD", "JWT", "BEARER", "CREDS"];
const FLAGS: [&str; 9] =
    ["DATABASE_URL", "CLI_TOKEN", "tag", "mock", "file", "redis", "password_file", "otlp", "proxy"];

/// The files that hold the planted secrets by intent.
const OWN_FILES: [&str; 3] = ["script.js", "secrets.txt", "password.txt"];

/// The answers of the page about one run.
const PAGE_PARTS: [&str; 10] = [
    "",
    "/logs",
    "/errors",
    "/requests",
    "/thresholds",
    "/series",
    "/evidence",
    "/validity",
    "/diagnosis",
    "/audit",
];

fn all_places() -> Vec<&'static str> {
    VARIABLES.into_iter().chain(FLAGS).collect()
}

/// A run whose script leaks what it can.
fn leaky(server: &testkit::Server) -> Plimsoll {
    let percent = |place: &str| spellings(&planted(place)).swap_remove(3);
    let file = format!("file={}", planted("file"));
    let project = "[evidence.redis]\naddress = \"redis://lab@127.0.0.1:1\"\n[evidence.prometheus]\naddress = \
                   \"http://lab@127.0.0.1:1\"\npassword_file = \"password.txt\"\n";
    let run = plimsoll(LEAKY)
        .against(server)
        .file("secrets.txt", &file)
        .file("password.txt", &planted("password_file"))
        .file("plimsoll.toml", project)
        .env("DATABASE_URL", &format!("postgres://u:{}@h", percent("DATABASE_URL")))
        .env("PLIMSOLL_REDIS_PASSWORD", &planted("redis"))
        .env("PLIMSOLL_OTLP_TOKEN", &planted("otlp"))
        .env("HTTPS_PROXY", &format!("http://u:{}@127.0.0.1:1", percent("proxy")))
        .flags("-e")
        .word(&format!("CLI_TOKEN={}", planted("CLI_TOKEN")))
        .flags("--tag")
        .word(&format!("token={}", planted("tag")))
        .flags("--secret-source=file=name=file,filename=secrets.txt --secret-source")
        .word(&format!("mock=default,mock={}", planted("mock")))
        .flags("--out json=points.json --out csv=points.csv --report md=r.md,json=r.json,junit=r.xml,html=r.html -q=false");
    VARIABLES.iter().fold(run, |run, name| run.env(name, &planted(name)))
}

#[test]
fn no_planted_secret_is_written() {
    let server = testkit::http::start();
    let ran = leaky(&server).run();
    let places = all_places();
    assert_eq!((ran.code, ran.count("count")), (Some(107), 10), "{}{}", ran.out, ran.err);
    assert_kept(&ran, &places, &OWN_FILES);
    assert_absent(&texts(&stored_file(&ran)), "the run's file", &places);
    for words in [
        "show",
        "report @last --format json",
        "export @last --format json",
        "export @last --format csv",
        "runs --json",
    ] {
        let shown = ran.and(words).run();
        assert_absent(&(shown.out.clone() + &shown.err), words, &places);
    }
    // The search finds something at all.
    assert!(ran.read("points.json").contains("(hidden)") && ran.read("points.csv").contains("(hidden)"));
    assert!(ran.read("summary.json").contains("is (hidden)"));
}

#[test]
fn passwords_that_a_script_gives_to_clients_are_hidden() {
    let server = testkit::http::start();
    let script = "import http from 'k6/http'; import redis from 'k6/x/redis'; import sql from 'k6/x/sql';
        const given = (place) => ['Pw7/\"', `~${place}-x9`].join('');
        new redis.Client({ socket: { host: '127.0.0.1', port: 1 }, password: given('redis') });
        const db = sql.open('postgres', `postgres://shop:${encodeURIComponent(given('sql'))}@127.0.0.1:1/shop`);
        export default () => {
            for (const place of ['redis', 'sql']) {
                console.log(`signs in with ${given(place)}`);
                http.get(`${__ENV.URL}/json?t=${encodeURIComponent(given(place))}`, { tags: { own: given(place) } });
            }
            db.query('SELECT 1');
        };";
    let ran = plimsoll(script).against(&server).flags("--out json=points.json -q=false").run();
    assert_eq!(ran.code, Some(107), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("connection refused"), "{}", ran.err);
    assert_kept(&ran, &["redis", "sql"], &["script.js"]);
    assert_absent(&texts(&stored_file(&ran)), "the run's file", &["redis", "sql"]);
    assert!(ran.read("points.json").contains("(hidden)"));
}

#[test]
fn the_page_shows_no_planted_secret() {
    let server = testkit::http::start();
    // The page of the run in progress; its events have lines, errors and thresholds of their own.
    let running = leaky(&server).flags("--linger --no-page=false --log-output=file=log.txt").start();
    let log = || std::fs::read_to_string(running.folder().join("log.txt")).unwrap_or_default();
    let link = || log().lines().find_map(|line| Some(line.split_once("page: http://")?.1.trim().to_owned()));
    eventually("the run fails on its page", || link().is_some() && log().contains("failed with"));
    let link = link().expect("an address");
    let (address, path) = link.split_once("/runs/").expect("a path");
    for part in PAGE_PARTS {
        let path = format!("/api/v1/runs/{path}{part}");
        assert_absent(&get(address, &path).expect("it answers"), &path, &all_places());
    }
    let mut events = ureq::get(format!("http://{address}/api/v1/runs/{path}/events")).call().expect("events");
    let mut first = vec![0; 64 << 10];
    let length = events.body_mut().as_reader().read(&mut first).expect("events come");
    assert_absent(&String::from_utf8_lossy(&first[..length]), "the events", &all_places());
    drop(events);
    running.signal(rustix::process::Signal::INT);
    assert_kept(&running.wait(), &all_places(), &OWN_FILES);
}

#[test]
fn messages_show_no_passwords_of_addresses() {
    const PASSWORD: &str = "pl4nted-pw";
    let check = |run: Plimsoll, what: &str| {
        let ran = run.run();
        let text = format!("{}{}", ran.out, ran.err);
        assert!(!text.contains(PASSWORD), "{what}: {text}");
        assert!(text.len() > 20, "{what} says something");
    };
    let script = || plimsoll("export default () => {};");
    let kinds = [
        ("redis", "redis://:PW@127.0.0.1:1"),
        ("postgresql", "postgresql://u:PW@127.0.0.1:1/d"),
        ("prometheus", "http://u:PW@127.0.0.1:1"),
        ("rabbitmq", "http://u:PW@127.0.0.1:1"),
        ("redis", "redis://:PW/with/slashes@h"),
        ("postgresql", "host=h password=PW"),
        ("prometheus", "u:PW@h:9090"),
    ];
    for (kind, address) in kinds {
        let address = address.replace("PW", PASSWORD);
        for json in ["", " --json"] {
            check(verb(&format!("doctor{json} --evidence")).word(&format!("{kind}={address}")), &address);
        }
        check(script().flags("--evidence").word(&format!("{kind}={address}")), &address);
    }
    let url = format!("http://u:{PASSWORD}@127.0.0.1:1");
    check(verb("doctor --evidence").word(&url), "an address without a kind");
    // A server that refuses what it is sent: exports repeat what no server takes.
    let server = testkit::http::start();
    let refusing = server.url("").replace("http://", &format!("http://u:{PASSWORD}@"));
    for flag in [
        format!("--out=influxdb={refusing}/db"),
        format!("--out=opentelemetry={refusing}"),
        format!("--out=influxdb=ftp://u:{PASSWORD}@h/db"),
        format!("--log-output=loki={url}"),
        format!("--log-output=loki=ftp://u:{PASSWORD}@h,header.Authorization=Bearer {PASSWORD}"),
        format!("--secret-source=url=urlTemplate={url}/x"),
        format!("--secret-source=mock={PASSWORD}"),
        format!("--runs=s3://u:{PASSWORD}@bucket"),
        format!("--evidence=scrape={url}/metrics"),
        format!("--address=u:{PASSWORD}@127.0.0.1:1"),
    ] {
        check(script().flags("-q=false").word(&flag), &flag);
    }
    check(verb("run").word(&format!("https://u:{PASSWORD}@127.0.0.1:1/script.js")), "a remote script");
    check(verb("deps").word(&format!("https://127.0.0.1:1/script.js?token={PASSWORD}")), "a remote script");
    check(
        plimsoll(&format!("import 'https://127.0.0.1:1/a.js?token={PASSWORD}'; export default () => {{}}")),
        "a remote module",
    );
    for (name, value) in [
        ("HTTP_PROXY", format!("http://u:{PASSWORD}@h:x")),
        ("HTTPS_PROXY", format!("ftp://u:{PASSWORD}@h")),
        ("K6_PROMETHEUS_RW_SERVER_URL", format!("ftp://u:{PASSWORD}@h")),
        ("K6_INFLUXDB_ADDR", format!("ftp://u:{PASSWORD}@h")),
    ] {
        // Both are refused before the run begins.
        let outputs = "-q=false --out influxdb --out experimental-prometheus-rw";
        check(script().flags(outputs).env(name, &value), name);
    }
    let project = format!("[evidence.redis]\npassword = \"{PASSWORD}\"\n");
    check(verb("doctor").file("plimsoll.toml", &project), "a password in the project's file");
    let torn = format!("[evidence.redis]\npassword = \"{PASSWORD}\n");
    check(verb("doctor").file("plimsoll.toml", &torn), "a torn project file");
    check(
        script().flags("--secret-source=file=s.txt").file("s.txt", PASSWORD),
        "a file of secrets without names",
    );
}

#[test]
fn variables_are_stored_by_name_and_shape() {
    let script = "export default () => [__ENV.RATE, __ENV.WORD, __ENV.ASKED];";
    let flags =
        "-e RATE=20 -e DURATION=30s -e WORD=some-word -e PROFILE=smoke -e ASKED=asked-word --store-env ASKED";
    let ran = plimsoll(script).flags(flags).run().exits(0);
    let texts = texts(&stored_file(&ran));
    for kept in ["RATE=20", "DURATION=30s", "PROFILE=smoke", "ASKED=asked-word", "WORD=(set)"] {
        assert!(texts.contains(kept), "{kept} is not in the command line");
    }
    assert!(!texts.contains("some-word"));
    ran.and("report @last --format json").run().prints("(set)").prints("asked-word");
}
