//! Moves messages between the client and the protocol, and runs calls beside each other.

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use crate::program::Program;
use crate::protocol::{Call, MESSAGE_BYTES_MAX, Output, Protocol, progress};
use crate::tools::{self, Work};

/// Time between two notifications about a call in progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

/// Why the server ended, besides the end of its input.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client cannot be read from.
    #[error("read from the client: {0}")]
    Read(std::io::Error),
    /// The client cannot be written to.
    #[error("write to the client: {0}")]
    Write(std::io::Error),
}

/// State that calls share.
struct Shared<W> {
    program: Program,
    protocol: Mutex<Protocol>,
    output: Mutex<W>,
    running: Mutex<()>,
    /// Calls in progress, by identity.
    calls: Mutex<Vec<(Value, Arc<AtomicBool>)>>,
}

/// Serves one client until it closes its side. Calls in progress are cancelled then: a run ends gracefully and is stored.
///
/// # Errors
/// The client cannot be read from or written to.
pub fn serve(program: Program, input: impl Read, output: impl Write + Send) -> Result<(), ServeError> {
    let protocol = Mutex::new(Protocol::new(&program.version, tools::list()));
    let (output, running, calls) = (Mutex::new(output), Mutex::default(), Mutex::default());
    let shared = Shared { program, protocol, output, running, calls };
    std::thread::scope(|scope| {
        let mut input = BufReader::new(input);
        let served = loop {
            let line = match next_line(&mut input) {
                Ok(Some(line)) => line,
                Ok(None) => break Ok(()),
                Err(error) => break Err(ServeError::Read(error)),
            };
            let output = held(&shared.protocol).receive(&line);
            let sent = match output {
                Some(Output::Reply(reply)) => shared.send(&reply),
                Some(Output::Call(call)) => {
                    let cancelled = shared.begin(&call);
                    let shared = &shared;
                    scope.spawn(move || shared.work(&call, &cancelled));
                    Ok(())
                }
                Some(Output::Cancel(id)) => {
                    shared.cancel(|one| *one == id);
                    Ok(())
                }
                None => Ok(()),
            };
            if let Err(error) = sent {
                break Err(error);
            }
        };
        shared.cancel(|_| true);
        served
    })
}

impl<W: Write> Shared<W> {
    fn begin(&self, call: &Call) -> Arc<AtomicBool> {
        let cancelled = Arc::<AtomicBool>::default();
        held(&self.calls).push((call.id.clone(), cancelled.clone()));
        cancelled
    }

    fn cancel(&self, is_meant: impl Fn(&Value) -> bool) {
        let calls = held(&self.calls);
        calls
            .iter()
            .filter(|(id, _)| is_meant(id))
            .for_each(|(_, cancelled)| cancelled.store(true, Ordering::Relaxed));
    }

    /// Calls a tool and sends its result.
    fn work(&self, call: &Call, cancelled: &AtomicBool) {
        let shown_s = AtomicU64::new(0);
        let look = |elapsed: Duration| {
            let Some(token) = &call.progress else { return };
            let now_s = elapsed.as_secs() / PROGRESS_EVERY.as_secs() * PROGRESS_EVERY.as_secs();
            if shown_s.swap(now_s, Ordering::Relaxed) != now_s {
                let message = format!("{} runs for {now_s} s", call.tool);
                // A client that is gone is noticed by the reader.
                let _ = self.send(&progress(token, now_s, &message));
            }
        };
        let work = Work { program: &self.program, running: &self.running, cancelled, look: &look };
        let outcome = tools::call(&call.tool, &call.arguments, &work);
        held(&self.calls).retain(|(id, _)| *id != call.id);
        let reply = held(&self.protocol).done(&call.id, &outcome, cancelled.load(Ordering::Relaxed));
        if let Some(reply) = reply {
            // A client that is gone is noticed by the reader.
            let _ = self.send(&reply);
        }
    }

    fn send(&self, message: &Value) -> Result<(), ServeError> {
        let mut output = held(&self.output);
        let written = writeln!(output, "{message}").and_then(|()| output.flush());
        written.map_err(ServeError::Write)
    }
}

/// A lock; what a panic left is a whole message or an entry of a list.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next line that is not blank; `None` at the end. Of a line that is too long, the beginning that shows it.
fn next_line(input: &mut impl BufRead) -> std::io::Result<Option<Vec<u8>>> {
    loop {
        let mut line = Vec::new();
        let limit = MESSAGE_BYTES_MAX as u64 + 1;
        if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') && line.len() as u64 == limit {
            skip_line(input)?;
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(line));
        }
    }
}

/// Reads to the end of a line, and keeps nothing.
fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let bytes = input.fill_buf()?;
        let (length, is_over) = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (bytes.len(), bytes.is_empty()),
        };
        input.consume(length);
        if is_over {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(lines: &str) -> Vec<Value> {
        let program = Program {
            path: "/bin/false".into(),
            version: "1".into(),
            words: Vec::new(),
            limits: Vec::new(),
            duration_max: Duration::ZERO,
            rate_max: 1,
            folder: "/".into(),
            variables: Vec::new(),
            has_console: false,
        };
        let mut output = Vec::new();
        serve(program, lines.as_bytes(), &mut output).expect("a client that can be read");
        let text = String::from_utf8(output).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn lines_are_answered_in_turn() {
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
        let long = "y".repeat(MESSAGE_BYTES_MAX + 9);
        let replies =
            served(&format!("\n{hello}\n{long}\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}}"));
        assert_eq!(replies.len(), 3, "{replies:?}");
        assert_eq!((&replies[0]["id"], &replies[2]["id"]), (&Value::from(1), &Value::from(2)));
        assert!(replies[1]["error"]["message"].as_str().unwrap().contains("longer than"));
    }

    #[test]
    fn a_program_that_fails_is_the_tools_error() {
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
        let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_runs"}}"#;
        let replies = served(&format!("{hello}\n{call}\n"));
        // The end of the input cancels the call, unless it was quicker.
        let result = replies.get(1).map(|reply| &reply["result"]);
        assert!(result.is_none_or(|result| result["isError"] == true), "{replies:?}");
    }
}
