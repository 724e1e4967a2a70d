//! Where a redirect leads: the rules of Go's client, which k6 uses.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::cookies::is_in_domain;
use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::request::{Body, Method, Request};
use crate::response::Response;

/// Headers that prove who the user is: another host must not see them. `Cookie` is not among them because no hop
/// keeps it; the cookies of a hop are chosen for that hop.
const SENSITIVE_HEADERS: [&str; 5] =
    ["Authorization", "Cookie2", "Proxy-Authenticate", "Proxy-Authorization", "Www-Authenticate"];

/// Headers that describe a body and go with it.
const BODY_HEADERS: [&str; 4] = ["Content-Encoding", "Content-Language", "Content-Location", "Content-Type"];

/// Where `response` redirects to; `None` where it does not.
pub(crate) fn location(response: &Response) -> Option<&[u8]> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    response.headers.get("location").filter(|location| !location.is_empty())
}

/// The request that follows `request`, the last one of a chain that began with `first`, after a redirect with
/// `status` to `location`.
///
/// # Errors
/// `location` is no URL, or none of a scheme we speak.
pub(crate) fn follow(
    first: &Request,
    request: &Request,
    status: u16,
    location: &[u8],
) -> Result<Request, Error> {
    let location = readable(location);
    let target = request.target.join(&location).map_err(|error| explained(&location, error))?;
    let keeps_body = matches!(status, 307 | 308);
    let is_absolute = is_absolute(&location);
    let is_trusted = is_in_domain(target.host(), first.target.host());
    let drops = |name: &str| {
        let is_any_of = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
        is_any_of(&["Cookie"])
            || (!keeps_body && is_any_of(&BODY_HEADERS))
            || (!is_trusted && is_any_of(&SENSITIVE_HEADERS))
            || (is_absolute && is_any_of(&["Host"]))
    };
    let mut headers: Vec<(Cow<'static, str>, String)> =
        request.headers.iter().filter(|(name, _)| !drops(name)).cloned().collect();
    set_referer(&mut headers, first, request, target.is_tls());
    let method = match &request.method {
        method if keeps_body || *method == Method::HEAD => method.clone(),
        _ => Method::GET,
    };
    let body = if keeps_body { request.body.clone() } else { Body::None };
    Ok(Request {
        method,
        target,
        headers,
        user_agent: request.user_agent.clone(),
        body,
        deadline: request.deadline,
        keep_body: request.keep_body,
        tap: request.tap.clone(),
    })
}

/// A `Referer` that the script gave stays; otherwise each hop names the one before it, without its user and its
/// fragment (RFC 9110, 10.1.3), and not from `https` to `http`.
fn set_referer(
    headers: &mut Vec<(Cow<'static, str>, String)>,
    first: &Request,
    last: &Request,
    is_tls: bool,
) {
    const REFERER: &str = "Referer";
    let is_referer = |name: &str| name.eq_ignore_ascii_case(REFERER);
    if first.headers.iter().any(|(name, _)| is_referer(name)) {
        return;
    }
    headers.retain(|(name, _)| !is_referer(name));
    if last.target.is_tls() && !is_tls {
        return;
    }
    let referer = format!("{}{}", last.target.origin(), last.target.path_and_query());
    headers.push((Cow::Borrowed(REFERER), referer));
}

/// Whether a reference names its own host.
fn is_absolute(location: &str) -> bool {
    let end = location.find(['/', '?', '#']).unwrap_or(location.len());
    location.starts_with("//") || location[..end].contains(':')
}

/// A header's bytes as text; those of another encoding than UTF-8 are percent-encoded, which sends the same bytes.
fn readable(location: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(location) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(location.len() * 2);
    for byte in location {
        if byte.is_ascii() {
            text.push(char::from(*byte));
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    Cow::Owned(text)
}

/// k6 distinguishes a header that cannot be parsed from a scheme that it does not support.
fn explained(location: &str, error: Error) -> Error {
    if error.code != ErrorCode::INVALID_URL {
        return error;
    }
    let why = error.message.strip_prefix("invalid URL: ").unwrap_or(&error.message);
    let message = format!("failed to parse Location header {location:?}: {why}");
    Error::new(ErrorCode::OTHER, Stage::Prepare, Kind::Invalid, message)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use model::Instant;

    use super::*;
    use crate::target::Target;

    fn request(method: &Method, url: &str, headers: &[(&'static str, &str)]) -> Request {
        let mut request = Request::new(method.clone(), Target::parse(url).unwrap(), Instant::MAX);
        request.headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).to_owned())).collect();
        request.body = Body::Bytes(Bytes::from_static(b"body"));
        request
    }

    fn names(request: &Request) -> String {
        request.headers.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(" ")
    }

    /// The request of k6 v2.2.
    #[test]
    fn methods_and_bodies_follow_the_status() {
        let check = |status, method: &Method, expect: &Method, has_body: bool| {
            let first = request(method, "http://h/", &[("Content-Type", "t"), ("x-a", "1")]);
            let next = follow(&first, &first, status, b"/x").unwrap();
            assert_eq!(next.method, *expect, "{status}");
            assert_eq!(next.body != Body::None, has_body, "{status}");
            let headers = if has_body { "Content-Type x-a Referer" } else { "x-a Referer" };
            assert_eq!(names(&next), headers, "{status}");
        };
        for status in [301, 302, 303] {
            check(status, &Method::POST, &Method::GET, false);
            check(status, &Method::PUT, &Method::GET, false);
            check(status, &Method::HEAD, &Method::HEAD, false);
        }
        for status in [307, 308] {
            check(status, &Method::POST, &Method::POST, true);
            check(status, &Method::HEAD, &Method::HEAD, true);
        }
    }

    #[test]
    fn only_some_responses_redirect() {
        let check = |status, head: &'static str, expect: Option<&str>| {
            let headers =
                crate::headers::Headers::new(Bytes::from_static(head.as_bytes()), Default::default());
            let response = Response { status, proto: "HTTP/1.1", headers, body: Bytes::new(), body_bytes: 0 };
            assert_eq!(location(&response), expect.map(str::as_bytes), "{status} {head}");
        };
        check(302, "HTTP/1.1 302\r\nlocation: /x\r\n\r\n", Some("/x"));
        check(302, "HTTP/1.1 302\r\nlocation:\r\n\r\n", None);
        check(302, "HTTP/1.1 302\r\n\r\n", None);
        for status in [200, 201, 300, 304, 305, 306, 399] {
            check(status, "HTTP/1.1 1\r\nLocation: /x\r\n\r\n", None);
        }
    }

    #[test]
    fn other_hosts_see_no_secrets() {
        let given = [("authorization", "a"), ("Cookie", "c"), ("WWW-Authenticate", "w"), ("X", "x")];
        let first = request(&Method::GET, "http://a.com:81/", &given);
        let check = |from: &str, location: &str, expect: &str| {
            let last = request(&Method::GET, from, &given);
            let next = follow(&first, &last, 302, location.as_bytes()).unwrap();
            assert_eq!(names(&next), expect, "{from} {location}");
        };
        check("http://a.com/", "/x", "authorization WWW-Authenticate X Referer");
        check("http://a.com/", "http://A.com:82/x", "authorization WWW-Authenticate X Referer");
        check("http://a.com/", "http://b.a.com/", "authorization WWW-Authenticate X Referer");
        check("http://a.com/", "//xa.com/", "X Referer");
        check("http://a.com/", "http://com/", "X Referer");
        check("http://b.a.com/", "http://a.com/", "authorization WWW-Authenticate X Referer");
    }

    #[test]
    fn secrets_do_not_come_back() {
        let first = request(&Method::GET, "http://a.com/", &[("Authorization", "a")]);
        let second = follow(&first, &first, 302, b"http://b.com/").unwrap();
        let third = follow(&first, &second, 302, b"http://a.com/").unwrap();
        assert_eq!(names(&third), "Referer");
    }

    #[test]
    fn hosts_are_kept_where_the_location_is_relative() {
        let check = |location: &str, expect: &str| {
            let first = request(&Method::GET, "http://h/", &[("host", "virtual")]);
            assert_eq!(
                names(&follow(&first, &first, 302, location.as_bytes()).unwrap()),
                expect,
                "{location}"
            );
        };
        check("/x", "host Referer");
        check("?a:b", "host Referer");
        check("http://h/x", "Referer");
        check("//h/x", "Referer");
    }

    #[test]
    fn referers_name_the_hop_before() {
        let check = |url: &str, headers: &[(&'static str, &str)], location: &str, expect: Option<&str>| {
            let first = request(&Method::GET, "http://first/", headers);
            let last = request(&Method::GET, url, headers);
            let next = follow(&first, &last, 302, location.as_bytes()).unwrap();
            let referer = next.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("referer"));
            assert_eq!(referer.map(|(_, value)| value.as_str()), expect, "{url}");
        };
        check("http://u:p@h/x?y#z", &[], "/a", Some("http://h/x?y"));
        check("https://h/x", &[], "/a", Some("https://h/x"));
        check("https://h/x", &[], "http://h/", None);
        check("http://h/x", &[("referer", "mine")], "/a", Some("mine"));
        let first = request(&Method::GET, "http://h/1", &[]);
        let second = follow(&first, &first, 302, b"/2").unwrap();
        let third = follow(&first, &second, 302, b"/3").unwrap();
        assert_eq!(third.headers, [("Referer".into(), "http://h/2".to_owned())]);
    }

    #[test]
    fn bad_locations_are_explained() {
        let check = |location: &[u8], expect: &str| {
            let first = request(&Method::GET, "http://h/", &[]);
            let error = follow(&first, &first, 302, location).unwrap_err();
            assert_eq!((error.code, error.message.as_str()), (ErrorCode::OTHER, expect));
        };
        check(b"ftp://h/x", "unsupported protocol scheme \"ftp\"");
        let expect = "failed to parse Location header \"http://[::1/x\": parse \"http://[::1/x\": \
                      missing ']' in host";
        check(b"http://[::1/x", expect);
    }

    #[test]
    fn bytes_of_other_encodings_stay_the_same() {
        let first = request(&Method::GET, "http://h/", &[]);
        let next = follow(&first, &first, 302, b"/\xe9").unwrap();
        assert_eq!(next.target.as_str(), "http://h/%E9");
    }
}
