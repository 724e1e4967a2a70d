//! One request as it was read: its head kept as bytes and reused from request to request.

use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::ops::Range;

use model::Instant;

/// Headers a request may carry; more is malformed.
const MAX_HEADERS: usize = 128;

/// A request that was read to its last byte.
#[derive(Debug, Default)]
pub struct Request {
    head: Vec<u8>,
    method: Range<usize>,
    target: Range<usize>,
    headers: Vec<(Range<usize>, Range<usize>)>,
    minor_version: u8,
    /// The body's first bytes, up to the connection's storage limit.
    pub body: Vec<u8>,
    /// Bytes of the whole body, stored or not.
    pub body_bytes: u64,
    /// When the last byte was read.
    pub read_at: Instant,
    /// Whether it came over TLS.
    pub tls: bool,
}

/// Where a head ends, or why it is none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// The bytes end before the head does.
    Partial,
    /// Bytes the head takes, the empty line included.
    Complete(usize),
    /// No HTTP/1 request begins like this.
    Malformed,
}

/// How the bytes after a head are framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// This many bytes follow.
    Length(u64),
    /// Chunks follow.
    Chunked,
    /// `Content-Length` is no number.
    Malformed,
}

impl Request {
    /// Reads a head from the start of `input` into this request, whose body is emptied.
    pub(crate) fn parse_head(&mut self, input: &[u8]) -> Head {
        let mut storage = [const { MaybeUninit::uninit() }; MAX_HEADERS];
        let mut parsed = httparse::Request::new(&mut []);
        let head_bytes = match parsed.parse_with_uninit_headers(input, &mut storage) {
            Ok(httparse::Status::Complete(head_bytes)) => head_bytes,
            Ok(httparse::Status::Partial) => return Head::Partial,
            Err(_) => return Head::Malformed,
        };
        let (Some(method), Some(target), Some(minor_version)) = (parsed.method, parsed.path, parsed.version)
        else {
            return Head::Malformed;
        };
        let place = |part: &[u8]| {
            let start = part.as_ptr() as usize - input.as_ptr() as usize;
            start..start + part.len()
        };
        self.method = place(method.as_bytes());
        self.target = place(target.as_bytes());
        self.minor_version = minor_version;
        self.headers.clear();
        // httparse gives an empty value a place of its own, outside the input.
        self.headers.extend(parsed.headers.iter().map(|header| {
            let value = if header.value.is_empty() { 0..0 } else { place(header.value) };
            (place(header.name.as_bytes()), value)
        }));
        self.head.clear();
        self.head.extend_from_slice(&input[..head_bytes]);
        self.body.clear();
        self.body_bytes = 0;
        Head::Complete(head_bytes)
    }

    /// The method as it was sent.
    pub fn method(&self) -> &str {
        self.text(&self.method)
    }

    /// The target's path, still percent-encoded; of an absolute target only its path.
    pub fn path(&self) -> &str {
        self.split_target().0
    }

    /// The query after the first `?` of the target; empty when there is none.
    pub fn query(&self) -> &str {
        self.split_target().1
    }

    /// Every name and value of the query, decoded.
    pub fn query_pairs(&self) -> Vec<(String, String)> {
        form_pairs(self.query())
    }

    /// The first value of a query parameter, decoded.
    pub fn query_value(&self, name: &str) -> Option<String> {
        self.query_pairs().into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// A query parameter as a number; `default` when it is absent or none.
    pub fn query_number(&self, name: &str, default: u64) -> u64 {
        self.query_value(name).and_then(|value| value.parse().ok()).unwrap_or(default)
    }

    /// Names as they were sent, with their values, in order.
    pub fn headers(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        self.headers
            .iter()
            .map(|(name, value)| (self.text(name), String::from_utf8_lossy(&self.head[value.clone()])))
    }

    /// The first value of a header, whatever the case of its name.
    pub fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        self.headers().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Every cookie of every `Cookie` header, in order.
    pub fn cookies(&self) -> Vec<(String, String)> {
        let mut cookies = Vec::new();
        for (_, value) in self.headers().filter(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
            let pairs = value.split(';').filter_map(|pair| pair.trim().split_once('='));
            cookies.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        cookies
    }

    /// Whether the client will not send another request on this connection.
    pub(crate) fn wants_close(&self) -> bool {
        self.minor_version == 0 || self.header("connection").is_some_and(|value| has_token(&value, "close"))
    }

    /// Whether the client waits for `100 Continue` before it sends the body.
    pub(crate) fn expects_continue(&self) -> bool {
        self.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
    }

    /// How the body is framed (RFC 9112, section 6).
    pub(crate) fn framing(&self) -> Framing {
        if self.header("transfer-encoding").is_some_and(|value| has_token(&value, "chunked")) {
            return Framing::Chunked;
        }
        match self.header("content-length") {
            None => Framing::Length(0),
            // Parsing alone would let a sign through.
            Some(value) if value.starts_with('+') => Framing::Malformed,
            Some(value) => value.trim().parse().map_or(Framing::Malformed, Framing::Length),
        }
    }

    fn split_target(&self) -> (&str, &str) {
        let target = self.text(&self.target);
        let target = match target.find("://") {
            Some(scheme_end) if !target.starts_with('/') => {
                let after = &target[scheme_end + 3..];
                after.find('/').map_or("/", |path_start| &after[path_start..])
            }
            _ => target,
        };
        target.split_once('?').unwrap_or((target, ""))
    }

    fn text(&self, range: &Range<usize>) -> &str {
        // httparse lets only ASCII through in methods and names, but UTF-8 in targets.
        std::str::from_utf8(&self.head[range.clone()]).unwrap_or("")
    }
}

/// The pairs of an `application/x-www-form-urlencoded` text, decoded.
pub(crate) fn form_pairs(text: &str) -> Vec<(String, String)> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (percent_decode(name, true), percent_decode(value, true))
        })
        .collect()
}

/// Percent-decodes `text`; `plus_is_space` as forms have it. Broken escapes stay as they are.
pub(crate) fn percent_decode(text: &str, plus_is_space: bool) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digit = |offset: usize| bytes.get(at + offset).and_then(|&byte| char::from(byte).to_digit(16));
        match (bytes[at], digit(1).zip(digit(2))) {
            (b'%', Some((high, low))) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
                continue;
            }
            (b'+', _) if plus_is_space => decoded.push(b' '),
            (byte, _) => decoded.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn has_token(list: &str, token: &str) -> bool {
    list.split(',').any(|part| part.trim().eq_ignore_ascii_case(token))
}

#[cfg(test)]
pub(crate) fn parsed(text: &str) -> Request {
    let mut request = Request::default();
    let Head::Complete(head_bytes) = request.parse_head(text.as_bytes()) else {
        panic!("no head in {text:?}")
    };
    request.body = text.as_bytes()[head_bytes..].to_vec();
    request.body_bytes = request.body.len() as u64;
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_is_taken_apart() {
        let request =
            parsed("POST /a%20b?x=1&y=%20+z HTTP/1.1\r\nHost: h\r\nEmpty:\r\nCookie: a=1; b=2\r\n\r\nbody");
        assert_eq!((request.method(), request.path(), request.query()), ("POST", "/a%20b", "x=1&y=%20+z"));
        assert_eq!(request.query_value("y").as_deref(), Some("  z"));
        assert_eq!(request.query_number("x", 7), 1);
        assert_eq!(request.query_number("z", 7), 7);
        assert_eq!(request.header("HOST").as_deref(), Some("h"));
        assert_eq!(request.header("empty").as_deref(), Some(""));
        assert_eq!(request.cookies(), [("a".into(), "1".into()), ("b".into(), "2".into())]);
        assert!(!request.wants_close());
    }

    #[test]
    fn absolute_targets_keep_their_path() {
        assert_eq!(parsed("GET http://h:1/p?q HTTP/1.1\r\n\r\n").path(), "/p");
        assert_eq!(parsed("GET http://h HTTP/1.1\r\n\r\n").path(), "/");
        assert_eq!(parsed("GET /redirect-to?url=http://h/x HTTP/1.1\r\n\r\n").path(), "/redirect-to");
    }

    #[test]
    fn heads_that_are_none() {
        for (input, expect) in [
            ("GET / HTTP/1.1\r\nHost: h\r\n", Head::Partial),
            ("", Head::Partial),
            ("GET\0/ HTTP/1.1\r\n\r\n", Head::Malformed),
            ("\x16\x03\x01\x02", Head::Malformed),
        ] {
            assert_eq!(Request::default().parse_head(input.as_bytes()), expect, "{input:?}");
        }
    }

    #[test]
    fn framing_of_bodies() {
        for (header, expect) in [
            ("A: b", Framing::Length(0)),
            ("content-length: 12", Framing::Length(12)),
            ("Content-Length: -1", Framing::Malformed),
            ("Content-Length: +1", Framing::Malformed),
            ("Transfer-Encoding: gzip, chunked", Framing::Chunked),
        ] {
            let request = parsed(&format!("POST / HTTP/1.1\r\n{header}\r\n\r\n"));
            assert_eq!(request.framing(), expect, "{header}");
        }
    }

    #[test]
    fn broken_escapes_stay() {
        for (input, expect) in
            [("%41%4", "A%4"), ("%zz", "%zz"), ("%", "%"), ("a+b", "a b"), ("%+41", "% 41")]
        {
            assert_eq!(percent_decode(input, true), expect, "{input}");
        }
    }
}
