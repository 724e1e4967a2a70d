//! One `Set-Cookie` header, read as Go reads it, because that is what k6 shows to a script.

use crate::headers::Headers;

/// Bytes of one `Set-Cookie` header; a longer one is ignored. Browsers stop at a quarter of it.
const SET_COOKIE_BYTES_MAX: usize = 16 << 10;

/// Cookies of one response that are looked at.
const SET_COOKIES_MAX: usize = 256;

/// A cookie as a response set it (`response.cookies`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetCookie {
    /// Its name.
    pub name: String,
    /// Its value, without quotes around it.
    pub value: String,
    /// Its `Domain` as written; empty where there is none.
    pub domain: String,
    /// Its `Path` as written; empty where there is none.
    pub path: String,
    /// Whether it is `HttpOnly`.
    pub http_only: bool,
    /// Whether it is `Secure`.
    pub secure: bool,
    /// Its `Max-Age` in seconds; 0 where there is none, -1 where it says that the cookie is over.
    pub max_age_s: i64,
    /// Its `Expires` in milliseconds since the Unix epoch. (Where there is none, k6 shows -6795364578871, an
    /// overflow of Go's zero time.)
    pub expires_unix_ms: Option<i64>,
}

impl SetCookie {
    /// The cookies of a response, in the order they came; broken ones are left out.
    pub fn parse_all(headers: &Headers) -> impl Iterator<Item = SetCookie> {
        headers.get_all("set-cookie").take(SET_COOKIES_MAX).filter_map(SetCookie::parse)
    }

    /// The cookie that the value of one header sets; `None` where it is broken.
    pub fn parse(header: &[u8]) -> Option<SetCookie> {
        if header.len() > SET_COOKIE_BYTES_MAX {
            return None;
        }
        let mut parts = header.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let (name, value) = split_once(parts.next()?)?;
        let name = name.trim_ascii();
        if !crate::token::is_token(name) {
            return None;
        }
        let value = value_of(value)?;
        let mut cookie = SetCookie { name: text(name), value: text(value), ..SetCookie::default() };
        for part in parts {
            let (name, value) = split_once(part).unwrap_or((part, b""));
            if let Some(value) = value_of(value) {
                cookie.set_attribute(name, &text(value));
            }
        }
        Some(cookie)
    }

    fn set_attribute(&mut self, name: &[u8], value: &str) {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match name.len() {
            4 if is("path") => value.clone_into(&mut self.path),
            6 if is("domain") => value.clone_into(&mut self.domain),
            6 if is("secure") => self.secure = true,
            7 if is("max-age") => self.max_age_s = max_age(value).unwrap_or(self.max_age_s),
            7 if is("expires") => self.expires_unix_ms = parse_expires(value),
            8 if is("httponly") => self.http_only = true,
            _ => {}
        }
    }
}

/// Milliseconds since the Unix epoch of a date such as `Mon, 02 Jan 2006 15:04:05 GMT` (also with dashes in the
/// date). As in Go, the name of the time zone is not looked at: it is always UTC. `None` where it is no such date.
pub fn parse_expires(date: &str) -> Option<i64> {
    let mut words = date.split_ascii_whitespace();
    let weekday = words.next()?.strip_suffix(',')?;
    if weekday.len() != 3 || !weekday.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let day = words.next()?;
    let (day, month, year) = match day.split_once('-') {
        Some((day, rest)) => {
            let (month, year) = rest.split_once('-')?;
            (day, month, year)
        }
        None => (day, words.next()?, words.next()?),
    };
    let mut clock = words.next()?.split(':');
    let (hour, minute, second) =
        (number(clock.next()?, 2)?, number(clock.next()?, 2)?, number(clock.next()?, 2)?);
    let zone = words.next()?;
    let is_over = clock.next().is_none() && words.next().is_none();
    let (day, month, year) = (number(day, 2)?, month_number(month)?, number(year, 4)?);
    let is_valid = (1..=days_in(month, year)).contains(&day) && hour < 24 && minute < 60 && second < 60;
    let is_zone = zone.bytes().all(|byte| byte.is_ascii_alphabetic());
    // Years before 1601 have no meaning for cookies (RFC 6265, 5.1.1).
    if !is_over || !is_valid || !is_zone || year < 1601 {
        return None;
    }
    let seconds = ((days_from_civil(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    Some(seconds * 1000)
}

fn split_once(part: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = part.iter().position(|byte| *byte == b'=')?;
    Some((&part[..at], &part[at + 1..]))
}

/// A value without the quotes around it, where all its characters are allowed.
fn value_of(value: &[u8]) -> Option<&[u8]> {
    let inner = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
    inner.iter().all(|byte| is_value_byte(*byte)).then_some(inner)
}

/// The characters of a cookie's value in a header. More than RFC 6265 allows: Go takes spaces and commas, too.
pub(crate) fn is_value_byte(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b';' | b'\\')
}

/// Only for bytes that have been checked to be ASCII.
fn text(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

fn max_age(value: &str) -> Option<i64> {
    let seconds: i64 = value.parse().ok()?;
    if seconds > 0 && value.starts_with('0') {
        return None;
    }
    Some(if seconds <= 0 { -1 } else { seconds })
}

fn number(text: &str, digits: usize) -> Option<i64> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn month_number(name: &str) -> Option<i64> {
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let at = names.iter().position(|known| known.eq_ignore_ascii_case(name))?;
    Some(at as i64 + 1)
}

fn days_in(month: i64, year: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`), for
/// years that are not negative.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cookie(name: &str, value: &str) -> SetCookie {
        SetCookie { name: name.to_owned(), value: value.to_owned(), ..SetCookie::default() }
    }

    /// The output of k6 v2.2 for the same headers.
    #[test]
    fn headers_are_read_as_k6_does() {
        let check = |header: &str, expect: Option<SetCookie>| {
            assert_eq!(SetCookie::parse(header.as_bytes()), expect, "{header}");
        };
        check("a=1", Some(cookie("a", "1")));
        check("a=2; Path=/x", Some(SetCookie { path: "/x".to_owned(), ..cookie("a", "2") }));
        check(
            "b=\"q v\"; HttpOnly; Secure; Max-Age=60; Domain=127.0.0.1; Path=/",
            Some(SetCookie {
                domain: "127.0.0.1".to_owned(),
                path: "/".to_owned(),
                http_only: true,
                secure: true,
                max_age_s: 60,
                ..cookie("b", "q v")
            }),
        );
        let in_2065 = Some(3_023_335_680_000);
        let expiring = |name| Some(SetCookie { expires_unix_ms: in_2065, ..cookie(name, "1") });
        check("c=1; expires=Wed, 21 Oct 2065 07:28:00 GMT", expiring("c"));
        check("k=1; expires=Wed, 21-Oct-2065 07:28:00 GMT", expiring("k"));
        check("y=1; Expires=Wed, 21 Oct 2065 07:28:00 PST", expiring("y"));
        check("n=1; Expires=Wednesday, 21-Oct-65 07:28:00 GMT", Some(cookie("n", "1")));
        check("l=1; expires=garbage", Some(cookie("l", "1")));
        check("i=1; Max-Age=0", Some(SetCookie { max_age_s: -1, ..cookie("i", "1") }));
        check("j=1; max-age=-5", Some(SetCookie { max_age_s: -1, ..cookie("j", "1") }));
        check("q=1; Max-Age=abc", Some(cookie("q", "1")));
        check("r=1; Max-Age=01", Some(cookie("r", "1")));
        check("dd=1; max-age=99999999999999999999", Some(cookie("dd", "1")));
        check(
            "m=1; Domain=.Other.COM",
            Some(SetCookie { domain: ".Other.COM".to_owned(), ..cookie("m", "1") }),
        );
        check("f=1=2", Some(cookie("f", "1=2")));
        check("h=a b", Some(cookie("h", "a b")));
        check("o=a,b;SameSite=Lax", Some(cookie("o", "a,b")));
        check("s=1;; ;x=y", Some(cookie("s", "1")));
        check(" t = u ", Some(cookie("t", " u")));
        check("bb=1; Path=rel", Some(SetCookie { path: "rel".to_owned(), ..cookie("bb", "1") }));
        for broken in ["", "d; Path=/", "=e", "g=é", "p p=1", "v=x\"y", "w=\"x", "cc=a\\b"] {
            check(broken, None);
        }
    }

    #[test]
    fn dates_are_read() {
        let check = |date: &str, expect: Option<i64>| assert_eq!(parse_expires(date), expect, "{date}");
        check("Thu, 01 Jan 1970 00:00:00 GMT", Some(0));
        check("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199_000));
        check("Fri, 31 Dec 1999 23:59:59 UTC", Some(946_684_799_000));
        check("Sat, 01 Jan 1601 00:00:00 GMT", Some(-11_644_473_600_000));
        check("Fri, 31 Dec 9999 23:59:59 GMT", Some(253_402_300_799_000));
        check("Thu, 01 Jan 1600 00:00:00 GMT", None);
        check("Wed, 29 Feb 2023 00:00:00 GMT", None);
        check("Thu, 01 Jan 1970 24:00:00 GMT", None);
        check("Thu, 01 Jan 1970 00:00:00", None);
        check("Thu, 01 Jan 1970 00:00:00 GMT more", None);
        check("Thu, 01 Foo 1970 00:00:00 GMT", None);
        check("01 Jan 1970 00:00:00 GMT", None);
        check("", None);
    }

    #[test]
    fn hostile_headers_are_bounded() {
        let long = format!("a={}", "x".repeat(SET_COOKIE_BYTES_MAX));
        assert_eq!(SetCookie::parse(long.as_bytes()), None);
        let head = format!("HTTP/1.1 200 OK\r\n{}\r\n", "Set-Cookie: a=1\r\n".repeat(SET_COOKIES_MAX + 1));
        assert_eq!(
            SetCookie::parse_all(&Headers::new(head.into(), Default::default())).count(),
            SET_COOKIES_MAX
        );
    }

    proptest! {
        #[test]
        fn hostile_headers_never_panic(header: Vec<u8>, attributes: String, date: String) {
            let _ = SetCookie::parse(&header);
            let _ = SetCookie::parse(format!("a=1; {attributes}").as_bytes());
            let _ = SetCookie::parse(format!("a=1; expires={date}").as_bytes());
        }
    }
}
