//! The lab: real servers start in time, report parts that have ended, and leave nothing behind.
//!
//! Skips with a message if PostgreSQL is not installed.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use serde_json::Value;

use crate::harness::{Plimsoll, Ran, eventually, verb};

/// Maximum time until everything responds, on two cores.
const UP_LIMIT: Duration = Duration::from_secs(15);

/// Maximum time until everything has ended.
const DOWN_LIMIT: Duration = Duration::from_secs(5);

/// A folder for labs, one test at a time, because timed tests must not wait for others.
pub(crate) struct Labs {
    folder: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

impl Labs {
    /// Opens a folder; `None` if the app store cannot be started.
    pub(crate) fn open() -> Option<Labs> {
        Labs::open_with(&[lab::POSTGRES])
    }

    /// Opens a folder for a lab of these servers.
    pub(crate) fn open_with(servers: &[&dyn lab::Server]) -> Option<Labs> {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(missing) = servers.iter().find(|server| !server.is_installed()) {
            let name = missing.name();
            assert!(std::env::var_os("PLIMSOLL_TESTS").is_none(), "{name} is not installed");
            eprintln!("skipped: {name} is not installed, so no lab is started");
            return None;
        }
        let folder = std::env::temp_dir().join(format!("plimsoll-labs-{}", std::process::id()));
        Some(Labs { folder, _alone: alone })
    }

    /// `plimsoll lab <words>`
    pub(crate) fn lab(&self, words: &str) -> Ran {
        self.verb(words).run()
    }

    fn verb(&self, words: &str) -> Plimsoll {
        verb(&format!("lab {words}")).env("PLIMSOLL_LAB_DIR", &self.folder.display().to_string())
    }

    /// Returns true if a process runs in the labs' folder, as servers and services do.
    pub(crate) fn is_inhabited(&self) -> bool {
        let processes = std::fs::read_dir("/proc").expect("processes").flatten();
        let folders = processes.filter_map(|process| std::fs::read_link(process.path().join("cwd")).ok());
        let mut inside = folders.filter(|folder| folder.starts_with(&self.folder));
        inside.next().is_some()
    }

    /// Returns the only running lab.
    pub(crate) fn status(&self) -> Value {
        let ran = self.lab("status --json");
        let rows: Value = serde_json::from_str(&ran.out).expect("JSON");
        rows[0].clone()
    }

    pub(crate) fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.folder).is_ok_and(|mut entries| entries.next().is_none())
    }
}

impl Drop for Labs {
    fn drop(&mut self) {
        self.lab("down");
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Returns all processes of a lab, the supervisor first.
pub(crate) fn pids(status: &Value) -> Vec<i32> {
    let parts = status["parts"].as_array().expect("parts").iter().map(|part| &part["identity"]);
    let identities = std::iter::once(&status["supervisor"]).chain(parts);
    identities.map(|identity| identity["pid"].as_i64().expect("a number") as i32).collect()
}

pub(crate) fn runs(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.rsplit(')').next().is_some_and(|fields| fields.trim_start().starts_with('Z'))
}

pub(crate) fn kill(pid: i32) {
    rustix::process::kill_process(Pid::from_raw(pid).expect("a number"), Signal::KILL).expect("it runs");
}

pub(crate) fn part(status: &Value, name: &str) -> Value {
    let parts = status["parts"].as_array().expect("parts");
    parts.iter().find(|part| part["name"] == name).expect("a part of this name").clone()
}

pub(crate) fn get(url: &str) -> (u16, String) {
    let config = ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(5)));
    let mut answer =
        config.http_status_as_error(false).build().new_agent().get(url).call().expect("an answer");
    (answer.status().as_u16(), answer.body_mut().read_to_string().expect("a text"))
}

#[test]
fn a_lab_holds_no_file_of_its_caller() {
    let Some(labs) = Labs::open() else { return };
    let up = labs.verb("up appstore").before("exec 9>caller.lock; flock 9").run().exits(0);
    let lock = std::fs::File::open(up.folder().join("caller.lock")).expect("the caller made it");
    let free = rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive);
    labs.lab("down appstore").exits(0);
    assert_eq!(free, Ok(()), "the lock ended with the caller");
}

#[test]
fn a_lab_is_up_in_time_and_leaves_nothing() {
    let Some(labs) = Labs::open() else { return };
    let ran = labs
        .lab("up appstore --variant matview")
        .exits(0)
        .prints("appstore (matview) is up at http://127.0.0.1:");
    assert!(ran.elapsed < UP_LIMIT, "it took {:?}", ran.elapsed);
    let status = labs.status();
    assert_eq!(status["is_well"], true, "{status}");
    let url = status["url"].as_str().expect("a URL");
    let (code, body) = get(&format!("{url}/apps/first-page/FIELD"));
    let lists: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!((code, lists["rating"]["apps"].as_array().map(Vec::len)), (200, Some(10)), "{body}");
    for (path, expect) in [
        ("/apps/first-page/NONE", 404),
        ("/apps/first-page?page=-1", 400),
        ("/apps/first-page?page=x", 400),
        ("/apps/13", 404),
        ("/apps/2", 200),
        ("/elsewhere", 404),
    ] {
        assert_eq!(get(&format!("{url}{path}")).0, expect, "{path}");
    }
    let control = status["control_url"].as_str().expect("a URL");
    assert!(
        get(&format!("{control}/metrics")).1.contains("http_server_requests_total 6"),
        "404 of no route counts not"
    );
    labs.lab("up appstore").exits(255).says("it is up already");
    labs.lab("fault appstore nonsense on").exits(255).says("there are pool-too-small");
    labs.lab("fault appstore n-plus-one on").exits(0);
    labs.lab("status").exits(0).prints("faults on: n-plus-one");
    let ran = labs.lab("down appstore").exits(0).prints("its data is deleted");
    assert!(ran.elapsed < DOWN_LIMIT, "it took {:?}", ran.elapsed);
    assert!(!pids(&status).into_iter().any(runs) && labs.is_empty() && !labs.is_inhabited());
    labs.lab("status").exits(0).prints("nothing is up");
    labs.lab("fault appstore n-plus-one on").exits(255).says("plimsoll lab up appstore");
    labs.lab("down").exits(0).prints("nothing was up");
}

#[test]
fn a_part_that_is_killed_is_named() {
    let Some(labs) = Labs::open() else { return };
    for name in ["postgres", "appstore"] {
        labs.lab("up appstore --variant projection").exits(0);
        let status = labs.status();
        kill(part(&status, name)["identity"]["pid"].as_i64().expect("a number") as i32);
        eventually("its end is noted", || part(&labs.status(), name)["ended"].is_string());
        let says = format!("{name:<12} is gone: it was ended by signal 9");
        labs.lab("status").exits(255).prints(&says);
        labs.lab("fault appstore missing-index on")
            .exits(255)
            .says("failed to have appstore turn missing-index on");
        labs.lab("down").exits(0);
        assert!(!pids(&status).into_iter().any(runs) && labs.is_empty() && !labs.is_inhabited());
    }
}

#[test]
fn nothing_outlives_a_supervisor_that_is_killed() {
    let Some(labs) = Labs::open() else { return };
    labs.lab("up appstore").exits(0);
    let status = labs.status();
    let pids = pids(&status);
    kill(pids[0]);
    eventually("all of it has ended", || !pids.iter().copied().any(runs));
    labs.lab("status").exits(255).prints("its supervisor is gone");
    labs.lab("fault appstore row-lock on").exits(255).says("its supervisor is gone");
    assert!(!labs.is_inhabited());
    // Its remains do not prevent the next start.
    labs.lab("up appstore").exits(0);
    labs.lab("down").exits(0);
    assert!(labs.is_empty());
}

#[test]
fn nothing_outlives_a_supervisor_that_is_killed_while_it_starts() {
    let Some(labs) = Labs::open() else { return };
    let starting = labs.verb("up appstore").start();
    eventually("it has begun", || labs.is_inhabited());
    kill(labs.status()["supervisor"]["pid"].as_i64().expect("a number") as i32);
    starting.wait().exits(255).says("failed to start the supervisor: it ended");
    eventually("all of it has ended", || !labs.is_inhabited());
    assert!(labs.is_empty());
}

#[test]
fn what_cannot_be_started_says_why() {
    let Some(labs) = Labs::open() else { return };
    labs.lab("up nonsense").exits(255).says("there are appstore");
    labs.lab("up appstore --variant nonsense")
        .exits(255)
        .says("there are two-queries, projection, matview, matview-remote");
    labs.lab("list").exits(0).prints("missing-index");
}

/// A short form of `cargo xtask lab`: one request at a time, and the database's share of it.
#[test]
fn each_variant_takes_less_of_the_database() {
    let Some(labs) = Labs::open() else { return };
    let mut before_s: Option<f64> = None;
    for variant in ["two-queries", "projection", "matview"] {
        labs.lab(&format!("up appstore --variant {variant} --refresh 3600")).exits(0);
        let status = labs.status();
        let url = status["url"].as_str().expect("a URL").to_owned();
        let control = status["control_url"].as_str().expect("a URL").to_owned();
        let spent_s = || {
            let (_, text) = get(&format!("{control}/metrics"));
            let line = text.lines().find_map(|line| line.strip_prefix("db_client_query_seconds_total "));
            line.expect("the counter").parse::<f64>().expect("a number")
        };
        // The fastest of several: the machine may be busy meanwhile.
        let costs_s = (0..20).map(|_| {
            let so_far_s = spent_s();
            assert_eq!(get(&format!("{url}/apps/first-page")).0, 200);
            spent_s() - so_far_s
        });
        let cost_s = costs_s.fold(f64::INFINITY, f64::min);
        if let Some(before_s) = before_s {
            assert!(
                cost_s * 1.2 < before_s,
                "{variant} takes {cost_s} s of the database, the one before {before_s} s"
            );
        }
        before_s = Some(cost_s);
        labs.lab("down").exits(0);
    }
}
