//! Children that run, and how they are ended.

use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use model::{Instant, SystemClock};
use rustix::process::Signal;

use crate::error::LabError;
use crate::process::{Identity, Launch};

/// A process that has not ended this long after it was asked is killed.
const STOP_LIMIT: Duration = Duration::from_secs(3);

/// How often is looked whether they have ended.
const PERIOD: Duration = Duration::from_millis(20);

/// A child, and the way to stop it.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    launch: Launch,
    identity: Identity,
    /// The time at which it was asked to stop because it is no longer needed.
    retired: Option<Instant>,
}

impl Running {
    /// Starts a process in `directory`.
    ///
    /// # Errors
    /// As [`Launch::spawn`].
    pub(crate) fn start(launch: Launch, directory: &Path, log: &Path) -> Result<Running, LabError> {
        let child = launch.spawn(directory, log)?;
        let pid = i32::try_from(child.id()).unwrap_or_default();
        // A child that was not waited for keeps its entry, so this finds it even when it has ended.
        let identity = Identity::from_pid(pid).unwrap_or(Identity { pid, started_ticks: 0 });
        Ok(Running { child, launch, identity, retired: None })
    }

    pub(crate) fn name(&self) -> &str {
        &self.launch.name
    }

    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    /// Asks it to stop, and kills it if it has not stopped after a time limit.
    pub(crate) fn retire(&mut self, now: Instant) {
        let asked = *self.retired.get_or_insert_with(|| {
            self.identity.signal(self.launch.stop_signal);
            now
        });
        if now.since(asked) > STOP_LIMIT {
            self.identity.signal(Signal::KILL);
        }
    }

    /// Whether it was asked to stop because it is no longer needed.
    pub(crate) fn is_retired(&self) -> bool {
        self.retired.is_some()
    }

    /// How it ended; `None` while it runs.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }
}

/// Ends all, the last first, and waits for them.
pub(crate) fn stop(children: &mut [Running]) {
    for running in children.iter_mut().rev() {
        drop(running.child.stdin.take());
        running.identity.signal(running.launch.stop_signal);
    }
    let asked = SystemClock::now();
    while children.iter_mut().any(|running| running.ended().is_none()) {
        if SystemClock::now().since(asked) > STOP_LIMIT {
            break;
        }
        std::thread::sleep(PERIOD);
    }
    for running in children {
        // It has ended already, or there is no other way.
        let _ = running.child.kill();
        let _ = running.child.wait();
    }
}
