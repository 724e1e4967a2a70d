//! Reason phrases of statuses.

use std::borrow::Cow;

use crate::response::Response;

/// The name of `status` in the registry of HTTP status codes, as Go spells it (`http.StatusText`); empty where it
/// has none.
pub fn status_text(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        102 => "Processing",
        103 => "Early Hints",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        207 => "Multi-Status",
        208 => "Already Reported",
        226 => "IM Used",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        305 => "Use Proxy",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Request Entity Too Large",
        414 => "Request URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Requested Range Not Satisfiable",
        417 => "Expectation Failed",
        418 => "I'm a teapot",
        421 => "Misdirected Request",
        422 => "Unprocessable Entity",
        423 => "Locked",
        424 => "Failed Dependency",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        506 => "Variant Also Negotiates",
        507 => "Insufficient Storage",
        508 => "Loop Detected",
        510 => "Not Extended",
        511 => "Network Authentication Required",
        _ => "",
    }
}

impl Response {
    /// k6's `status_text`: what the status line says behind the protocol, such as `200 OK`. The words are the
    /// server's own and perhaps missing; bytes that are no UTF-8 are replaced.
    pub fn status_line_text(&self) -> Cow<'_, str> {
        let head = self.headers.as_bytes();
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = line.iter().position(|byte| *byte == b' ').map_or(&b""[..], |space| &line[space + 1..]);
        String::from_utf8_lossy(text)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::headers::Headers;

    #[test]
    fn statuses_have_names() {
        let check = |status, expect| assert_eq!(status_text(status), expect);
        check(200, "OK");
        check(404, "Not Found");
        check(413, "Request Entity Too Large");
        check(306, "");
        check(299, "");
        check(0, "");
    }

    #[test]
    fn status_lines_are_the_servers_own() {
        let check = |head: &'static str, expect: &str| {
            let headers = Headers::new(Bytes::from_static(head.as_bytes()), Default::default());
            let response =
                Response { status: 200, proto: "HTTP/1.1", headers, body: Bytes::new(), body_bytes: 0 };
            assert_eq!(response.status_line_text(), expect, "{head:?}");
        };
        // As k6 v2.2 shows them.
        check("HTTP/1.1 200 OK\r\n\r\n", "200 OK");
        check("HTTP/1.1 200\r\n\r\n", "200");
        check("HTTP/1.1 200 \r\n\r\n", "200 ");
        check("HTTP/1.1 200  two  spaces \r\n\r\n", "200  two  spaces ");
        check("HTTP/1.1 700 Odd\n\n", "700 Odd");
    }
}
