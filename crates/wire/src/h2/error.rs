//! Errors of the `h2` crate, in k6's words and with k6's numbers.

use std::io;
use std::net::SocketAddr;

use ::h2::{Error as Failure, Reason};

use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::fault::cut;
use crate::system::stream_error;
use crate::target::Target;
use crate::tls;

/// The error of an exchange on a connection to `target` at `remote`. The stage is the caller's to correct.
pub(super) fn error_of(failure: &Failure, target: &Target, remote: SocketAddr) -> Error {
    if let Some(error) = failure.get_io() {
        return io_error(error, target, remote);
    }
    let Some(reason) = failure.reason() else {
        return error(ErrorCode::HTTP2, Kind::Other, format!("http2: {failure}"), String::new());
    };
    let name = name_of(reason);
    if failure.is_go_away() && failure.is_remote() {
        let message = format!("http2: received GoAway with http2 ErrCode {name}");
        return error(code(ErrorCode::HTTP2_GO_AWAY, reason), Kind::GivenUp, message, String::new());
    }
    if failure.is_go_away() {
        let message = format!("http2: connection error with http2 ErrCode {name}");
        let detail = format!("connection error: {name}");
        return error(code(ErrorCode::HTTP2_CONNECTION, reason), Kind::Malformed, message, detail);
    }
    let kind = if failure.is_remote() { Kind::GivenUp } else { Kind::Malformed };
    let who = if failure.is_remote() { "received from peer" } else { "found in what the peer sent" };
    let message = format!("http2: stream error with http2 ErrCode {name}");
    error(code(ErrorCode::HTTP2_STREAM, reason), kind, message, format!("stream error: {name}; {who}"))
}

/// Whether the server says that it has not looked at the request, so that sending it again does nothing twice
/// (RFC 9113, 8.7).
pub(super) fn is_unprocessed(failure: &Failure) -> bool {
    let is_farewell = failure.is_go_away() && failure.reason() == Some(Reason::NO_ERROR);
    failure.is_remote()
        && (is_farewell || (failure.is_reset() && failure.reason() == Some(Reason::REFUSED_STREAM)))
}

fn io_error(error: &io::Error, target: &Target, remote: SocketAddr) -> Error {
    if let Some(tls_error) = tls::error_of(error, target.host()) {
        return tls_error;
    }
    // The library's word for an end between two frames is a broken pipe without a number.
    let is_end = error.raw_os_error().is_none()
        && matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof);
    if is_end { *cut("unexpected EOF") } else { stream_error(error, "read", None, remote) }
}

fn error(code: ErrorCode, kind: Kind, message: String, detail: String) -> Error {
    Error::new(code, Stage::Receive, kind, message).with_detail(detail)
}

/// k6 numbers a failure by what failed and by HTTP/2's own number of the reason (RFC 9113, 7).
fn code(base: ErrorCode, reason: Reason) -> ErrorCode {
    const REASON_MAX: u32 = 13;
    let reason = u32::from(reason);
    // A reason that HTTP/2 does not know is no reason.
    if reason > REASON_MAX { base } else { ErrorCode(base.0 + 1 + reason as u16) }
}

fn name_of(reason: Reason) -> String {
    const NAMES: [&str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
    let number = u32::from(reason);
    let name = usize::try_from(number).ok().and_then(|number| NAMES.get(number));
    name.map_or_else(|| format!("unknown error code 0x{number:x}"), |name| (*name).to_owned())
}
