//! Against `s3s-fs`, a server that checks signatures, in this process; or against any other that `AWS_ENDPOINT_URL`
//! names, with a bucket called `plimsoll-test`. It was passed against `moto`, too.

mod server;

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
    let entry = Entry { name: name(1, "aaaa0000"), bytes: 3, version: String::new() };
    assert_eq!(bucket.bring(&entry).expect("it is here"), path);
}
