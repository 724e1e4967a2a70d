//! Errors of the operating system about sockets, in k6's words.

use std::io;
use std::net::{IpAddr, SocketAddr};

use crate::error::{Error, ErrorCode, Kind, Stage};

/// Numbers of the operating system that the standard library has no names for.
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;
const ENOBUFS: i32 = if cfg!(target_os = "linux") { 105 } else { 55 };

/// Connecting to `remote` failed.
pub(crate) fn dial_error(error: &io::Error, remote: SocketAddr) -> Error {
    let text = text_of(error);
    let (code, kind, message) = match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            (ErrorCode::DIAL_REFUSED, Kind::Refused, "dial: connection refused".to_owned())
        }
        io::ErrorKind::TimedOut => {
            (ErrorCode::DIAL_TIMEOUT, Kind::Unconnected, "dial: i/o timeout".to_owned())
        }
        _ => match advice(error) {
            Some(advice) => (ErrorCode::DIAL_UNKNOWN, Kind::Exhausted, format!("dial: {text}: {advice}")),
            None => (ErrorCode::DIAL_UNKNOWN, Kind::Unconnected, unknown("dial", error, &text)),
        },
    };
    let detail = match advice(error) {
        Some(advice) => format!("dial tcp {remote}: {text}: {advice}"),
        None => format!("dial tcp {remote}: connect: {text}"),
    };
    Error::new(code, Stage::Connect, kind, message).with_detail(detail)
}

/// Binding a connection's own end to `local_ip` failed.
pub(crate) fn bind_error(error: &io::Error, local_ip: IpAddr) -> Error {
    let text = text_of(error);
    let message =
        format!("dial: local address {local_ip} of `--local-ips`: {text}; is it one of this machine's?");
    Error::new(ErrorCode::DIAL_UNKNOWN, Stage::Connect, Kind::Unconnected, message)
}

/// Reading from or writing to a connection (`verb`) failed.
pub(crate) fn stream_error(
    error: &io::Error,
    verb: &str,
    local: Option<SocketAddr>,
    remote: SocketAddr,
) -> Error {
    let text = text_of(error);
    let code = match error.kind() {
        io::ErrorKind::ConnectionReset => ErrorCode::RESET,
        io::ErrorKind::BrokenPipe => ErrorCode::BROKEN_PIPE,
        _ => ErrorCode::TCP_UNKNOWN,
    };
    let message =
        if code == ErrorCode::TCP_UNKNOWN { unknown(verb, error, &text) } else { format!("{verb}: {text}") };
    let local = local.map(|local| format!("{local}->")).unwrap_or_default();
    let detail = format!("{verb} tcp {local}{remote}: {verb}: {text}");
    let stage = if verb == "write" { Stage::Send } else { Stage::Receive };
    Error::new(code, stage, Kind::Cut, message).with_detail(detail)
}

/// The hint where this machine, and not the server, is at its limit.
fn advice(error: &io::Error) -> Option<&'static str> {
    if error.kind() == io::ErrorKind::AddrNotAvailable {
        return Some(
            "no free local port; widen `net.ipv4.ip_local_port_range`, reuse connections or set `--local-ips`",
        );
    }
    match error.raw_os_error()? {
        EMFILE => Some("raise this process's limit with `ulimit -n`"),
        ENFILE => Some("raise this machine's limit `fs.file-max`"),
        ENOBUFS => Some("this machine has no buffer left for another socket"),
        _ => None,
    }
}

fn unknown(verb: &str, error: &io::Error, text: &str) -> String {
    match error.raw_os_error() {
        Some(number) => format!("{verb}: unknown errno {number} error with msg `{text}`"),
        None => format!("{verb}: {text}"),
    }
}

/// The error's text as Go spells it: lowercase and without its number.
fn text_of(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

// The numbers are Linux's.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn dial_errors_are_spelled_as_in_k6() {
        let check = |number, code: ErrorCode, kind, message: &str, detail: &str| {
            let remote = "127.0.0.1:1".parse().unwrap();
            let error = dial_error(&io::Error::from_raw_os_error(number), remote);
            assert_eq!((error.code, error.kind), (code, kind));
            assert!(error.message.contains(message) && error.detail.contains(detail), "{error:?}");
        };
        let (refused, unreachable, unavailable) = (111, 101, 99);
        check(
            refused,
            ErrorCode::DIAL_REFUSED,
            Kind::Refused,
            "dial: connection refused",
            "dial tcp 127.0.0.1:1: connect: connection refused",
        );
        check(
            unreachable,
            ErrorCode::DIAL_UNKNOWN,
            Kind::Unconnected,
            "dial: unknown errno 101 error with msg `network is unreachable`",
            "network is unreachable",
        );
        check(EMFILE, ErrorCode::DIAL_UNKNOWN, Kind::Exhausted, "too many open files", "`ulimit -n`");
        check(unavailable, ErrorCode::DIAL_UNKNOWN, Kind::Exhausted, "ip_local_port_range", "127.0.0.1:1");
    }

    #[test]
    fn stream_errors_are_spelled_as_in_k6() {
        let (local, remote) = ("127.0.0.1:5".parse().unwrap(), "127.0.0.1:1".parse().unwrap());
        let reset = stream_error(&io::ErrorKind::ConnectionReset.into(), "read", Some(local), remote);
        assert_eq!((reset.code, reset.message.as_str()), (ErrorCode::RESET, "read: connection reset"));
        let reset = stream_error(&io::Error::from_raw_os_error(104), "read", Some(local), remote);
        assert_eq!(reset.message, "read: connection reset by peer");
        assert_eq!(reset.detail, "read tcp 127.0.0.1:5->127.0.0.1:1: read: connection reset by peer");
        let pipe = stream_error(&io::Error::from_raw_os_error(32), "write", None, remote);
        assert_eq!((pipe.code, pipe.message.as_str()), (ErrorCode::BROKEN_PIPE, "write: broken pipe"));
        let other = stream_error(&io::Error::from_raw_os_error(110), "read", None, remote);
        assert_eq!(other.code, ErrorCode::TCP_UNKNOWN);
        assert_eq!(other.message, "read: unknown errno 110 error with msg `connection timed out`");
    }
}
