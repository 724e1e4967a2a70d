//! The target of a calibration: a minimal server in a separate process, so that its CPU time is not counted with the generator's.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use runs::{Exit, Failure};

use session::child_run::fail;

/// Maximum number of connections; further ones are closed. Each has a thread.
const CONNECTIONS_MAX: usize = 1_024;

/// Stack size of a connection's thread, bytes: it holds only a buffer.
const STACK_BYTES: usize = 128 << 10;

/// The response to every request.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok";

/// The end of a request without a body.
const REQUEST_END: &[u8] = b"\r\n\r\n";

/// A server in a child process, which ends when this is dropped.
pub(super) struct Target {
    child: Child,
    /// The server's URL.
    pub(super) url: String,
}

impl Target {
    /// Starts the server and reads its address.
    ///
    /// # Errors
    /// The server does not start.
    pub(super) fn start() -> Result<Target, Failure> {
        let failed = |error: std::io::Error| fail(format!("start the server to measure against: {error}"));
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.args(["calibrate", "--serve"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            // It writes only one line.
            BufReader::new(out.take(64)).read_line(&mut line).map_err(failed)?;
        }
        let target = Target { child, url: format!("http://127.0.0.1:{}/", line.trim()) };
        match line.trim().parse::<u16>() {
            Ok(_) => Ok(target),
            Err(_) => {
                Err(fail("start the server to measure against: it does not say where it is".to_owned()))
            }
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // It ends by itself when its standard input closes; one that hangs is killed.
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves until standard input closes; prints the port first.
///
/// # Errors
/// No port can be opened.
pub(super) fn serve() -> Result<Exit, Failure> {
    let failed = |error: std::io::Error| fail(format!("listen on loopback: {error}"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    std::thread::Builder::new().spawn(move || accept(&listener)).map_err(failed)?;
    session::terminal::print(&format!("{port}\n"));
    // The parent process keeps the other end open as long as it needs the server.
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    Ok(Exit::Ok)
}

fn accept(listener: &TcpListener) {
    let served = std::sync::Arc::new(());
    for stream in listener.incoming().map_while(Result::ok) {
        // Each thread holds one reference.
        if std::sync::Arc::strong_count(&served) > CONNECTIONS_MAX {
            continue;
        }
        let held = served.clone();
        let answering = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            // A broken connection is over.
            let _ = answer(stream);
            drop(held);
        });
        if answering.is_err() {
            return;
        }
    }
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = [0; 16 << 10];
    // How much of the end of a request has arrived.
    let mut matched = 0;
    loop {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        let requests = ends(&buffer[..count], &mut matched);
        for _ in 0..requests {
            stream.write_all(ANSWER)?;
        }
    }
}

/// Returns how many requests end in these bytes. `matched` is the number of matched bytes of the end so far.
fn ends(bytes: &[u8], matched: &mut usize) -> usize {
    let mut ends = 0;
    for byte in bytes {
        *matched = match *byte == REQUEST_END[*matched] {
            true => *matched + 1,
            // After a mismatch only the first byte of the end can start a new match.
            false => usize::from(*byte == REQUEST_END[0]),
        };
        if *matched == REQUEST_END.len() {
            *matched = 0;
            ends += 1;
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_their_ends() {
        let text = b"GET / HTTP/1.1\r\na: b\r\n\r\nGET / HTTP/1.1\r\r\n\r\nGET";
        for cut in 0..text.len() {
            let mut matched = 0;
            let found = ends(&text[..cut], &mut matched) + ends(&text[cut..], &mut matched);
            assert_eq!(found, 2, "cut at {cut}");
        }
    }

    #[test]
    fn requests_are_answered_and_connections_end() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
        let address = listener.local_addr().expect("it listens");
        // The thread ends with the process: it waits for further connections.
        std::thread::spawn(move || accept(&listener));
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\n\r\n").expect("it reads");
        stream.shutdown(std::net::Shutdown::Write).expect("it is open");
        let mut answers = Vec::new();
        stream.read_to_end(&mut answers).expect("it answers and closes");
        assert_eq!(answers, [ANSWER, ANSWER].concat());
    }
}
