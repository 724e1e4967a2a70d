//! Cookies. The first line is the URL that sets them, each other line a `Set-Cookie` header.

use wire::{CookieAttributes, CookieJar, SetCookie, Target, parse_expires, read_response};

use crate::line_and_rest;

/// When it is, in milliseconds since the Unix epoch: within the years that seeds name.
const NOW_UNIX_MS: i64 = 1_700_000_000_000;

/// A jar holds only pairs that can stand in a header; none goes to a host that its setter was no part of; deleting
/// deletes.
pub fn check(bytes: &[u8]) {
    let (url, headers) = line_and_rest(bytes);
    let Ok(target) = Target::parse(&url) else { return };
    for line in headers.lines() {
        let _ = parse_expires(line);
        let Some(cookie) = SetCookie::parse(line.as_bytes()) else { continue };
        let pair = format!("{}=\"{}\"", cookie.name, cookie.value);
        assert!(
            pair.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b';'),
            "{pair:?} leaves its place"
        );
        let again = SetCookie::parse(pair.as_bytes()).expect("a pair is a cookie");
        assert_eq!((again.name, again.value), (cookie.name, cookie.value));
    }
    let lines: String = headers.lines().map(|line| format!("Set-Cookie: {line}\r\n")).collect();
    let text = format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 0\r\n\r\n");
    let Ok(recorded) = read_response([text.as_bytes()], false) else { return };
    let mut jar = CookieJar::new();
    jar.absorb(&target, &recorded.response.headers, NOW_UNIX_MS);
    let stranger = Target::parse("https://stranger.test/").expect("a URL");
    if !target.host().to_ascii_lowercase().ends_with("test") {
        assert!(jar.cookies_for(&stranger, NOW_UNIX_MS).is_empty(), "a stranger sees cookies of {target}");
    }
    let own = CookieAttributes { path: "/".to_owned(), ..CookieAttributes::default() };
    jar.set(&target, "own", "value", &own, NOW_UNIX_MS);
    assert!(
        jar.cookies_for(&target, NOW_UNIX_MS).contains(&("own", "value")),
        "{target} sees its own cookie"
    );
    jar.delete(&target, "own");
    assert!(jar.cookies_for(&target, NOW_UNIX_MS).iter().all(|(name, _)| *name != "own"));
    jar.clear(&target);
    assert!(jar.cookies_for(&target, NOW_UNIX_MS).is_empty());
}
