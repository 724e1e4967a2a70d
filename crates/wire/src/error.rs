//! Errors of an exchange, as values.

use std::fmt;

/// k6's number for a failure (`error_code`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ErrorCode(pub u16);

impl ErrorCode {
    /// Anything without a number of its own.
    pub const OTHER: ErrorCode = ErrorCode(1000);
    /// The URL is not one.
    pub const INVALID_URL: ErrorCode = ErrorCode(1020);
    /// The request's own deadline passed.
    pub const REQUEST_TIMEOUT: ErrorCode = ErrorCode(1050);
    /// A lookup failed.
    pub const DNS: ErrorCode = ErrorCode(1100);
    /// A lookup found no such name.
    pub const NO_SUCH_HOST: ErrorCode = ErrorCode(1101);
    /// The address is on the list of forbidden ones.
    pub const BLACKLISTED_IP: ErrorCode = ErrorCode(1110);
    /// The name is on the list of forbidden ones.
    pub const BLOCKED_HOSTNAME: ErrorCode = ErrorCode(1111);
    /// TCP.
    pub const TCP: ErrorCode = ErrorCode(1200);
    /// Written to a closed connection.
    pub const BROKEN_PIPE: ErrorCode = ErrorCode(1201);
    /// TCP, with an error of the operating system that has no number of its own.
    pub const TCP_UNKNOWN: ErrorCode = ErrorCode(1202);
    /// Connecting failed.
    pub const DIAL: ErrorCode = ErrorCode(1210);
    /// Connecting took the operating system too long.
    pub const DIAL_TIMEOUT: ErrorCode = ErrorCode(1211);
    /// Connection refused: nothing listens.
    pub const DIAL_REFUSED: ErrorCode = ErrorCode(1212);
    /// Connecting failed with an error of the operating system that has no number of its own.
    pub const DIAL_UNKNOWN: ErrorCode = ErrorCode(1213);
    /// The peer reset the connection.
    pub const RESET: ErrorCode = ErrorCode(1220);
    /// TLS.
    pub const TLS: ErrorCode = ErrorCode(1300);
    /// The bytes are not TLS.
    pub const TLS_BAD_RECORD: ErrorCode = ErrorCode(1301);
    /// The certificate's issuer is not trusted.
    pub const UNKNOWN_AUTHORITY: ErrorCode = ErrorCode(1310);
    /// The certificate is for another name.
    pub const HOSTNAME_MISMATCH: ErrorCode = ErrorCode(1311);
    /// HTTP/2, with a failure that has no number of its own.
    pub const HTTP2: ErrorCode = ErrorCode(1600);
    /// The server ended an HTTP/2 connection; 1611 and above name its reason.
    pub const HTTP2_GO_AWAY: ErrorCode = ErrorCode(1610);
    /// An HTTP/2 stream was reset; 1631 and above name the reason.
    pub const HTTP2_STREAM: ErrorCode = ErrorCode(1630);
    /// The bytes broke the rules of HTTP/2; 1651 and above name the rule.
    pub const HTTP2_CONNECTION: ErrorCode = ErrorCode(1650);
    /// The body cannot be decompressed.
    pub const DECOMPRESSION: ErrorCode = ErrorCode(1701);
    /// The body, or what it is decompressed to, is larger than any that is kept. k6 has no such limit, and no number for it.
    pub const BODY_TOO_LARGE: ErrorCode = ErrorCode(1710);
    /// The bodies of all VUs together take more memory than they may. k6 has no such limit, and no number for it.
    pub const BODIES_EXHAUSTED: ErrorCode = ErrorCode(1711);
}

/// Where an exchange was when it failed. The order is the order of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Nothing was tried: the request itself is impossible or forbidden.
    Prepare,
    /// Looking up the name.
    Lookup,
    /// Connecting.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Sending the request.
    Send,
    /// Waiting for the first byte of the response.
    Wait,
    /// Receiving the response.
    Receive,
}

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The request is not one: URL, method or header.
    Invalid,
    /// The options forbid the name or the address.
    Blocked,
    /// The name could not be looked up.
    Lookup,
    /// Nothing listens at the address.
    Refused,
    /// Connecting failed for another reason (unreachable, no permission, …).
    Unconnected,
    /// This machine ran out of descriptors, ports or buffers: the load generator's own fault.
    Exhausted,
    /// TLS could not be agreed on, or the peer is not who it should be.
    Tls,
    /// The request's deadline passed.
    TimedOut,
    /// The peer ended the connection before the response was complete.
    Cut,
    /// The peer gave up the one exchange, or all new ones, and said so (HTTP/2).
    GivenUp,
    /// The bytes are not an HTTP response.
    Malformed,
    /// The response exceeds a limit of ours.
    TooLarge,
    /// The body's coding is broken.
    Coding,
    /// Anything else.
    Other,
}

/// Why an exchange has no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// k6's number.
    pub code: ErrorCode,
    /// The text of `response.error`: k6's words where k6 has words.
    pub message: String,
    /// The whole story with names and addresses, as k6 logs it; empty where `message` is the whole story.
    pub detail: String,
    /// Where it happened.
    pub stage: Stage,
    /// The kind.
    pub kind: Kind,
}

impl Error {
    /// An error whose message says everything.
    pub fn new(code: ErrorCode, stage: Stage, kind: Kind, message: impl Into<String>) -> Error {
        Error { code, message: message.into(), detail: String::new(), stage, kind }
    }

    /// The same error with the whole story.
    pub fn with_detail(mut self, detail: impl Into<String>) -> Error {
        self.detail = detail.into();
        self
    }

    /// The request's deadline passed at `stage`.
    pub fn timed_out(stage: Stage) -> Error {
        Error::new(ErrorCode::REQUEST_TIMEOUT, stage, Kind::TimedOut, "request timeout")
    }

    /// Whether no connection was ready when it failed, so that no request can have reached the server and there is
    /// no duration to count.
    pub fn is_unconnected(&self) -> bool {
        self.stage <= Stage::Tls
    }

    /// The whole story: `detail` where there is one, otherwise `message`.
    pub fn story(&self) -> &str {
        if self.detail.is_empty() { &self.message } else { &self.detail }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.story())
    }
}

impl std::error::Error for Error {}
