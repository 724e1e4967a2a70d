//! Runs every script of `conformance/cases` and compares the result with k6's.
//!
//! `conformance/record.py` recorded k6's results, so k6 is not needed here. Intentional differences and known defects are data in
//! `conformance/differences.json`, each with its reason; an entry without a difference fails the test, too.
//!
//! * `PLIMSOLL_BIN=path` runs another binary: with k6 itself, and `CONFORMANCE_AS=k6`, no difference is allowed.
//! * `CONFORMANCE_ONLY=http-` runs the cases whose names contain this text.

mod case;
mod compare;
mod observe;
mod outputs;
mod service;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use case::Case;
use compare::{Difference, Known};

/// Concurrent cases: most of them sleep, but some measure time, and more would disturb those.
const CASES_AT_ONCE: usize = 3;

#[test]
fn every_case_does_what_k6_did() {
    let folder = folder();
    let only = std::env::var("CONFORMANCE_ONLY").unwrap_or_default();
    let as_k6 = std::env::var("CONFORMANCE_AS").is_ok_and(|name| name == "k6");
    let mut cases = Case::all(&folder.join("cases"), &only);
    cases.retain(|case| !as_k6 || case.documented.is_none());
    cases.retain(|case| {
        let has_all = case.service.is_none_or(service::is_installed);
        if !has_all {
            println!("skipped {}: its server is not installed", case.name);
        }
        has_all
    });
    for case in cases.iter_mut().filter(|_| !as_k6) {
        case.args.append(&mut case.own_args);
    }
    assert!(!cases.is_empty(), "no case's name contains {only:?}");

    let server = testkit::http::start();
    let base = observe::address(&server);
    let run = |case: &Case| observe::observe(&binary(), case, &base);
    let known = Known::read(&folder.join("differences.json"), as_k6);
    let outcomes = in_parallel(&cases, |case| {
        let expected = compare::read(&folder.join("expected").join(format!("{}.json", case.name)));
        run(case).map(|seen| known.differences(&case.name, &expected, &seen))
    });

    let mut failed = 0;
    for (case, outcome) in cases.iter().zip(&outcomes) {
        failed += usize::from(!report(&case.name, outcome));
    }
    // A difference listed for all cases may occur in none of a few.
    let is_whole = only.is_empty();
    let names = cases.iter().map(|case| case.name.as_str()).filter(|_| is_whole);
    let vanished = known.vanished(names, &outcomes);
    let waiting = outcomes.iter().flatten().filter(|differences| known.waits(differences)).count();
    vanished.iter().for_each(|entry| println!("VANISHED {entry}: remove it from differences.json"));
    println!(
        "{} of {} cases agree with k6, {waiting} wait for repair",
        cases.len() - failed - waiting,
        cases.len()
    );
    assert!(
        failed == 0 && vanished.is_empty(),
        "{failed} cases differ, {} differences vanished",
        vanished.len()
    );
}

#[test]
fn what_is_written_looks_like_k6s() {
    if std::env::var("CONFORMANCE_AS").is_ok_and(|name| name == "k6") {
        // k6 has no `--compat`; the golden data are its own outputs.
        return;
    }
    let folder = folder();
    let server = testkit::http::start();
    let base = observe::address(&server);
    let known = Known::read(&folder.join("differences.json"), false);
    let names: Vec<String> = outputs::SCRIPTS.iter().map(|script| format!("outputs/{script}")).collect();
    let compare = |script: &&str| {
        let ours = outputs::observed(&binary(), &folder, script, &base)?;
        Ok(known.differences(&format!("outputs/{script}"), &outputs::golden(&folder, script), &ours))
    };
    let outcomes: Vec<_> = outputs::SCRIPTS.iter().map(compare).collect();
    let agreeing = names.iter().zip(&outcomes).filter(|(name, outcome)| report(name, outcome)).count();
    let mut vanished = known.vanished(names.iter().map(String::as_str), &outcomes);
    vanished.retain(|entry| entry.starts_with("outputs/"));
    assert!(agreeing == names.len() && vanished.is_empty(), "{agreeing} agree, {vanished:?} vanished");
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    folder.canonicalize().expect("the folder conformance exists")
}

fn binary() -> PathBuf {
    std::env::var_os("PLIMSOLL_BIN").map_or_else(|| env!("CARGO_BIN_EXE_plimsoll").into(), PathBuf::from)
}

/// Prints the result of a case; returns true if it passed.
fn report(name: &str, outcome: &Result<Vec<Difference>, String>) -> bool {
    let differences = match outcome {
        Ok(differences) => differences,
        Err(error) => {
            println!("FAIL {name}: failed to {error}");
            return false;
        }
    };
    let unexpected: Vec<_> = differences.iter().filter(|difference| difference.known.is_none()).collect();
    if unexpected.is_empty() {
        println!("ok   {name} ({} known differences)", differences.len());
        return true;
    }
    println!("FAIL {name}");
    for difference in unexpected {
        println!("     {}\n       k6   {}\n       ours {}", difference.path, difference.k6, difference.ours);
    }
    false
}

fn in_parallel<T: Send>(cases: &[Case], run: impl Fn(&Case) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..CASES_AT_ONCE {
            scope.spawn(|| {
                while let Some((at, case)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    cases.get(at).map(|case| (at, case))
                } {
                    let outcome = run(case);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, outcome));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}
