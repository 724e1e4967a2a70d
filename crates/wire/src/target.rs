//! Where a request goes: a checked absolute `http` or `https` URL.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memrchr};

use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::escape;

/// A checked absolute `http` or `https` URL. Cloning is cheap.
///
/// Characters that a server must not see are encoded (spaces and non-ASCII characters, paths as in `escape::path`); existing
/// escapes, dot segments and doubled slashes are left alone, as in Go.
#[derive(Clone, PartialEq, Eq)]
pub struct Target(Arc<Inner>);

#[derive(PartialEq, Eq)]
struct Inner {
    /// The whole URL without user information; the ranges point into it.
    url: String,
    is_tls: bool,
    port: u16,
    /// Host and port as written: the `Host` header.
    authority: Range<usize>,
    /// The host without brackets.
    host: Range<usize>,
    path_and_query: Range<usize>,
    /// The host where it is an address.
    ip: Option<IpAddr>,
    user: Option<(String, String)>,
    /// The URL as k6 shows it, where that differs from `url`.
    shown: Option<Box<str>>,
}

impl Target {
    /// The target that `url` names.
    ///
    /// # Errors
    /// `url` cannot be parsed (code 1020), or it has no host or another scheme than `http` and `https`
    /// (code 1000, as in k6).
    pub fn parse(url: &str) -> Result<Target, Error> {
        if url.bytes().any(|byte| byte.is_ascii_control()) {
            return Err(invalid(url, "net/url: invalid control character in URL"));
        }
        let (is_tls, rest) = split_scheme(url)?;
        let end = rest.bytes().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
        let (given_authority, tail) = rest.split_at(end);
        let (user, given_authority) = split_user(given_authority);
        let (host, port) = split_port(url, given_authority)?;
        let host = check_host(url, host)?;

        let mut text = String::with_capacity(url.len() + 8);
        text.push_str(if is_tls { "https://" } else { "http://" });
        let is_v6 = host.contains(':');
        let authority_start = text.len();
        let host_start = authority_start + usize::from(is_v6);
        if is_v6 {
            let _ = write!(text, "[{host}]");
        } else {
            text.push_str(&host);
        }
        let host_range = host_start..host_start + host.len();
        if let Some(port) = port {
            let _ = write!(text, ":{port}");
        }
        let authority = authority_start..text.len();
        let path_start = text.len();
        let tail = split_tail(url, tail)?;
        let path_end = push_tail(&mut text, &tail);
        let inner = Inner {
            shown: shown(&text, &authority, given_authority, &tail),
            is_tls,
            port: port.unwrap_or(if is_tls { 443 } else { 80 }),
            authority,
            ip: text[host_range.clone()].parse().ok(),
            host: host_range,
            path_and_query: path_start..path_end,
            user,
            url: text,
        };
        Ok(Target(Arc::new(inner)))
    }

    /// Stands in for the target of a request that is never sent: it is shown as `text`, whatever that is.
    #[must_use]
    pub fn never(text: &str) -> Target {
        let range = 0..0;
        Target(Arc::new(Inner {
            url: text.to_owned(),
            is_tls: false,
            port: 0,
            authority: range.clone(),
            host: range.clone(),
            path_and_query: range,
            ip: None,
            user: None,
            shown: None,
        }))
    }

    /// The target that the reference `location` names, seen from here (RFC 3986, 5.2). User information is kept as
    /// long as the host is not named anew.
    ///
    /// # Errors
    /// As [`Target::parse`].
    pub fn join(&self, location: &str) -> Result<Target, Error> {
        let inner = &*self.0;
        if has_scheme(location) {
            return Target::parse(location);
        }
        let scheme = if inner.is_tls { "https" } else { "http" };
        if location.starts_with("//") {
            return Target::parse(&format!("{scheme}:{location}"));
        }
        let base = self.path_and_query();
        let base_path = base.split('?').next().unwrap_or_default();
        let end = location.find(['?', '#']).unwrap_or(location.len());
        let (path, tail) = location.split_at(end);
        let path_and_query = if path.is_empty() {
            let kept = if tail.starts_with('?') { base_path } else { base };
            format!("{kept}{tail}")
        } else if path.starts_with('/') {
            format!("{}{tail}", without_dots(path))
        } else {
            let folder = memrchr(b'/', base_path.as_bytes()).map_or("/", |slash| &base_path[..=slash]);
            format!("{}{tail}", without_dots(&format!("{folder}{path}")))
        };
        let joined = Target::parse(&format!("{scheme}://{}{path_and_query}", self.authority()))?;
        Ok(joined.with_user(inner.user.clone()))
    }

    /// The whole URL, encoded, without user information.
    pub fn as_str(&self) -> &str {
        &self.0.url
    }

    /// The URL as k6 shows it in tags and to scripts, without user information: an empty path stays empty and a query
    /// as it was written.
    pub fn shown(&self) -> &str {
        self.0.shown.as_deref().unwrap_or(&self.0.url)
    }

    /// Whether it is `https`.
    pub fn is_tls(&self) -> bool {
        self.0.is_tls
    }

    /// The host: a name (in ASCII, as written) or an address without brackets.
    pub fn host(&self) -> &str {
        &self.0.url[self.0.host.clone()]
    }

    /// The host where it is an address.
    pub fn ip(&self) -> Option<IpAddr> {
        self.0.ip
    }

    /// The port, given or the scheme's own.
    pub fn port(&self) -> u16 {
        self.0.port
    }

    /// The `Host` header: host and, where one was written, port.
    pub fn authority(&self) -> &str {
        &self.0.url[self.0.authority.clone()]
    }

    /// The request target: the encoded path (at least `/`) and query.
    pub fn path_and_query(&self) -> &str {
        &self.0.url[self.0.path_and_query.clone()]
    }

    /// Scheme, host and port, as in `https://example.com:8443`.
    pub fn origin(&self) -> &str {
        &self.0.url[..self.0.authority.end]
    }

    /// Name and password that the URL carried, percent-decoded.
    pub fn user(&self) -> Option<(&str, &str)> {
        self.0.user.as_ref().map(|(name, password)| (&**name, &**password))
    }

    /// Whether it is the very same URL; clones of one target are compared without looking at the text.
    pub fn is_same(&self, other: &Target) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.url == other.0.url
    }

    /// Whether a connection for `other` can carry a request for this one.
    pub(crate) fn is_same_origin(&self, other: &Target) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.port == other.0.port
                && self.0.is_tls == other.0.is_tls
                && self.host().eq_ignore_ascii_case(other.host()))
    }

    fn with_user(mut self, user: Option<(String, String)>) -> Target {
        // The target was just made, so it has no other owner.
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.user = user;
        }
        self
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({})", self.as_str())
    }
}

/// The reason is in Go's words, so that a k6 user finds what the web says about it.
fn invalid(url: &str, why: &str) -> Error {
    let message = format!("invalid URL: parse {url:?}: {why}");
    Error::new(ErrorCode::INVALID_URL, Stage::Prepare, Kind::Invalid, message)
}

fn unsupported(scheme: &str) -> Error {
    let message = format!("unsupported protocol scheme {scheme:?}");
    Error::new(ErrorCode::OTHER, Stage::Prepare, Kind::Invalid, message)
}

fn has_scheme(reference: &str) -> bool {
    let end = reference.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')));
    end.is_some_and(|end| {
        reference.as_bytes()[end] == b':' && reference.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

fn split_scheme(url: &str) -> Result<(bool, &str), Error> {
    if !has_scheme(url) {
        let has_colon = url.split('/').next().is_some_and(|segment| segment.contains(':'));
        let why = "first path segment in URL cannot contain colon";
        return Err(if has_colon { invalid(url, why) } else { unsupported("") });
    }
    let (scheme, rest) = url.split_once(':').unwrap_or_default();
    let is_tls = match () {
        () if scheme.eq_ignore_ascii_case("https") => true,
        () if scheme.eq_ignore_ascii_case("http") => false,
        () => return Err(unsupported(&scheme.to_ascii_lowercase())),
    };
    match rest.strip_prefix("//") {
        Some(rest) => Ok((is_tls, rest)),
        None => Err(no_host()),
    }
}

fn no_host() -> Error {
    Error::new(ErrorCode::OTHER, Stage::Prepare, Kind::Invalid, "http: no Host in request URL")
}

/// User name and password, percent-decoded.
type User = Option<(String, String)>;

fn split_user(authority: &str) -> (User, &str) {
    let Some(at) = memrchr(b'@', authority.as_bytes()) else { return (None, authority) };
    let (name, password) = authority[..at].split_once(':').unwrap_or((&authority[..at], ""));
    (Some((escape::decoded_text(name), escape::decoded_text(password))), &authority[at + 1..])
}

fn split_port<'a>(url: &str, authority: &'a str) -> Result<(&'a str, Option<u16>), Error> {
    let host_end = if authority.starts_with('[') {
        let close = authority.find(']').ok_or_else(|| invalid(url, "missing ']' in host"))?;
        close + 1
    } else {
        authority.find(':').unwrap_or(authority.len())
    };
    let (host, port) = authority.split_at(host_end);
    // An empty port (`host:`) is the scheme's own, as in Go.
    if port.is_empty() || port == ":" {
        return Ok((host, None));
    }
    let digits = port.strip_prefix(':').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let Some(digits) = digits else {
        return Err(invalid(url, &format!("invalid port {port:?} after host")));
    };
    match digits.parse() {
        Ok(number) => Ok((host, Some(number))),
        Err(_) => Err(no_such_port(digits)),
    }
}

/// Go takes any number for a URL's port and fails to dial it.
fn no_such_port(digits: &str) -> Error {
    let message = format!("dial tcp: address {digits}: invalid port");
    Error::new(ErrorCode::DIAL, Stage::Prepare, Kind::Invalid, message)
}

/// The host in ASCII and without brackets.
fn check_host(url: &str, host: &str) -> Result<String, Error> {
    if let Some(bracketed) = host.strip_prefix('[') {
        let address = bracketed.trim_end_matches(']');
        let is_v6 = address.parse::<std::net::Ipv6Addr>().is_ok();
        return is_v6.then(|| address.to_owned()).ok_or_else(|| invalid(url, "invalid IPv6 host"));
    }
    let ascii = if host.is_ascii() {
        host.to_owned()
    } else {
        idna::domain_to_ascii(host).map_err(|_| invalid(url, "invalid international host name"))?
    };
    // Also a name of nothing but characters that are left out, such as U+034F.
    if ascii.is_empty() {
        return Err(no_host());
    }
    let bad = ascii.chars().find(|c| !(c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=".contains(*c)));
    match bad {
        Some(bad) => Err(invalid(url, &format!("invalid character {:?} in host name", bad.to_string()))),
        None => Ok(ascii),
    }
}

/// Path (empty where none was written), query with its `?`, fragment with its `#`.
struct Tail<'a> {
    path: Cow<'a, str>,
    query: &'a str,
    fragment: &'a str,
}

fn split_tail<'a>(url: &str, tail: &'a str) -> Result<Tail<'a>, Error> {
    let (tail, fragment) = tail.split_at(memchr(b'#', tail.as_bytes()).unwrap_or(tail.len()));
    let (path, query) = tail.split_at(memchr(b'?', tail.as_bytes()).unwrap_or(tail.len()));
    if let Some(escape) = escape::bad_escape(path) {
        return Err(invalid(url, &format!("invalid URL escape {escape:?}")));
    }
    Ok(Tail { path: escape::path(path), query, fragment })
}

/// Appends the tail with everything encoded that a server must not see; gives the end of the query.
fn push_tail(text: &mut String, tail: &Tail<'_>) -> usize {
    if tail.path.is_empty() {
        text.push('/');
    }
    text.push_str(&tail.path);
    escape::push_graphic(text, tail.query);
    let end = text.len();
    escape::push_graphic(text, tail.fragment);
    end
}

/// The URL as k6 shows it, where that is not `url`: host and port as written (a colon may have no port after it), no slash
/// added, a query as written, no empty fragment.
fn shown(url: &str, authority: &Range<usize>, given_authority: &str, tail: &Tail<'_>) -> Option<Box<str>> {
    // A name in another script than ASCII is shown as it is looked up.
    let host = if given_authority.is_ascii() { given_authority } else { &url[authority.clone()] };
    let is_url = host == &url[authority.clone()]
        && !tail.path.is_empty()
        && tail.fragment != "#"
        && tail.query.bytes().all(|byte| byte.is_ascii_graphic());
    if is_url {
        return None;
    }
    let mut text = format!("{}{host}{}{}", &url[..authority.start], tail.path, tail.query);
    if tail.fragment != "#" {
        escape::push_graphic(&mut text, tail.fragment);
    }
    Some(text.into())
}

/// An absolute path without `.` and `..` segments (RFC 3986, 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let check = |url: &str, origin: &str, host: &str, port: u16, path: &str| {
            let target = Target::parse(url).unwrap();
            let seen = (target.origin(), target.host(), target.port(), target.path_and_query());
            assert_eq!(seen, (origin, host, port, path), "{url}");
        };
        check("http://h", "http://h", "h", 80, "/");
        check("HTTPS://Host:8443/a?b#c", "https://Host:8443", "Host", 8443, "/a?b");
        check("https://h?q=1", "https://h", "h", 443, "/?q=1");
        check("http://h:/x", "http://h", "h", 80, "/x");
        check("http://[::1]:8080/", "http://[::1]:8080", "::1", 8080, "/");
        check("http://u:p@h:81/x", "http://h:81", "h", 81, "/x");
        check("http://h/a b/é?q=a b&r=한", "http://h", "h", 80, "/a%20b/%C3%A9?q=a%20b&r=%ED%95%9C");
        check("http://h/a%20b/../c//d?x={1}%", "http://h", "h", 80, "/a%20b/../c//d?x={1}%");
        check("http://h/{id}|\"", "http://h", "h", 80, "/%7Bid%7D%7C%22");
        check("http://한국.kr/", "http://xn--3e0b707e.kr", "xn--3e0b707e.kr", 80, "/");
    }

    #[test]
    fn user_information_is_taken_out_and_decoded() {
        let target = Target::parse("http://us%40er:p%3Ass@h/x").unwrap();
        assert_eq!(target.user(), Some(("us@er", "p:ss")));
        assert_eq!(target.as_str(), "http://h/x");
        assert_eq!(Target::parse("http://only@h/").unwrap().user(), Some(("only", "")));
        assert_eq!(Target::parse("http://h/@").unwrap().user(), None);
    }

    #[test]
    fn bad_urls_say_what_is_wrong() {
        let check = |url: &str, code: ErrorCode, expect: &str| {
            let error = Target::parse(url).unwrap_err();
            assert_eq!((error.code, error.kind, error.stage), (code, Kind::Invalid, Stage::Prepare), "{url}");
            assert!(error.story().contains(expect), "{url}: {error}");
        };
        let bad = ErrorCode::INVALID_URL;
        check("", ErrorCode::OTHER, "unsupported protocol scheme \"\"");
        check("/relative", ErrorCode::OTHER, "unsupported protocol scheme \"\"");
        check(" http://h/", bad, "first path segment in URL cannot contain colon");
        check("ftp://h/", ErrorCode::OTHER, "unsupported protocol scheme \"ftp\"");
        check("http://", ErrorCode::OTHER, "no Host");
        check("http:///x", ErrorCode::OTHER, "no Host");
        check("http://\u{34f}/x", ErrorCode::OTHER, "no Host");
        check("http:h", ErrorCode::OTHER, "no Host");
        check("http://a b/", bad, "invalid character \" \" in host name");
        check("http://h:x/", bad, "invalid port \":x\"");
        check("http://h:99999/", ErrorCode::DIAL, "dial tcp: address 99999: invalid port");
        check("http://h:+1/", bad, "invalid port \":+1\"");
        check("http://[::1/", bad, "missing ']'");
        check("http://[::1]x/", bad, "invalid port \"x\"");
        check("http://[nope]/", bad, "invalid IPv6 host");
        check("http://h/%zz", bad, "invalid URL escape \"%zz\"");
        check("http://h/%é", bad, "invalid URL escape");
        check("http://h/a\nb", bad, "control character");
    }

    #[test]
    fn urls_are_shown_as_k6_does() {
        let check =
            |url: &str, expect: &str| assert_eq!(Target::parse(url).unwrap().shown(), expect, "{url}");
        check("http://h", "http://h");
        check("http://u:p@h?x=1", "http://h?x=1");
        check("HTTP://h/a b?c=d é#e f", "http://h/a%20b?c=d é#e%20f");
        check("http://h/#", "http://h/");
        check("http://h/?", "http://h/?");
        check("http://http://h/x", "http://http://h/x");
        check("http://u@h:080/x", "http://h:080/x");
        assert_eq!(Target::never("undefined/x").shown(), "undefined/x");
    }

    #[test]
    fn references_are_resolved() {
        let base = Target::parse("http://u:p@h:81/a/b/c?q=1#f").unwrap();
        let check = |location: &str, expect: &str, has_user: bool| {
            let target = base.join(location).unwrap();
            assert_eq!((target.as_str(), target.user().is_some()), (expect, has_user), "{location}");
        };
        check("/x?y", "http://h:81/x?y", true);
        check("x", "http://h:81/a/b/x", true);
        check("./x/.", "http://h:81/a/b/x/", true);
        check("../../../x", "http://h:81/x", true);
        check("..", "http://h:81/a/", true);
        check("?z=2", "http://h:81/a/b/c?z=2", true);
        check("", "http://h:81/a/b/c?q=1", true);
        check("#g", "http://h:81/a/b/c?q=1#g", true);
        check("//other/x", "http://other/x", false);
        check("https://other:444/y z", "https://other:444/y%20z", false);
        assert!(base.join("x:y/z").unwrap_err().message.contains("\"x\""), "a scheme is no relative path");
    }
}
