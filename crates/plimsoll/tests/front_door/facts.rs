//! Facts in a run's file and JSON document about the generator, the program and the target.

use std::path::PathBuf;

use runfile::{Header, Reader};
use serde_json::Value;

use crate::harness::{Ran, plimsoll};

fn header(ran: &Ran) -> Header {
    let folder = ran.folder().join("plimsoll/runs");
    let files = std::fs::read_dir(folder).expect("the folder of the runs");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == runfile::EXTENSION));
    Reader::open(&paths[0]).expect("a run").header().clone()
}

/// Reads a text file of the kernel, without the trailing newline.
fn kernel(path: &str) -> String {
    std::fs::read_to_string(path).expect("Linux reports it").trim().to_owned()
}

#[test]
fn a_run_says_who_made_it_and_of_what() {
    let script = "export default () => {}";
    let ran = plimsoll(script).flags("--target-version 1.4-rc.2 --workers 1 -i 3").run().exits(0);
    let header = header(&ran);
    let (name, release) = (kernel("/proc/sys/kernel/hostname"), kernel("/proc/sys/kernel/osrelease"));
    assert_eq!((&header.host.name, &header.host.kernel), (&name, &release));
    let cores = std::thread::available_parallelism().expect("Linux reports it").get();
    assert_eq!((header.host.cores as usize, header.host.workers), (cores, 1));
    let memory_kib: u64 = kernel("/proc/meminfo")
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse().ok())
        .expect("Linux reports it");
    assert_eq!(header.host.memory_bytes, memory_kib * 1024);
    // Program and test come from the same build.
    let commit = header.commit.map(|commit| (commit.hash, commit.dirty.to_string()));
    let built = runs::build::commit().map(|commit| (commit.hash, commit.dirty.to_string()));
    assert_eq!(commit, built);
    assert_eq!(header.target_version.as_deref(), Some("1.4-rc.2"));

    let report = ran.and("report @last --format json").run().exits(0);
    let report: Value = serde_json::from_str(&report.out).expect("JSON");
    assert_eq!(report["run"]["targetVersion"], "1.4-rc.2");
    let version = report["run"]["plimsollVersion"].as_str().expect("a version");
    let built_from = built.map_or_else(String::new, |(hash, dirty)| {
        format!("+{hash}{}", if dirty == "true" { ".dirty" } else { "" })
    });
    assert_eq!(version, format!("{}{built_from}", header.version));
    let environment = report["environment"].to_string();
    for fact in [&name, &release, &format!("\"{cores}\"")] {
        assert!(environment.contains(fact.as_str()), "{fact} is not in {environment}");
    }
}

#[test]
fn nobody_guesses_the_targets_version() {
    let ran = plimsoll("export default () => {}").run().exits(0);
    assert_eq!(header(&ran).target_version, None);
    let report = ran.and("report @last --format json").run().exits(0);
    let report: Value = serde_json::from_str(&report.out).expect("JSON");
    assert!(["", "null"].contains(&report["run"]["targetVersion"].to_string().trim_matches('"')), "{report}");
}
