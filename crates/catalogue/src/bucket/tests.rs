//! Against `s3s-fs`, a server that checks signatures, in this process; or against any other that `AWS_ENDPOINT_URL`
//! names, with a bucket called `plimsoll-test`. It was passed against `moto`, too.

mod server;

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::{Catalogue, Location, RunId};

fn name(second: i64, id: &str) -> FileName {
    FileName::new(second * 1_000_000_000, RunId::parse(id).expect("an id"))
}

/// Bytes that differ from place to place, so that parts in the wrong order are seen.
fn content(bytes: u64) -> Vec<u8> {
    (0..bytes).map(|at| (at ^ (at >> 8) ^ (at >> 16)) as u8).collect()
}

/// Names the server.
const ENDPOINT: &str = "AWS_ENDPOINT_URL";

/// Variables belong to a whole process, and tests share one: the test goes on in a child that has them.
fn with_server(test: &str) {
    let server = server::S3::start();
    let program = std::env::current_exe().expect("this program has a path");
    let mut child = std::process::Command::new(program);
    child.args([test, "--exact", "--nocapture"]).env(ENDPOINT, &server.url);
    child.env("AWS_ACCESS_KEY_ID", server::KEY).env("AWS_SECRET_ACCESS_KEY", server::SECRET);
    let output = child.env("AWS_REGION", "us-east-1").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn runs_go_there_and_come_back() {
    if std::env::var_os(ENDPOINT).is_none() {
        return with_server("bucket::tests::runs_go_there_and_come_back");
    }
    let local = tempfile::tempdir().expect("a folder");
    let location = Location::parse(&format!("s3://plimsoll-test/t{}", std::process::id())).expect("a place");
    let catalogue = Catalogue::open(location, local.path());
    assert_eq!(catalogue.list().expect("an empty bucket can be listed"), []);
    let sizes = [("aaaa0000", 3), ("bbbb0000", PART_BYTES), ("cccc0000", 2 * PART_BYTES + 5)];
    for (number, (id, bytes)) in (0..).zip(sizes) {
        let path = catalogue.begin(&name(number, id)).expect("an outbox");
        std::fs::write(&path, content(bytes)).expect("a file can be written");
        assert_eq!(catalogue.waiting(), std::slice::from_ref(&path));
        catalogue.keep(&path).expect("it is uploaded");
        assert!(!path.exists() && catalogue.waiting().is_empty(), "it is there and not here");
    }
    let listed = catalogue.list().expect("the bucket can be listed");
    assert_eq!(listed.iter().map(|entry| entry.bytes).collect::<Vec<_>>(), sizes.map(|(_, bytes)| bytes));
    for (id, bytes) in sizes {
        let path = catalogue.find(id).expect("it is found");
        assert!(std::fs::read(&path).expect("it is here") == content(bytes), "{id} came back as it went");
        assert_eq!(catalogue.find(&id[..2]).expect("it is found"), path, "from the cache");
    }
    for entry in &listed {
        catalogue.remove(entry).expect("it can be deleted");
    }
    assert_eq!(catalogue.list().expect("the bucket can be listed"), []);
}

#[test]
fn a_store_that_is_not_there_keeps_the_file_here() {
    let local = tempfile::tempdir().expect("a folder");
    let bucket = Bucket::new("b", "team/a", local.path());
    let path = bucket.begin(&name(1, "aaaa0000")).expect("an outbox");
    std::fs::write(&path, "run").expect("a file can be written");
    assert_eq!(bucket.waiting(), std::slice::from_ref(&path));
    assert_eq!(path.parent(), Some(&*local.path().join("b/team%a/outbox")));
    let entry = Entry { name: name(1, "aaaa0000"), bytes: 3, modified_unix_ns: 0, version: String::new() };
    assert_eq!(bucket.bring(&entry).expect("it is here"), path);
}

/// A way to a server that breaks for good after so many bytes from the client.
fn breaking_way(server: &str, bytes_max: u64) -> (String, Arc<AtomicU64>) {
    let server = server.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let sent = Arc::new(AtomicU64::new(0));
    let count = sent.clone();
    // It ends with the test's process.
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect(&server) else { return };
            let count = count.clone();
            std::thread::spawn(move || pass(&client, &server, &count, bytes_max));
        }
    });
    (url, sent)
}

fn pass(client: &TcpStream, server: &TcpStream, sent: &AtomicU64, bytes_max: u64) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Either side may break first.
            let (mut from, mut to) = (server, client);
            let _ = std::io::copy(&mut from, &mut to);
            let _ = client.shutdown(Shutdown::Both);
        });
        let (mut reading, mut writing) = (client, server);
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = reading.read(&mut buffer) {
            let total = sent.fetch_add(count as u64, Ordering::Relaxed) + count as u64;
            if total > bytes_max || writing.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = server.shutdown(Shutdown::Both);
        let _ = client.shutdown(Shutdown::Both);
    });
}

#[test]
fn an_interrupted_upload_goes_on_where_it_was() {
    let Ok(endpoint) = std::env::var(ENDPOINT) else {
        return with_server("bucket::tests::an_interrupted_upload_goes_on_where_it_was");
    };
    let local = tempfile::tempdir().expect("a folder");
    let prefix = format!("r{}", std::process::id());
    let bucket = |url: &str| Bucket {
        endpoint: Some(url.to_owned()),
        ..Bucket::new("plimsoll-test", &prefix, local.path())
    };
    let bytes = 3 * PART_BYTES + 5;
    let (name, direct) = (name(1, "aaaa0000"), bucket(&endpoint));
    let path = direct.begin(&name).expect("an outbox");
    std::fs::write(&path, content(bytes)).expect("a file can be written");

    // Two parts arrive, and the third does not.
    let (url, _) = breaking_way(&endpoint, 2 * PART_BYTES + PART_BYTES / 2);
    bucket(&url).keep(&name, &path).expect_err("it is interrupted");
    assert_eq!(direct.list_remote().expect("listed").len(), 0, "half a run is none");
    assert_eq!(direct.waiting(), std::slice::from_ref(&path));
    let (url, sent) = breaking_way(&endpoint, u64::MAX);
    bucket(&url).keep(&name, &path).expect("the rest goes there");
    let sent = sent.load(Ordering::Relaxed);
    assert!((PART_BYTES..2 * PART_BYTES).contains(&sent), "only the rest is sent: {sent} bytes");
    let listed = direct.list_remote().expect("listed");
    let back = direct.bring(&listed[0]).expect("it is found");
    assert!(std::fs::read(back).expect("readable") == content(bytes), "it came back as it went");
    assert_eq!(std::fs::read_dir(&direct.outbox).expect("readable").count(), 0, "nothing is left of it");

    // What the store has forgotten, and what has changed, begins anew.
    for forgets in [true, false] {
        std::fs::write(&path, content(bytes)).expect("a file can be written");
        let (url, _) = breaking_way(&endpoint, PART_BYTES + PART_BYTES / 2);
        bucket(&url).keep(&name, &path).expect_err("it is interrupted");
        let mut note = path.clone().into_os_string();
        note.push("-upload");
        if forgets {
            let known = std::fs::read_to_string(&note).expect("a note");
            let (head, rest) = known.split_once('\n').expect("a line");
            let (facts, _) = head.rsplit_once(' ').expect("three words");
            let unknown = "00000000-0000-4000-8000-000000000000";
            std::fs::write(&note, format!("{facts} {unknown}\n{rest}")).expect("it is ours");
        } else {
            std::fs::write(&path, content(bytes + 1)).expect("a file can be written");
        }
        direct.keep(&name, &path).expect("all of it goes there");
        let listed = direct.list_remote().expect("listed");
        assert_eq!(listed[0].bytes, bytes + u64::from(!forgets));
    }
}

/// Listens where the metadata service is said to be, and counts.
fn metadata_service() -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let asked = Arc::new(AtomicU64::new(0));
    let count = asked.clone();
    // It ends with the test's process.
    std::thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            count.fetch_add(1, Ordering::Relaxed);
            let _ =
                client.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    (url, asked)
}

/// Lists a bucket in a child without credentials but for `variables`.
fn list_in_child(variables: &[(&str, &str)]) -> String {
    const TEST: &str = "bucket::tests::the_metadata_service_is_asked_only_on_request";
    let mut child = std::process::Command::new(std::env::current_exe().expect("this program has a path"));
    child.args([TEST, "--exact", "--nocapture"]).env_clear();
    child.env("LISTS_A_BUCKET", "1").env(ENDPOINT, "http://127.0.0.1:1").envs(variables.iter().copied());
    String::from_utf8_lossy(&child.output().expect("it starts").stdout).into_owned()
}

#[test]
fn the_metadata_service_is_asked_only_on_request() {
    if std::env::var_os("LISTS_A_BUCKET").is_some() {
        let bucket = Bucket::new("b", "", std::path::Path::new("/nonexistent"));
        return println!("{}", bucket.list_remote().expect_err("nothing is there"));
    }
    let (url, asked) = metadata_service();
    let said = list_in_child(&[("AWS_METADATA_ENDPOINT", &url)]);
    assert!(
        said.contains("set AWS_ACCESS_KEY_ID") && said.contains("PLIMSOLL_INSTANCE_METADATA=true"),
        "{said}"
    );
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    let said = list_in_child(&[("AWS_METADATA_ENDPOINT", &url), (INSTANCE_METADATA, "true")]);
    assert!(asked.load(Ordering::Relaxed) > 0, "{said}");
}
