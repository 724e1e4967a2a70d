//! Runs in a bucket: every subcommand against `s3s-fs`, an in-process server that checks signatures.

// The server of the catalogue's own test.
#[path = "../../../catalogue/src/bucket/tests/server.rs"]
mod server;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};

use serde_json::Value;

use crate::harness::{Plimsoll, plimsoll, verb};
use server::S3;

const PLACE: &str = "s3://plimsoll-test/team/nightly";

/// Stores runs in the bucket.
fn there(run: Plimsoll, endpoint: &str) -> Plimsoll {
    run.env("PLIMSOLL_RUNS", PLACE)
        .env("AWS_ENDPOINT_URL", endpoint)
        .env("AWS_ACCESS_KEY_ID", server::KEY)
        .env("AWS_SECRET_ACCESS_KEY", server::SECRET)
        .env("AWS_REGION", "us-east-1")
}

fn listed(run: Plimsoll) -> Vec<Value> {
    let ran = run.run().exits(0);
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.out))
}

#[test]
fn a_bucket_is_a_catalogue() {
    let s3 = S3::start();
    let ran = there(plimsoll("export default () => {};").flags("-i 3"), &s3.url).run().exits(0);
    let and = |words: &str| there(ran.and(words), &s3.url);
    assert_eq!(and("show @last").run().exits(0).out, ran.out);
    and("show @last --window 0s..1s").run().exits(0).prints("iterations");
    and("note @last").word("remarkable").run().exits(0);
    and("report @last").run().exits(0).prints("remarkable");
    and("report @last --format json").run().exits(0).prints("\"schemaVersion\"");
    and("report @last --format junit").run().exits(0).prints("<testsuite");
    and("export @last --format csv").run().exits(0).prints("iterations");
    and("export @last --format json").run().exits(0).prints("iterations");
    and("export @last --format parquet -o run.parquet").run().exits(0);
    assert!(ran.folder().join("run.parquet").exists());
    and("export @last --format plimsoll -o copy.plimsoll").run().exits(0);
    assert_eq!(ran.and("show copy.plimsoll").run().exits(0).out, ran.out);
    and("runs prune --keep 0 --yes").run().exits(0).prints("deleted 1 run");
    assert_eq!(listed(and("runs --json")), Vec::<Value>::new());
    and("show @last").run().exits(255);
}

#[test]
fn segments_in_a_bucket_are_merged() {
    let s3 = S3::start();
    let script = "export const options = { vus: 2, iterations: 10 }; export default () => {};";
    let first = there(plimsoll(script).flags("--execution-segment 0:1/2"), &s3.url).run().exits(0);
    let and = |words: &str| there(first.and(words), &s3.url);
    and("run --execution-segment 1/2:1 script.js").run().exits(0);
    let rows = listed(and("runs --json"));
    assert_eq!(rows.len(), 2);
    let ids: Vec<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
    and(&format!("merge {} {} -o whole.plimsoll", ids[0], ids[1])).run().exits(0);
    first.and("show whole.plimsoll").run().exits(0).prints("iterations").prints(": 10 ");
}

#[test]
fn what_could_not_be_uploaded_waits_for_the_next_run() {
    let s3 = S3::start();
    let away = "http://127.0.0.1:1";
    let ran = there(plimsoll("export default () => {};").flags("-i 3 --no-color"), away).run().exits(0);
    assert_eq!(listed(there(verb("runs --json"), &s3.url)), Vec::<Value>::new(), "it is nowhere but here");
    assert_eq!(listed(there(ran.and("runs --json"), &s3.url)).len(), 1, "here it is listed");
    assert_eq!(there(ran.and("show @last"), &s3.url).run().exits(0).out, ran.out);
    there(ran.and("run --no-color script.js"), &s3.url).run().exits(0);
    assert_eq!(listed(there(verb("runs --json"), &s3.url)).len(), 2, "the next run took it along");
    ran.says("the next run tries again");
}

#[test]
fn an_upload_that_is_cut_leaves_nothing_half_visible() {
    let s3 = S3::start();
    let cutting = cutting_proxy(&s3.url, 6_000);
    let ran = there(plimsoll("export default () => {};").flags("-i 3 --no-color"), &cutting).run().exits(0);
    assert_eq!(listed(there(verb("runs --json"), &s3.url)), Vec::<Value>::new(), "half a run is none");
    there(ran.and("run --no-color script.js"), &s3.url).run().exits(0);
    let elsewhere = verb("runs --json");
    assert_eq!(listed(there(elsewhere, &s3.url)).len(), 2, "both are whole");
    assert_eq!(there(verb("show @prev"), &s3.url).run().exits(0).out, ran.out);
    ran.says("the next run tries again");
}

/// Starts a proxy that breaks each connection after `bytes_max` bytes from the client.
fn cutting_proxy(server: &str, bytes_max: u64) -> String {
    let server = server.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    // The thread ends with the test's process.
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(&server).expect("the server is there");
            std::thread::spawn(move || pass(&client, &server, bytes_max));
        }
    });
    url
}

fn pass(client: &TcpStream, server: &TcpStream, bytes_max: u64) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut from, mut to) = (server, client);
            // Either side may break first.
            let _ = std::io::copy(&mut from, &mut to);
        });
        let (mut sent, mut reading) = (0, client);
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = reading.read(&mut buffer) {
            sent += count as u64;
            let mut to = server;
            if sent > bytes_max || to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        // If this fails, both sides are closed already.
        let _ = server.shutdown(Shutdown::Both);
        let _ = client.shutdown(Shutdown::Both);
    });
}
