//! The tests' client: writes bytes, reads bytes, knows as little HTTP as possible.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::Server;

/// No test waits longer for a byte.
const READ_LIMIT: Duration = Duration::from_secs(10);

/// A response as its bytes say it is.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a text body")
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// How a connection ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Closed,
    Reset,
}

pub(crate) struct Client(TcpStream);

impl Client {
    pub(crate) fn new(server: &Server) -> Client {
        let stream = TcpStream::connect(server.address()).expect("connect");
        stream.set_read_timeout(Some(READ_LIMIT)).expect("set a limit");
        Client(stream)
    }

    pub(crate) fn write(&mut self, bytes: &str) {
        self.0.write_all(bytes.as_bytes()).expect("write");
    }

    pub(crate) fn get(&mut self, target: &str) -> Response {
        self.request(&format!("GET {target} HTTP/1.1\r\nhost: test\r\n\r\n"))
    }

    pub(crate) fn request(&mut self, bytes: &str) -> Response {
        self.write(bytes);
        self.response()
    }

    /// Reads one response that is framed by its length (none: no body).
    pub(crate) fn response(&mut self) -> Response {
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte).expect("read a head");
            bytes.push(byte[0]);
        }
        let head = String::from_utf8(bytes).expect("a text head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let mut response = Response { status, head, body: Vec::new() };
        let body_bytes =
            response.header("content-length").map_or(0, |length| length.parse().expect("a length"));
        response.body = vec![0; body_bytes];
        self.0.read_exact(&mut response.body).expect("read a body");
        response
    }

    /// Everything until the connection ends, and how it ended.
    pub(crate) fn rest(&mut self) -> (Vec<u8>, Ending) {
        let mut bytes = Vec::new();
        match self.0.read_to_end(&mut bytes) {
            Ok(_) => (bytes, Ending::Closed),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => (bytes, Ending::Reset),
            Err(error) => panic!("read until the end: {error}"),
        }
    }

    /// Whether nothing comes for this long.
    pub(crate) fn is_silent_for(&mut self, time: Duration) -> bool {
        self.0.set_read_timeout(Some(time)).expect("set a limit");
        let read = self.0.read(&mut [0]);
        matches!(read, Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
    }

    /// Ends the connection with RST.
    pub(crate) fn reset(self) {
        socket2::SockRef::from(&self.0).set_linger(Some(Duration::ZERO)).expect("set linger");
    }
}

/// One GET on a connection of its own.
pub(crate) fn get(server: &Server, target: &str) -> Response {
    Client::new(server).get(target)
}
