//! Reading the head of a response: what it says about what follows.

use std::mem::MaybeUninit;

use bytes::{Bytes, BytesMut};
use httparse::{Error as ParseError, Header, ParserConfig, Response as Parsed, Status};
use memchr::memchr_iter;

use crate::fault::{Fault, first_line, malformed, too_large};
use crate::headers::{Headers, Noted};
use crate::limits::{HEAD_BYTES_MAX, HEADERS_MAX};
use crate::token::has_item;

/// Headers that are parsed without a second try with a larger buffer.
const HEADERS_USUAL: usize = 64;

/// The head of a response.
pub(crate) struct Head {
    /// Its length.
    pub(crate) bytes: usize,
    pub(crate) status: u16,
    pub(crate) proto: &'static str,
    pub(crate) headers: Headers,
    pub(crate) framing: Framing,
    /// Whether the server is ready for another request on the connection.
    pub(crate) keeps_alive: bool,
}

/// How a body ends (RFC 9112, 6.3).
pub(crate) enum Framing {
    /// There is none.
    None,
    Length(u64),
    Chunked,
    UntilClose,
}

/// The head that `bytes` begin with; `None` while its end is missing.
pub(crate) fn parse_head(bytes: &[u8], is_head_request: bool) -> Result<Option<Head>, Fault> {
    // The parser skips empty lines; a reader of single lines takes one for the end of the head. Go refuses them, too.
    if matches!(bytes.first(), Some(b'\r' | b'\n')) {
        return Err(malformed("malformed HTTP response \"\""));
    }
    let mut room = [const { MaybeUninit::uninit() }; HEADERS_USUAL];
    if let Ok(head) = parse(bytes, is_head_request, Lines::Whole, &mut room) {
        return head;
    }
    let mut room = vec![MaybeUninit::uninit(); HEADERS_MAX];
    parse(bytes, is_head_request, Lines::Continued, &mut room).map_err(|error| fault(bytes, error))?
}

/// Where the head in `bytes` ends, looked for from `from` on.
pub(crate) fn find_head_end(bytes: &[u8], from: usize) -> Option<usize> {
    memchr_iter(b'\n', &bytes[from..]).find_map(|at| {
        let rest = &bytes[from + at + 1..];
        let line_end = if rest.starts_with(b"\r\n") { 2 } else { usize::from(rest.starts_with(b"\n")) };
        (line_end > 0).then_some(from + at + 1 + line_end)
    })
}

/// Whether a header may go on in the next line. Nearly none does, and those that do are found by failing without.
#[derive(Clone, Copy, PartialEq)]
enum Lines {
    Whole,
    Continued,
}

type Parse = Result<Result<Option<Head>, Fault>, ParseError>;

fn parse<'b>(
    bytes: &'b [u8],
    is_head_request: bool,
    lines: Lines,
    room: &mut [MaybeUninit<Header<'b>>],
) -> Parse {
    let mut parsed = Parsed::new(&mut []);
    let mut config = ParserConfig::default();
    config.allow_obsolete_multiline_headers_in_responses(lines == Lines::Continued);
    config.allow_spaces_after_header_name_in_responses(false);
    let status = config.parse_response_with_uninit_headers(&mut parsed, bytes, room)?;
    let Status::Complete(head_bytes) = status else { return Ok(Ok(None)) };
    if head_bytes > HEAD_BYTES_MAX {
        let message = format!("net/http: server response headers exceeded {HEAD_BYTES_MAX} bytes; aborted");
        return Ok(Err(too_large(message)));
    }
    let head = &bytes[..head_bytes];
    let stored = if lines == Lines::Continued { unfolded(head) } else { Bytes::copy_from_slice(head) };
    Ok(read(stored, &parsed, is_head_request).map(Some))
}

fn fault(bytes: &[u8], error: ParseError) -> Fault {
    let line = first_line(bytes);
    match error {
        ParseError::TooManyHeaders => too_large(format!("response has more than {HEADERS_MAX} headers")),
        ParseError::Version if !line.starts_with("HTTP/") => {
            malformed(format!("malformed HTTP response {line:?}"))
        }
        ParseError::Version => malformed(format!("malformed HTTP version in {line:?}")),
        ParseError::Status => malformed(format!("malformed HTTP status code in {line:?}")),
        ParseError::HeaderName | ParseError::HeaderValue => {
            malformed(format!("malformed MIME header in {line:?}"))
        }
        ParseError::NewLine | ParseError::Token => malformed(format!("malformed HTTP response {line:?}")),
    }
}

fn read(head: Bytes, parsed: &Parsed<'_, '_>, is_head_request: bool) -> Result<Head, Fault> {
    let status = parsed.code.unwrap_or_default();
    let is_1_1 = parsed.version == Some(1);
    let mut facts = Facts { keeps_alive: is_1_1, ..Facts::default() };
    for header in parsed.headers.iter() {
        facts.take(header.name, header.value)?;
    }
    let has_no_body = is_head_request || status < 200 || matches!(status, 204 | 304);
    let framing = match facts {
        _ if has_no_body => Framing::None,
        Facts { is_chunked: true, .. } => Framing::Chunked,
        Facts { length: Some(length), .. } => Framing::Length(length),
        _ => Framing::UntilClose,
    };
    Ok(Head {
        bytes: head.len(),
        status,
        proto: if is_1_1 { "HTTP/1.1" } else { "HTTP/1.0" },
        headers: Headers::new(head, facts.noted),
        framing,
        keeps_alive: facts.keeps_alive,
    })
}

/// The framing by the headers, and which of them will be read.
#[derive(Default)]
struct Facts {
    length: Option<u64>,
    is_chunked: bool,
    keeps_alive: bool,
    noted: Noted,
}

impl Facts {
    fn take(&mut self, name: &str, value: &[u8]) -> Result<(), Fault> {
        // The lengths rule out nearly every header without looking at its letters.
        match name.len() {
            10 if name.eq_ignore_ascii_case("connection") => {
                self.keeps_alive =
                    !has_item(value, b"close") && (self.keeps_alive || has_item(value, b"keep-alive"));
            }
            10 => self.noted.sets_cookies |= name.eq_ignore_ascii_case("set-cookie"),
            14 if name.eq_ignore_ascii_case("content-length") => self.take_length(value)?,
            16 => self.noted.is_coded |= name.eq_ignore_ascii_case("content-encoding"),
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                if !value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                    let value = String::from_utf8_lossy(value).into_owned();
                    return Err(malformed(format!("unsupported transfer encoding: {value:?}")));
                }
                self.is_chunked = true;
            }
            _ => {}
        }
        Ok(())
    }

    /// Repeating the same length is harmless, two lengths are an attack or an accident (RFC 9112, 6.3).
    fn take_length(&mut self, value: &[u8]) -> Result<(), Fault> {
        for part in value.split(|byte| *byte == b',') {
            let length = parse_length(part.trim_ascii()).ok_or_else(|| {
                malformed(format!("bad Content-Length {:?}", String::from_utf8_lossy(value)))
            })?;
            if let Some(known) = self.length.filter(|known| *known != length) {
                return Err(malformed(format!(
                    "http: message cannot contain multiple Content-Length headers; got [\"{known}\" \"{length}\"]"
                )));
            }
            self.length = Some(length);
        }
        Ok(())
    }
}

fn parse_length(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    str::from_utf8(digits).ok()?.parse().ok()
}

/// The head with its continuation lines joined to the lines before them (RFC 9112, 5.2), byte for byte.
fn unfolded(head: &[u8]) -> Bytes {
    let mut unfolded = BytesMut::from(head);
    for at in 1..unfolded.len() {
        if unfolded[at - 1] == b'\n' && matches!(unfolded[at], b' ' | b'\t') {
            unfolded[at - 1] = b' ';
            if at > 1 && unfolded[at - 2] == b'\r' {
                unfolded[at - 2] = b' ';
            }
        }
    }
    unfolded.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &str) -> Headers {
        let head = format!("HTTP/1.1 200 OK\r\n{lines}\r\n");
        parse_head(head.as_bytes(), true).expect("a head").expect("a whole head").headers
    }

    #[test]
    fn rare_headers_are_noted_without_regard_to_case() {
        let check = |lines: &str, sets_cookies: bool, is_coded: bool| {
            assert_eq!(headers(lines).noted(), Noted { sets_cookies, is_coded }, "{lines:?}");
        };
        check("", false, false);
        check("Content-Type: x\r\nServer: y\r\n", false, false);
        check("set-COOKIE:a=1\r\n", true, false);
        check("A: b\r\nCONTENT-encoding:\r\n", false, true);
        check(
            "A: Set-Cookie: a\r\nX-Set-Cookie: a\r\nSet-Cookie2: a\r\nContent-Encodings: a\r\n",
            false,
            false,
        );
        check("Content-Encoding: br\nSet-Cookie: a\n", true, true);
    }

    #[test]
    fn continued_lines_are_joined() {
        let check =
            |lines: &str, expect: &[u8]| assert_eq!(headers(lines).get("a"), Some(expect), "{lines:?}");
        check("A: 1\r\n", b"1");
        check("A: 1\r\n 2\r\n", b"1   2");
        check("B: 0\r\nA: 1\n\t2\r\nC: 3\r\n", b"1 \t2");
    }
}
