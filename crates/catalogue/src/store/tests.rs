//! The directory through the catalogue.

use super::*;
use crate::RunId;

fn name(second: i64, id: &str) -> FileName {
    FileName::new(second * 1_000_000_000, RunId::parse(id).expect("an id"))
}

fn filled(folder: &Path) -> Catalogue {
    let catalogue = Catalogue::open(Location::Directory(folder.join("runs")), folder);
    for (second, id) in [(20, "bbbb0000"), (10, "aaaa0000"), (30, "aaaa1111")] {
        let path = catalogue.begin(&name(second, id)).expect("a directory can be made");
        std::fs::write(&path, id).expect("a file can be written");
        catalogue.keep(&path).expect("it is there already");
    }
    std::fs::write(folder.join("runs/readme.txt"), "not a run").expect("a file can be written");
    catalogue
}

#[test]
fn a_directory_is_listed_by_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let ids: Vec<_> = filled(folder.path())
        .list()
        .expect("readable")
        .into_iter()
        .map(|it| it.name.id.to_string())
        .collect();
    assert_eq!(ids, ["aaaa0000", "bbbb0000", "aaaa1111"]);
}

#[test]
#[expect(clippy::disallowed_types, reason = "a file's time is the system's")]
fn of_runs_with_one_start_the_file_that_was_written_last_is_the_last() {
    let folder = tempfile::tempdir().expect("a folder");
    let catalogue = Catalogue::open(Location::Directory(folder.path().join("runs")), folder.path());
    for (id, written_s) in [("cccc0000", 1), ("aaaa0000", 3), ("bbbb0000", 2), ("00000000", 2)] {
        let path = catalogue.begin(&name(10, id)).expect("a directory can be made");
        std::fs::write(&path, id).expect("a file can be written");
        let file = std::fs::File::options().append(true).open(&path).expect("it is there");
        let at = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(written_s);
        file.set_modified(at).expect("its time can be set");
    }
    let listed = catalogue.list().expect("readable");
    let ids: Vec<&str> = listed.iter().map(|entry| entry.name.id.as_str()).collect();
    assert_eq!(ids, ["cccc0000", "00000000", "bbbb0000", "aaaa0000"]);
    let last = catalogue.find("@last").expect("there are runs");
    assert_eq!(std::fs::read_to_string(last).expect("a file"), "aaaa0000");
}

#[test]
fn a_directory_that_is_not_there_has_no_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let catalogue = Catalogue::open(Location::Directory(folder.path().join("absent")), folder.path());
    assert_eq!(catalogue.list().expect("no error"), []);
    let error = catalogue.find("@last").expect_err("there is none").to_string();
    assert!(error.contains("no runs") && error.contains("--runs"), "{error}");
    assert!(!folder.path().join("absent").exists(), "looking makes nothing");
}

#[test]
fn runs_are_found_by_every_kind_of_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let catalogue = filled(folder.path());
    let content = |text: &str| {
        catalogue
            .find(text)
            .map(|path| std::fs::read_to_string(path).expect("a file"))
            .map_err(|e| e.to_string())
    };
    assert_eq!(content("@last").as_deref(), Ok("aaaa1111"));
    assert_eq!(content("@prev").as_deref(), Ok("bbbb0000"));
    assert_eq!(content("bb").as_deref(), Ok("bbbb0000"));
    let path = folder.path().join("runs/readme.txt");
    assert_eq!(content(&path.display().to_string()).as_deref(), Ok("not a run"));
    assert!(content("aaaa").is_err_and(|text| text.contains("aaaa1111, aaaa0000")));
    assert!(content("nothing").is_err_and(|text| text.contains("no file has that path")));
}

#[test]
fn deleting_takes_what_stands_beside_along() {
    let folder = tempfile::tempdir().expect("a folder");
    let catalogue = filled(folder.path());
    let entry = catalogue.list().expect("readable").remove(0);
    let beside = folder.path().join("runs").join(format!("{}-wal", entry.name));
    std::fs::write(&beside, "log").expect("a file can be written");
    catalogue.remove(&entry).expect("it can be deleted");
    assert!(!beside.exists());
    assert_eq!(catalogue.list().expect("readable").len(), 2);
    assert!(catalogue.remove(&entry).is_err(), "it is gone");
}

#[cfg(unix)]
#[test]
fn the_directory_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    filled(folder.path());
    let mode = std::fs::metadata(folder.path().join("runs")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}
