//! PostgreSQL. What it stores is thrown away with the lab, so it is set up not to wait for the disk.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::{Offer, Place, Server, exchange};
use crate::error::LabError;
use crate::process::{self, Launch, User};

/// The user that Debian's package makes, whom the server runs as when the lab is root's.
const USER: &str = "postgres";

/// Where Debian keeps the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The first message of the protocol's version 3.0 (PostgreSQL documentation, 55.7 "Message Formats").
const PROTOCOL: i32 = 196_608;

/// Settings that differ from the defaults, and why.
const SETTINGS: &[&str] = &[
    "listen_addresses=127.0.0.1",
    // Sockets in the file system have a limit on the length of their path.
    "unix_socket_directories=",
    // In files of the data directory nothing of it outlives that directory.
    "dynamic_shared_memory_type=mmap",
    "shared_preload_libraries=pg_stat_statements",
    "track_io_timing=on",
    "max_connections=60",
    "shared_buffers=64MB",
    // A thrown-away database needs no crash recovery.
    "fsync=off",
    "full_page_writes=off",
    // The lab has one core, and a plan that a compiler or helpers sometimes speed up would blur what is compared.
    "jit=off",
    "max_parallel_workers_per_gather=0",
    "log_lock_waits=on",
];

#[derive(Debug)]
pub(super) struct Postgres;

impl Server for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn package(&self) -> &'static str {
        "postgresql"
    }

    fn program(&self) -> &'static str {
        "postgres"
    }

    fn is_installed(&self) -> bool {
        programs().is_some()
    }

    fn prepare(&self, place: &Place) -> Result<Vec<Launch>, LabError> {
        let programs = programs().ok_or_else(|| LabError::start(self.name(), "it is not installed"))?;
        let user = whom_to_run_as()?;
        let password = place.write("password", &place.password)?;
        if let Some(user) = &user {
            for path in [&place.directory, &password] {
                std::os::unix::fs::chown(path, Some(user.uid), Some(user.gid))
                    .map_err(|error| LabError::file("give away", path, error))?;
            }
        }
        let launch = |name: &str, program: &str| Launch {
            user: user.clone(),
            // An immediate shutdown: nothing is saved, and what it holds of the system is given back.
            stop_signal: Signal::QUIT,
            stop_signal_name: "QUIT",
            ..Launch::new(name, programs.join(program))
        };
        let initdb = launch("postgres's initdb", "initdb")
            .args([
                "-D",
                "data",
                "-U",
                "lab",
                "-E",
                "UTF8",
                "--locale=C.UTF-8",
                "--no-sync",
                "--no-instructions",
            ])
            .args(["--auth=scram-sha-256", "--pwfile=password"]);
        initdb.run(&place.directory)?;
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let server = launch(self.name(), "postgres").args(["-D", "data"]).args(settings);
        Ok(vec![server.args(["-p".to_owned(), place.ports[0].to_string()])])
    }

    /// Asks for a session. While it recovers or starts it refuses, afterwards it asks for a password.
    fn is_ready(&self, place: &Place) -> bool {
        let parameters = b"user\0lab\0database\0postgres\0\0";
        let length = i32::try_from(parameters.len() + 8).unwrap_or_default();
        let request = [&length.to_be_bytes()[..], &PROTOCOL.to_be_bytes()[..], parameters].concat();
        exchange(place.address(0), &request).is_some_and(|answer| answer.first() == Some(&b'R'))
    }

    fn url(&self, place: &Place) -> String {
        format!("postgresql://lab:{}@127.0.0.1:{}/postgres", place.password, place.ports[0])
    }

    fn offer(&self, place: &Place) -> Option<Offer> {
        Some(Offer {
            kind: "postgresql".to_owned(),
            address: format!("postgresql://lab@127.0.0.1:{}/postgres", place.ports[0]),
            password: Some(place.password.clone()),
        })
    }

    /// Killed at once it leaves a small segment of System V shared memory, whose number is in its lock file (PostgreSQL
    /// documentation, 73.1 "Database File Layout").
    fn sweep(&self, directory: &Path) {
        let Ok(lock) = std::fs::read_to_string(directory.join("data/postmaster.pid")) else { return };
        let segment = lock.lines().nth(6).and_then(|line| line.split_whitespace().nth(1));
        let Some(segment) = segment.filter(|id| id.parse::<u32>().is_ok()) else { return };
        let mut command = Command::new("ipcrm");
        // Without the program, or when another process removed it before, a segment of 56 bytes stays.
        let _ = command.args(["-m", segment]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// The folder with the programs of the newest version.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir(VERSIONS).ok()?.flatten().map(|entry| entry.path());
    let installed = versions.filter(|version| version.join("bin/initdb").is_file());
    let number = |version: &PathBuf| version.file_name()?.to_str()?.parse::<u32>().ok();
    Some(installed.max_by_key(number)?.join("bin"))
}

/// It refuses to run as root.
fn whom_to_run_as() -> Result<Option<User>, LabError> {
    if !process::is_root() {
        return Ok(None);
    }
    let missing = LabError::NoUser { server: "PostgreSQL", user: USER };
    process::user(USER).map(Some).ok_or(missing)
}
