//! Against a real server: `AWS_ENDPOINT_URL=… AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… cargo test -p catalogue -- --ignored`
//! with a bucket named `plimsoll-test`. It was passed against `s3s-fs` 0.14, which checks signatures, and against `moto`.

use super::*;
use crate::{Catalogue, Location, RunId};

fn name(second: i64, id: &str) -> FileName {
    FileName::new(second * 1_000_000_000, RunId::parse(id).expect("an id"))
}

/// Bytes that differ from place to place, so that parts in the wrong order are seen.
fn content(bytes: u64) -> Vec<u8> {
    (0..bytes).map(|at| (at ^ (at >> 8) ^ (at >> 16)) as u8).collect()
}

#[test]
#[ignore = "needs an S3 server"]
fn runs_go_there_and_come_back() {
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
