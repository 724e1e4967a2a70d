//! Remote modules: from a TLS server, from the cache, checked against the lock file.

use std::sync::{Arc, Mutex};

use testkit::reply::Reply;
use testkit::request::Request;
use testkit::{Identity, Listen, Server, Service};

use crate::harness::{Plimsoll, Ran, plimsoll};

/// Paths and their responses.
#[derive(Clone, Default)]
pub(crate) struct Files(Arc<Mutex<Vec<(String, Reply)>>>);

impl Files {
    fn put(&self, path: &str, reply: Reply) {
        let mut files = self.0.lock().expect("no test has failed with it");
        files.retain(|(known, _)| known != path);
        files.push((path.to_owned(), reply));
    }

    fn script(self, path: &str, text: &str) -> Files {
        self.put(path, Reply::new(200, &[("content-type", "text/javascript")], text.as_bytes()));
        self
    }

    pub(crate) fn reply(self, path: &str, reply: Reply) -> Files {
        self.put(path, reply);
        self
    }

    pub(crate) fn start(&self) -> Server {
        Server::start(self.clone(), Listen::tls(Identity::Valid)).expect("the server starts")
    }
}

impl Service for Files {
    async fn answer(&self, request: &Request) -> Reply {
        let files = self.0.lock().expect("no test has failed with it");
        let found = files.iter().find(|(path, _)| path == request.path());
        found.map_or_else(|| Reply::text(404, "no such file"), |(_, reply)| reply.clone())
    }
}

fn redirect(to: &str) -> Reply {
    Reply::new(302, &[("location", to)], b"")
}

/// Returns a script that imports one name of a remote module and prints it.
fn printing(name: &str, url: &str) -> String {
    format!("import {{ {name} }} from '{url}'; export default () => {{ console.log(`got ${{{name}}}`); }}")
}

pub(crate) fn trusting(run: Plimsoll, server: &Server) -> Plimsoll {
    let ca = server.tls_files().expect("it speaks TLS").ca();
    run.env("SSL_CERT_FILE", &ca.display().to_string())
}

#[track_caller]
fn import(files: &Files, path: &str) -> Ran {
    let server = files.start();
    trusting(plimsoll(&printing("a", &server.url(path))), &server).run()
}

#[test]
fn modules_come_with_what_they_import() {
    let files = Files::default()
        .script("/lib/a.js", "import { b } from './deep/b.js'; export const a = 'a' + b;")
        .script(
            "/lib/deep/b.js",
            "import { c } from '../../c.js'; import { d } from '/d.js'; export const b = 'b' + c + d;",
        )
        .script("/c.js", "exports.c = 'c';")
        .script("/d.js", "\u{feff}export const d = 'd';")
        .reply("/moved/a.js", redirect("/lib/a.js"))
        .script("/moved/deep/b.js", "export const b = ' beside what was written';");
    import(&files, "/lib/a.js?v=1#x").exits(0).says("got abcd");
    import(&files, "/moved/a.js").exits(0).says("got a beside what was written");
    let server = files.start();
    let script = format!(
        "const c = require('{}'); exports.default = () => console.log(`got ${{c.c}}`);",
        server.url("/c.js")
    );
    trusting(plimsoll(&script), &server).run().exits(0).says("got c");
}

#[test]
fn a_script_may_be_remote_itself() {
    let files = Files::default()
        .script("/s.js", "import { a } from './a.js'; export default () => { console.log(`got ${a}`); }")
        .script("/a.js", "export const a = 'far';");
    let server = files.start();
    let run = trusting(crate::harness::verb("run -q"), &server);
    run.word(&server.url("/s.js")).run().exits(0).says("got far");
}

#[test]
fn an_archive_needs_no_network_and_meets_the_lock_beside_it() {
    let files = Files::default()
        .script("/a.js", "import { b } from './b.js'; export const a = 'a' + b;")
        .script("/b.js", "export const b = 'b';");
    let server = files.start();
    let script = printing("a", &server.url("/a.js"));
    let made = trusting(crate::harness::verb("archive --lock s.js").file("s.js", &script), &server);
    let ran = made.run().exits(0);
    drop(server);
    ran.and("run --frozen archive.tar").run().exits(0).says("got ab");
    let lock = ran.read("plimsoll.lock");
    let mut changed: serde_json::Value = serde_json::from_str(&lock).expect("JSON");
    for hash in changed["remote"].as_object_mut().expect("URLs").values_mut() {
        *hash = "0".repeat(64).into();
    }
    std::fs::write(ran.folder().join("plimsoll.lock"), changed.to_string()).expect("written");
    ran.and("run archive.tar").run().exits(107).says("has changed");
    std::fs::remove_file(ran.folder().join("plimsoll.lock")).expect("it was there");
    ran.and("run archive.tar").run().exits(0).says("got ab");
    ran.and("run --frozen archive.tar").run().exits(107).says("--lock");
    ran.and("run --lock archive.tar").run().exits(0).says("got ab");
    assert_eq!(ran.read("plimsoll.lock"), lock);
}

#[test]
fn secrets_come_over_tls_and_are_hidden() {
    let files = Files::default()
        .reply("/secrets/token", Reply::new(200, &[], br#"{"data":{"value":"very-hidden"}}"#))
        .reply("/secrets/denied", Reply::text(403, "no"));
    let server = files.start();
    let script = "import secrets from 'k6/secrets';
        export default async () => {
            const token = await secrets.get('token');
            console.log(`got ${token} of ${token.length}`);
            await secrets.get('denied').catch((error) => console.log(`refused ${error}`));
        }";
    let source =
        format!("--secret-source=url=urlTemplate={},responsePath=data.value", server.url("/secrets/{key}"));
    let ran = trusting(plimsoll(script).word(&source), &server).run().exits(0);
    let ran = ran.says("got ***SECRET_REDACTED*** of 11").says("refused GoError: status code 403");
    assert!(!ran.err.contains("very-hidden"), "{}", ran.err);
    plimsoll(script)
        .word("--secret-source=url=urlTemplate=https://h/")
        .run()
        .exits(255)
        .says("must contain {key}");
}

#[test]
fn what_cannot_be_had_is_said_with_the_next_step() {
    let files = Files::default()
        .reply("/binary.js", Reply::new(200, &[], b"\xff\xfe"))
        .reply("/page.js", Reply::new(200, &[], b"<!DOCTYPE html><title>a.js</title>"))
        .reply("/down.js", redirect("http://127.0.0.1:1/a.js"))
        .reply("/round.js", redirect("/round.js"))
        .reply("/private.js", Reply::text(403, "no"))
        .reply("/tired.js", Reply::text(503, "no"))
        .script("/local.js", "import 'file:///etc/hostname'; export const a = 1;")
        .script("/packaged.js", "import 'lodash'; export const a = 1;")
        .reply("/large.js", Reply::new(200, &[], &vec![b' '; (16 << 20) + 1]));
    for (path, says) in [
        ("/gone.js", "404"),
        ("/binary.js", "not UTF-8"),
        ("/page.js", "web page"),
        ("/down.js", "not https://"),
        ("/round.js", "redirects more than"),
        ("/private.js", "403"),
        ("/tired.js", "503"),
        ("/local.js", "may not read"),
        ("/packaged.js", "bundled"),
        ("/large.js", "larger than 16777216 bytes"),
    ] {
        import(&files, path).exits(107).says(says);
    }
    let script = printing("a", "https://127.0.0.1:1/a.js");
    plimsoll(&script).run().exits(107).says("refused").says("https://127.0.0.1:1/a.js");
    let server = files.start();
    // Without `SSL_CERT_FILE`.
    plimsoll(&printing("a", &server.url("/gone.js"))).run().exits(107).says("SSL_CERT_FILE");
    plimsoll("import 'http://localhost/a.js'; export default () => {}")
        .run()
        .exits(107)
        .says("https://localhost/a.js");
}

#[test]
fn three_missing_modules_are_told_together() {
    let files = Files::default();
    let server = files.start();
    let script = format!(
        "import kafka from 'k6/x/kafka'; import {{ a }} from '{}'; import './gone.js'; import x from 'lodash'; \
         import http from 'k6/http'; console.log('it ran'); export default () => {{}}",
        server.url("/gone.js")
    );
    let ran = trusting(plimsoll(&script), &server).run().exits(107).says("k6/x/kafka").says("lodash");
    let ran = ran.says("404").says("couldn't be found on local disk");
    assert!(!ran.err.contains("it ran"), "{}", ran.err);
}

#[test]
fn the_cached_copy_is_used_when_the_network_fails() {
    let files = Files::default().script("/a.js", "export const a = 'kept';");
    let server = files.start();
    let script = printing("a", &server.url("/a.js"));
    let ran = trusting(plimsoll(&script), &server).run().exits(0).says("got kept");
    assert!(!ran.err.contains("cache"), "{}", ran.err);
    files.put("/a.js", Reply::new(200, &[], b"export const a = 'new';"));
    trusting(ran.and("run script.js"), &server).run().exits(0).says("got new");
    files.put("/a.js", Reply::text(404, "gone"));
    trusting(ran.and("run script.js"), &server).run().exits(107).says("404");
    drop(server);
    ran.and("run script.js").run().exits(0).says("got new").says("the copy from the cache is used");
    ran.and("run --cache elsewhere script.js").run().exits(107).says("refused");
}

#[test]
fn a_lock_file_holds_modules_to_what_they_were() {
    let files = Files::default()
        .script("/a.js", "import { b } from './b.js'; export const a = 'first' + b;")
        .script("/b.js", "export const b = '';");
    let server = files.start();
    let script = printing("a", &server.url("/a.js"));
    let run = |ran: &Ran, flags: &str| trusting(ran.and(&format!("run {flags} script.js")), &server).run();
    trusting(plimsoll(&script), &server).flags("--frozen").run().exits(107).says("plimsoll.lock");
    let ran = trusting(plimsoll(&script), &server).flags("--lock").run().exits(0).says("remote modules: 2");
    let lock: serde_json::Value = serde_json::from_str(&ran.read("plimsoll.lock")).expect("it is JSON");
    assert_eq!(lock["remote"].as_object().map(serde_json::Map::len), Some(2));
    files.put("/a.js", Reply::new(200, &[], b"export const a = 'second';"));
    // Locked, and cached by hash.
    run(&ran, "--frozen").exits(0).says("got first");
    run(&ran, "").exits(0).says("got first");
    run(&ran, "--cache empty --frozen").exits(107).says("has changed since").says("--lock");
    run(&ran, "--cache empty").exits(107).says("has changed since");
    run(&ran, "--lock").exits(0).says("got second");
    run(&ran, "--frozen --cache empty").exits(0).says("got second");
    run(&ran, "--frozen --lock").exits(255);
    drop(server);
    ran.and("run --frozen script.js").run().exits(0).says("got second");
}

#[test]
fn modules_beside_the_lock_file_are_noted_or_refused() {
    let files =
        Files::default().script("/a.js", "export const a = 1;").script("/c.js", "export const a = 2;");
    let server = files.start();
    let script = printing("a", &server.url("/a.js"));
    let other = printing("a", &server.url("/c.js"));
    let ran = trusting(plimsoll(&script), &server).file("other.js", &other).flags("--lock").run().exits(0);
    trusting(ran.and("run other.js"), &server).run().exits(0).says("does not hold 1 of");
    trusting(ran.and("run --frozen other.js"), &server).run().exits(107).says("does not hold it");
    trusting(ran.and("run --lock other.js"), &server).run().exits(0);
    trusting(ran.and("run --frozen other.js"), &server).run().exits(0);
    trusting(ran.and("run --frozen script.js"), &server).run().exits(0);
    std::fs::write(ran.folder().join("plimsoll.lock"), "{").expect("damaged");
    trusting(ran.and("run script.js"), &server).run().exits(107).says("plimsoll.lock");
}
