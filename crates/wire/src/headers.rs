//! A response's headers: the bytes that came, read in place.

use std::borrow::Cow;

use bytes::Bytes;
use memchr::memchr;

/// The head of a response as it came: status line and headers, checked once when it was received.
///
/// Nothing is allocated per header: a look-up reads the bytes again, which costs less than an index for the few
/// headers that scripts ask for.
#[derive(Clone, Debug, Default)]
pub struct Headers {
    /// Status line and headers up to and with the empty line; continuation lines are already unfolded.
    head: Bytes,
    noted: Noted,
}

/// Headers whose presence was noted when the head was checked, because every response of a run is asked for them and
/// nearly none has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Noted {
    /// `Set-Cookie`
    pub(crate) sets_cookies: bool,
    /// `Content-Encoding`
    pub(crate) is_coded: bool,
}

impl Headers {
    /// Headers over a head that has been checked.
    pub(crate) fn new(head: Bytes, noted: Noted) -> Headers {
        Headers { head, noted }
    }

    /// Which of the rare headers there are.
    pub(crate) fn noted(&self) -> Noted {
        self.noted
    }

    /// Names and values in the order they came, without the white space around the values. Values may be any bytes.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        Lines(&self.head).skip(1).filter_map(|line| {
            let colon = memchr(b':', line)?;
            Some((&line[..colon], line[colon + 1..].trim_ascii()))
        })
    }

    /// The first value of `name`, which is compared without regard to case.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.get_all(name).next()
    }

    /// All values of `name`, in the order they came.
    pub fn get_all(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let name = name.as_bytes();
        self.iter().filter(move |(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The head as it came, status line first.
    pub fn as_bytes(&self) -> &[u8] {
        &self.head
    }

    /// The reason phrase of the status line.
    pub(crate) fn reason(&self) -> &[u8] {
        let status_line = Lines(&self.head).next().unwrap_or_default();
        status_line.splitn(3, |byte| *byte == b' ').nth(2).unwrap_or_default().trim_ascii()
    }
}

/// The lines of a head without their ends, up to the empty one.
struct Lines<'a>(&'a [u8]);

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let end = memchr(b'\n', self.0)?;
        let line = &self.0[..end];
        self.0 = &self.0[end + 1..];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        (!line.is_empty()).then_some(line)
    }
}

/// A header's name as Go spells it and k6 shows it: `content-type` → `Content-Type`. Names that are no tokens, and
/// names already spelled so, are left alone.
pub fn canonical_name(name: &str) -> Cow<'_, str> {
    if !crate::token::is_token(name.as_bytes()) || is_canonical(name.as_bytes()) {
        return Cow::Borrowed(name);
    }
    let mut at_start = true;
    let canonical = name.chars().map(|c| {
        let spelled = if at_start { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
        at_start = c == '-';
        spelled
    });
    Cow::Owned(canonical.collect())
}

fn is_canonical(name: &[u8]) -> bool {
    let mut at_start = true;
    name.iter().all(|byte| {
        let fits = if at_start { !byte.is_ascii_lowercase() } else { !byte.is_ascii_uppercase() };
        at_start = *byte == b'-';
        fits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_as_go_does() {
        let check = |input, expect| assert_eq!(canonical_name(input), expect);
        check("content-type", "Content-Type");
        check("ETAG", "Etag");
        check("X-Already-Fine", "X-Already-Fine");
        check("x-a--b", "X-A--B");
        check("no token", "no token");
        check("", "");
    }

    #[test]
    fn headers_are_read_in_wire_order_without_regard_to_case() {
        let head =
            b"HTTP/1.1 200 All  right\r\nA: 1\r\nSet-Cookie:x=1\r\nset-cookie:  y:2 \r\nEmpty:\r\n\r\n";
        let headers = Headers::new(Bytes::from_static(head), Noted::default());
        let all: Vec<_> = headers.iter().collect();
        let expect: Vec<(&[u8], &[u8])> =
            vec![(b"A", b"1"), (b"Set-Cookie", b"x=1"), (b"set-cookie", b"y:2"), (b"Empty", b"")];
        assert_eq!(all, expect);
        assert_eq!(headers.get("SET-COOKIE"), Some(&b"x=1"[..]));
        assert_eq!(headers.get_all("set-cookie").count(), 2);
        assert_eq!(headers.get("empty"), Some(&b""[..]));
        assert_eq!(headers.get("b"), None);
        assert_eq!(headers.reason(), b"All  right");
    }

    #[test]
    fn bare_line_feeds_and_missing_reasons_are_read() {
        let headers = Headers::new(Bytes::from_static(b"HTTP/1.1 204\nA: 1\n\n"), Noted::default());
        assert_eq!(headers.reason(), b"");
        assert_eq!(headers.get("a"), Some(&b"1"[..]));
    }
}
