//! How a call ends.

use crate::limits::STATUS_MESSAGE_BYTES_MAX;
use crate::metadata::decode_binary;
use crate::well_known::anys_in;

/// The number of a status (`grpc-status`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Code(pub u32);

impl Code {
    /// Not an error.
    pub const OK: Code = Code(0);
    /// The caller gave it up.
    pub const CANCELLED: Code = Code(1);
    /// An error without a better number.
    pub const UNKNOWN: Code = Code(2);
    /// The deadline passed.
    pub const DEADLINE_EXCEEDED: Code = Code(4);
    /// Not allowed.
    pub const PERMISSION_DENIED: Code = Code(7);
    /// Too much, too many, too large.
    pub const RESOURCE_EXHAUSTED: Code = Code(8);
    /// There is no such method.
    pub const UNIMPLEMENTED: Code = Code(12);
    /// A rule of the protocol was broken.
    pub const INTERNAL: Code = Code(13);
    /// The server cannot be reached now.
    pub const UNAVAILABLE: Code = Code(14);
    /// Nobody is signed in.
    pub const UNAUTHENTICATED: Code = Code(16);

    /// The names and numbers of all, as JavaScript has them.
    pub const ALL: [(&'static str, u32); 17] = [
        ("StatusOK", 0),
        ("StatusCanceled", 1),
        ("StatusUnknown", 2),
        ("StatusInvalidArgument", 3),
        ("StatusDeadlineExceeded", 4),
        ("StatusNotFound", 5),
        ("StatusAlreadyExists", 6),
        ("StatusPermissionDenied", 7),
        ("StatusResourceExhausted", 8),
        ("StatusFailedPrecondition", 9),
        ("StatusAborted", 10),
        ("StatusOutOfRange", 11),
        ("StatusUnimplemented", 12),
        ("StatusInternal", 13),
        ("StatusUnavailable", 14),
        ("StatusDataLoss", 15),
        ("StatusUnauthenticated", 16),
    ];

    /// The status that an HTTP status stands for ("HTTP to gRPC Status Code Mapping").
    pub fn of_http(status: u16) -> Code {
        match status {
            400 => Code::INTERNAL,
            401 => Code::UNAUTHENTICATED,
            403 => Code::PERMISSION_DENIED,
            404 => Code::UNIMPLEMENTED,
            429 | 502..=504 => Code::UNAVAILABLE,
            _ => Code::UNKNOWN,
        }
    }

    /// The status that HTTP/2's reason for ending a stream stands for (gRPC over HTTP/2, "Errors").
    pub fn of_reset(reason: u32) -> Code {
        match reason {
            7 => Code::UNAVAILABLE,
            8 => Code::CANCELLED,
            11 => Code::RESOURCE_EXHAUSTED,
            12 => Code::PERMISSION_DENIED,
            _ => Code::INTERNAL,
        }
    }

    /// Its name, as messages of errors write it.
    pub fn name(self) -> String {
        let known = Code::ALL.iter().find(|(_, number)| *number == self.0);
        known.map_or_else(|| format!("Code({})", self.0), |(name, _)| name["Status".len()..].to_owned())
    }
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Its number.
    pub code: Code,
    /// Its text; empty for none.
    pub message: String,
    /// What the server said in detail, as serialized `google.protobuf.Any`s.
    pub details: Vec<Vec<u8>>,
}

/// The fields of a response that say how it ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct StatusFields<'a> {
    /// `grpc-status`
    pub status: Option<&'a [u8]>,
    /// `grpc-message`
    pub message: Option<&'a [u8]>,
    /// `grpc-status-details-bin`
    pub details: Option<&'a [u8]>,
}

impl Status {
    /// A status without details.
    pub fn new(code: Code, message: impl Into<String>) -> Status {
        Status { code, message: message.into(), details: Vec::new() }
    }

    /// The status that trailers carry; `None` where they carry none.
    pub fn read(fields: StatusFields<'_>) -> Option<Status> {
        let text = std::str::from_utf8(fields.status?).ok();
        let number = text.and_then(|text| text.trim().parse().ok());
        let Some(number) = number else {
            let shown = String::from_utf8_lossy(fields.status?).into_owned();
            return Some(Status::new(Code::INTERNAL, format!("malformed grpc-status: {shown:?}")));
        };
        let details = fields.details.and_then(|text| decode_binary("grpc-status-details-bin", text));
        let details = details.unwrap_or_default();
        Some(Status {
            code: Code(number),
            message: fields.message.map(percent_decoded).unwrap_or_default(),
            details: anys_in(&details, 3).into_iter().map(<[u8]>::to_vec).collect(),
        })
    }

    /// The status of a response that is not gRPC's.
    pub fn of_http(status: u16, phrase: &str, content_type: Option<&[u8]>) -> Status {
        let content_type = match content_type {
            Some(content_type) => {
                format!("received unexpected content-type {:?}", String::from_utf8_lossy(content_type))
            }
            None => "missing HTTP content-type".to_owned(),
        };
        if status == 200 {
            return Status::new(Code::UNKNOWN, format!("malformed header: {content_type}"));
        }
        let text = format!(
            "unexpected HTTP status code received from server: {status} ({phrase}); transport: {content_type}"
        );
        Status::new(Code::of_http(status), text)
    }
}

/// Whether a content type is gRPC's: `application/grpc`, perhaps with `+proto` or parameters.
pub fn is_grpc_content_type(content_type: &[u8]) -> bool {
    let rest = content_type.to_ascii_lowercase();
    let Some(rest) = rest.strip_prefix(b"application/grpc") else { return false };
    matches!(rest.first(), None | Some(b'+' | b';'))
}

/// `grpc-message` is percent-encoded; what is no encoding stays as it is.
fn percent_decoded(text: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(text.len().min(STATUS_MESSAGE_BYTES_MAX));
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        if bytes.len() >= STATUS_MESSAGE_BYTES_MAX {
            break;
        }
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) if byte == b'%' => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            _ => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailers_become_a_status() {
        let check =
            |status: Option<&'static str>, message: Option<&'static str>, expect: Option<(u32, &str)>| {
                let fields = StatusFields {
                    status: status.map(str::as_bytes),
                    message: message.map(str::as_bytes),
                    details: None,
                };
                let expect = expect.map(|(code, message)| Status::new(Code(code), message));
                assert_eq!(Status::read(fields), expect, "{status:?} {message:?}");
            };
        check(Some("0"), None, Some((0, "")));
        check(Some("5"), Some("no%20such%FF"), Some((5, "no such\u{fffd}")));
        check(Some("5"), Some("%EC%97%86%EC%9D%8C"), Some((5, "없음")));
        check(Some("3"), Some("100%"), Some((3, "100%")));
        check(Some("3"), Some("%4"), Some((3, "%4")));
        check(Some("3"), Some("%+1"), Some((3, "%+1")));
        check(Some("99"), None, Some((99, "")));
        check(Some("x"), None, Some((13, "malformed grpc-status: \"x\"")));
        check(None, Some("text"), None);
    }

    #[test]
    fn details_are_messages() {
        // google.rpc.Status { code: 3, message: "m", details: [Any { type_url: "t" }] }
        let bytes = [8, 3, 18, 1, b'm', 26, 3, 10, 1, b't'];
        let text = crate::encode_binary(&bytes);
        let fields = StatusFields { status: Some(b"3"), message: None, details: Some(text.as_bytes()) };
        assert_eq!(Status::read(fields).unwrap().details, [vec![10, 1, b't']]);
        let broken = StatusFields { details: Some(b"////"), ..fields };
        assert!(Status::read(broken).unwrap().details.is_empty());
    }

    #[test]
    fn content_types() {
        let check = |text: &str, expect| assert_eq!(is_grpc_content_type(text.as_bytes()), expect, "{text}");
        check("application/grpc", true);
        check("application/grpc+proto", true);
        check("Application/gRPC;charset=x", true);
        check("application/grpc-web", false);
        check("text/html", false);
    }

    #[test]
    fn long_messages_are_cut() {
        let text = vec![b'x'; STATUS_MESSAGE_BYTES_MAX + 10];
        assert_eq!(percent_decoded(&text).len(), STATUS_MESSAGE_BYTES_MAX);
    }
}
