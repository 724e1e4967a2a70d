//! Questions to a name server (RFC 1035), for scripts that measure one. Requests ask the operating system instead.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use model::SystemClock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

use crate::client::Client;
use crate::error::Error;

/// How long a server may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Bytes of a datagram that servers send to those who ask for no more.
const DATAGRAM_BYTES: usize = 4096;

/// Bytes of a name as it is sent (RFC 1035, 2.3.4).
const NAME_BYTES_MAX: usize = 255;

/// Bytes of a part of a name.
const LABEL_BYTES_MAX: usize = 63;

/// Class of the Internet.
const CLASS_IN: u16 = 1;

/// A type of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordType {
    /// IPv4 addresses.
    A,
    /// IPv6 addresses.
    Aaaa,
    /// Texts.
    Txt,
}

impl RecordType {
    fn number(self) -> u16 {
        match self {
            RecordType::A => 1,
            RecordType::Txt => 16,
            RecordType::Aaaa => 28,
        }
    }
}

/// Why a question has no records as its answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The server may not be asked.
    #[error("{}", .0.story())]
    Forbidden(Error),
    /// The name cannot be asked for.
    #[error("invalid name {0:?}: expected labels of 1 to 63 bytes with dots between them, at most 255 bytes")]
    Name(String),
    /// The server does not answer in time.
    #[error("querying the DNS nameserver failed: no answer from {server} within {} s (i/o timeout)", ANSWER_TIMEOUT.as_secs())]
    Timeout {
        /// The server.
        server: SocketAddr,
    },
    /// The network does not reach the server.
    #[error("querying the DNS nameserver failed: {server}: {error}")]
    Io {
        /// The server.
        server: SocketAddr,
        /// The system's words.
        error: io::Error,
    },
    /// The data that came are no answer.
    #[error("querying the DNS nameserver failed: {server} sent a malformed answer")]
    Malformed {
        /// The server.
        server: SocketAddr,
    },
    /// The server's refusal, by its code (RFC 6895, 2.3).
    #[error("DNS query failed")]
    Refused(u8),
}

impl Client {
    /// Asks a server for the records of a name: addresses, or texts.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub async fn query(
        &self,
        server: SocketAddr,
        name: &str,
        kind: RecordType,
    ) -> Result<Vec<String>, QueryError> {
        let rules = &self.shared().rules;
        let ip = server.ip();
        rules.check_allowed(&ip.to_string(), Some(ip)).map_err(QueryError::Forbidden)?;
        rules.check_address(ip).map_err(QueryError::Forbidden)?;
        let id = id();
        let question = question(id, name, kind).ok_or_else(|| QueryError::Name(name.to_owned()))?;
        let asked = tokio::time::timeout(ANSWER_TIMEOUT, ask(server, id, &question));
        let answer = asked.await.map_err(|_| QueryError::Timeout { server })?;
        let answer = answer.map_err(|error| QueryError::Io { server, error })?;
        let answer = read(&answer, kind).ok_or(QueryError::Malformed { server })?;
        match answer.code {
            0 => Ok(answer.records),
            code => Err(QueryError::Refused(code)),
        }
    }

    /// All addresses of a name, as the operating system knows them now.
    ///
    /// # Errors
    /// The name is blocked or unknown.
    pub async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, Error> {
        let rules = &self.shared().rules;
        let known_ip = host.parse().ok();
        rules.check_name(host)?;
        rules.check_allowed(host, known_ip)?;
        match known_ip {
            Some(ip) => Ok(vec![ip]),
            None => self.shared().resolver.all(host).await,
        }
    }
}

/// Numbers cannot be guessed on the way, because they come from a mixed clock.
fn id() -> u16 {
    let now_ns = SystemClock::now().as_ns();
    (now_ns.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u16
}

/// Asks with a datagram, and again with a connection where the answer is longer.
async fn ask(server: SocketAddr, id: u16, question: &[u8]) -> io::Result<Vec<u8>> {
    let local = if server.is_ipv4() {
        SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))
    } else {
        SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))
    };
    let socket = UdpSocket::bind(local).await?;
    socket.connect(server).await?;
    socket.send(question).await?;
    let mut buffer = vec![0; DATAGRAM_BYTES];
    loop {
        let length = socket.recv(&mut buffer).await?;
        let answer = &buffer[..length];
        // What answers another question is not for this one.
        if !answers(answer, id) {
            continue;
        }
        let is_truncated = answer[2] & 2 != 0;
        return if is_truncated { ask_by_connection(server, question).await } else { Ok(answer.to_vec()) };
    }
}

async fn ask_by_connection(server: SocketAddr, question: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(question.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes()[..], question].concat()).await?;
    let length = stream.read_u16().await?;
    let mut answer = vec![0; length.into()];
    stream.read_exact(&mut answer).await?;
    Ok(answer)
}

/// Whether it is an answer to question `id`.
fn answers(answer: &[u8], id: u16) -> bool {
    answer.len() >= 12 && answer[..2] == id.to_be_bytes() && answer[2] & 0x80 != 0
}

/// One question; `None` where the name cannot be asked for.
fn question(id: u16, name: &str, kind: RecordType) -> Option<Vec<u8>> {
    // Recursion is desired, one question.
    let mut out = id.to_be_bytes().to_vec();
    out.extend_from_slice(&[1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.len() + 2 > NAME_BYTES_MAX {
        return None;
    }
    for label in name.split('.').filter(|_| !name.is_empty()) {
        let length =
            u8::try_from(label.len()).ok().filter(|_| (1..=LABEL_BYTES_MAX).contains(&label.len()))?;
        out.push(length);
        out.extend_from_slice(label.as_bytes());
    }
    out.push(0);
    out.extend_from_slice(&kind.number().to_be_bytes());
    out.extend_from_slice(&CLASS_IN.to_be_bytes());
    Some(out)
}

struct Answer {
    code: u8,
    records: Vec<String>,
}

/// The records of the type that was asked for; aliases on the way to them are left out.
fn read(message: &[u8], kind: RecordType) -> Option<Answer> {
    let code = message.get(3)? & 0x0f;
    let count = |at: usize| Some(u16::from_be_bytes([*message.get(at)?, *message.get(at + 1)?]));
    let (questions, answers) = (count(4)?, count(6)?);
    let mut at = 12;
    for _ in 0..questions {
        at = after_name(message, at)? + 4;
    }
    let mut records = Vec::new();
    for _ in 0..answers {
        at = after_name(message, at)?;
        let (record, length) = (count(at)?, usize::from(count(at + 8)?));
        let data = message.get(at + 10..at + 10 + length)?;
        if record == kind.number() {
            records.push(shown(kind, data)?);
        }
        at += 10 + length;
    }
    Some(Answer { code, records })
}

/// The place behind a name, which may end with a pointer to a part of another.
fn after_name(message: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *message.get(at)? {
            0 => return Some(at + 1),
            pointer if pointer & 0xc0 == 0xc0 => return Some(at + 2),
            length => at += 1 + usize::from(length),
        }
    }
}

fn shown(kind: RecordType, data: &[u8]) -> Option<String> {
    Some(match kind {
        RecordType::A => Ipv4Addr::from(<[u8; 4]>::try_from(data).ok()?).to_string(),
        RecordType::Aaaa => Ipv6Addr::from(<[u8; 16]>::try_from(data).ok()?).to_string(),
        RecordType::Txt => {
            let mut bytes = Vec::new();
            let mut rest = data;
            while let Some((length, after)) = rest.split_first() {
                let (part, after) = after.split_at_checked((*length).into())?;
                bytes.extend_from_slice(part);
                rest = after;
            }
            String::from_utf8_lossy(&bytes).into_owned()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer with these records: type and data.
    fn answer(code: u8, records: &[(u16, &[u8])]) -> Vec<u8> {
        let mut out = vec![0, 7, 0x81, 0x80 | code, 0, 1, 0, records.len() as u8, 0, 0, 0, 0];
        out.extend_from_slice(b"\x01a\x04test\0\0\x01\0\x01");
        for (kind, data) in records {
            out.extend_from_slice(&[0xc0, 12]);
            out.extend_from_slice(&kind.to_be_bytes());
            out.extend_from_slice(&[0, 1, 0, 0, 0, 60]);
            out.extend_from_slice(&(data.len() as u16).to_be_bytes());
            out.extend_from_slice(data);
        }
        out
    }

    #[track_caller]
    fn check(message: &[u8], kind: RecordType, expect: Option<(u8, &[&str])>) {
        let read = read(message, kind);
        let read =
            read.as_ref().map(|answer| (answer.code, answer.records.iter().map(String::as_str).collect()));
        assert_eq!(read, expect.map(|(code, records)| (code, records.to_vec())));
    }

    #[test]
    fn answers_are_read() {
        let alias = (5, &b"\x01b\xc0\x0e"[..]);
        let addresses = answer(0, &[alias, (1, &[10, 0, 0, 1]), (1, &[10, 0, 0, 2])]);
        check(&addresses, RecordType::A, Some((0, &["10.0.0.1", "10.0.0.2"])));
        check(&addresses, RecordType::Aaaa, Some((0, &[])));
        check(&answer(3, &[]), RecordType::A, Some((3, &[])));
        check(&answer(0, &[(16, b"\x02ab\x01c")]), RecordType::Txt, Some((0, &["abc"])));
        let six = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        check(&answer(0, &[(28, &six)]), RecordType::Aaaa, Some((0, &["fd00::1"])));
    }

    #[test]
    fn malformed_answers_are_none() {
        let whole = answer(0, &[(1, &[10, 0, 0, 1])]);
        for length in 0..whole.len() {
            assert!(read(&whole[..length], RecordType::A).is_none(), "{length} bytes");
        }
        check(&answer(0, &[(1, &[10, 0, 0])]), RecordType::A, None);
        check(&answer(0, &[(16, b"\x09ab")]), RecordType::Txt, None);
        assert!(!answers(&whole, 8) && answers(&whole, 7));
    }

    #[test]
    fn questions() {
        let bytes = question(7, "a.test.", RecordType::Aaaa).expect("a name");
        assert_eq!(bytes, b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x01a\x04test\0\0\x1c\0\x01");
        assert!(question(7, "", RecordType::A).is_some());
        for bad in ["a..test", ".a", &"a".repeat(64), &"a.".repeat(128)] {
            assert!(question(7, bad, RecordType::A).is_none(), "{bad}");
        }
    }
}
