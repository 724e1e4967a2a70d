//! A program: started, read within limits, ended with the iteration that waits for it.

use std::fmt;
use std::io::{self, PipeReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// Bytes of one output. A program that writes more is ended.
const OUTPUT_BYTES_MAX: u64 = 16 << 20;

/// How often it is asked whether a program that has closed its output has ended.
const ASK_EVERY: Duration = Duration::from_millis(2);

/// A program to run.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    /// `NAME=VALUE`, beside those of this process.
    pub(super) env: Vec<String>,
    pub(super) directory: Option<String>,
    /// Whether both outputs are one.
    pub(super) combines_output: bool,
}

/// A program that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) id: u32,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

impl Ended {
    /// The end in Go's words.
    pub(super) fn story(&self) -> String {
        match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(9)) => "signal: killed".to_owned(),
            (None, Some(15)) => "signal: terminated".to_owned(),
            (None, Some(signal)) => format!("signal: {signal}"),
            (None, None) => "ended in an unknown way".to_owned(),
        }
    }
}

/// A program did not run to its end.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// It was not started.
    #[error("{0}")]
    Start(String),
    /// Its output could not be read.
    #[error("failed to read the output of the program: {0}")]
    Output(io::Error),
    /// It wrote too much.
    #[error("the program writes more than {} MiB; let it write to a file", OUTPUT_BYTES_MAX >> 20)]
    TooMuch,
}

/// Ends a program from another thread.
#[derive(Clone, Default)]
struct Switch {
    /// The program's number; 0 before it is started and after it has ended.
    id: Arc<AtomicI32>,
    is_off: Arc<AtomicBool>,
}

impl fmt::Debug for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Switch").field(&self.id).finish()
    }
}

impl Switch {
    /// Ends the program and those that it has started.
    fn turn_off(&self) {
        self.is_off.store(true, Ordering::SeqCst);
        if let Some(group) = Pid::from_raw(self.id.load(Ordering::SeqCst)) {
            // One that has just ended needs no end.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Turns a switch off when it is dropped.
struct Guard(Switch);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.turn_off();
    }
}

impl Program {
    /// Runs it on a thread of its own. A future that is dropped ends it.
    pub(super) async fn run_elsewhere(self) -> Result<Ended, Failure> {
        let switch = Switch::default();
        let guard = Guard(switch.clone());
        let ended = tokio::task::spawn_blocking(move || self.run_with(&switch)).await;
        drop(guard);
        ended.unwrap_or_else(|error| Err(Failure::Output(io::Error::other(error))))
    }

    /// Runs it on this thread.
    pub(super) fn run(self) -> Result<Ended, Failure> {
        self.run_with(&Switch::default())
    }

    fn run_with(self, switch: &Switch) -> Result<Ended, Failure> {
        if switch.is_off.load(Ordering::SeqCst) {
            return Err(Failure::Start("the iteration is over".to_owned()));
        }
        let (out, out_writer) = io::pipe().map_err(Failure::Output)?;
        let (err, err_writer) = io::pipe().map_err(Failure::Output)?;
        let mut command = Command::new(&self.name);
        command.args(&self.arguments).stdin(Stdio::null()).process_group(0);
        let errors = if self.combines_output {
            // A pipe without a writer is at its end at once.
            drop(err_writer);
            out_writer.try_clone().map_err(Failure::Output)?
        } else {
            err_writer
        };
        command.stderr(errors);
        command.stdout(out_writer);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        for variable in &self.env {
            let (name, value) = variable.split_once('=').unwrap_or((variable, ""));
            command.env(name, value);
        }
        let mut child = command.spawn().map_err(|error| self.explain(&error))?;
        // The command holds the ends that are written to, and the outputs would have no end.
        drop(command);
        switch.id.store(child.id() as i32, Ordering::SeqCst);
        if switch.is_off.load(Ordering::SeqCst) {
            switch.turn_off();
        }
        let other = switch.clone();
        let reader = std::thread::spawn(move || read(err, &other));
        let stdout = read(out, switch);
        let stderr = reader.join().unwrap_or_else(|_| Err(Failure::Output(io::ErrorKind::Other.into())));
        let status = loop {
            match child.try_wait().map_err(Failure::Output)? {
                Some(status) => break status,
                None => std::thread::sleep(ASK_EVERY),
            }
        };
        switch.id.store(0, Ordering::SeqCst);
        Ok(Ended { status, id: child.id(), stdout: stdout?, stderr: stderr? })
    }

    /// Why it was not started, in Go's words.
    fn explain(&self, error: &io::Error) -> Failure {
        let Program { name, directory, .. } = self;
        if let Some(directory) =
            directory.as_ref().filter(|directory| !std::path::Path::new(directory).is_dir())
        {
            return Failure::Start(format!("chdir {directory}: no such file or directory"));
        }
        Failure::Start(match error.kind() {
            io::ErrorKind::NotFound if name.is_empty() => "exec: no command".to_owned(),
            io::ErrorKind::NotFound if name.contains('/') => {
                format!("fork/exec {name}: no such file or directory")
            }
            io::ErrorKind::NotFound => format!("exec: {name:?}: executable file not found in $PATH"),
            io::ErrorKind::PermissionDenied => format!("fork/exec {name}: permission denied"),
            _ => format!("fork/exec {name}: {error}"),
        })
    }
}

/// The whole of an output. One that is too long ends the program.
fn read(output: PipeReader, switch: &Switch) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = output.take(OUTPUT_BYTES_MAX + 1).read_to_end(&mut bytes);
    if bytes.len() as u64 > OUTPUT_BYTES_MAX {
        switch.turn_off();
        return Err(Failure::TooMuch);
    }
    read.map(|_| bytes).map_err(Failure::Output)
}

#[cfg(test)]
mod tests {
    use model::SystemClock;

    use super::*;

    fn shell(text: &str) -> Program {
        let arguments = vec!["-c".to_owned(), text.to_owned()];
        Program { name: "sh".to_owned(), arguments, ..Program::default() }
    }

    #[test]
    fn outputs_and_ends() {
        let ended = shell("echo out; echo err >&2; exit 3").run().expect("it starts");
        assert_eq!((ended.stdout, ended.stderr), (b"out\n".to_vec(), b"err\n".to_vec()));
        let story = |text| shell(text).run().expect("it starts").story();
        assert_eq!(story("exit 3"), "exit status 3");
        assert_eq!(story("kill -9 $$"), "signal: killed");
    }

    #[test]
    fn endless_output_ends_the_program() {
        let failure = shell("exec cat /dev/zero").run().expect_err("it writes too much");
        assert!(matches!(failure, Failure::TooMuch), "{failure}");
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_dropped_future_ends_the_program_and_its_children() {
        let marker = tempfile::tempdir().expect("a folder");
        let file = marker.path().join("late");
        let text = format!("(sleep 1; touch {}) & sleep 5", file.display());
        let started = SystemClock::now();
        let waited = tokio::time::timeout(Duration::from_millis(200), shell(&text).run_elsewhere()).await;
        assert!(waited.is_err());
        tokio::time::sleep(Duration::from_millis(1200)).await;
        assert!(!file.exists(), "a child lives on");
        assert!(SystemClock::now().since(started) < Duration::from_secs(4));
    }
}
