//! Access control: authentication, and protection from other sites in the user's browser.
//!
//! Every page in a browser on the same machine can reach a server on loopback. It can send simple requests blindly (cross-site
//! request forgery). With a domain name that it resolves to loopback (DNS rebinding) it can read the responses, too. Browsers
//! reveal both: the first by a foreign `Origin`, the second by a foreign `Host`.

use std::net::IpAddr;

use http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use http::{HeaderMap, StatusCode};

/// The cookie of browsers that sent the token once.
const COOKIE_NAME: &str = "plimsoll_session";

/// Length of a session's secret, bytes.
const SECRET_BYTES: usize = 32;

/// The status and message of a refused request.
type Denial = (StatusCode, &'static str);

const NO_TOKEN: Denial = (StatusCode::UNAUTHORIZED, "the token is missing or wrong");

/// Admits or refuses requests by their headers.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    door: Option<Door>,
}

/// The credentials of a server that other machines can reach.
#[derive(Clone, Debug)]
struct Door {
    token: String,
    /// The session secret of browsers, random per start; `None` if the system has no random numbers.
    secret: Option<String>,
}

impl Guard {
    pub(crate) fn new(token: Option<&str>) -> Guard {
        Guard { door: token.map(|token| Door { token: token.to_owned(), secret: secret() }) }
    }

    /// Checks that a request carries the token, or the cookie that replaces it.
    ///
    /// # Errors
    /// The status and message of the response.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<(), Denial> {
        match &self.door {
            Some(door) if !door.is_shown_token(headers) && !door.is_shown_cookie(headers) => Err(NO_TOKEN),
            _ => Ok(()),
        }
    }

    /// Checks that a request is meant for this server and comes only from its own page.
    ///
    /// # Errors
    /// The status and message of the response.
    pub(crate) fn check_place(&self, headers: &HeaderMap) -> Result<(), Denial> {
        if is_repeated(headers, &HOST) || is_repeated(headers, &ORIGIN) {
            return Err((StatusCode::BAD_REQUEST, "the request has several Host or Origin headers"));
        }
        let host = text(headers, &HOST).unwrap_or_default();
        if self.door.is_none() && !is_own_name(host) {
            return Err((StatusCode::FORBIDDEN, "the Host header names another machine"));
        }
        let is_foreign =
            |origin: &str| origin.strip_prefix("http://").or(origin.strip_prefix("https://")) != Some(host);
        if text(headers, &ORIGIN).is_some_and(is_foreign) {
            return Err((StatusCode::FORBIDDEN, "the request comes from a page of another site"));
        }
        Ok(())
    }

    /// Returns the cookie for a browser that sends the token; `None` if no token is needed.
    ///
    /// # Errors
    /// The token is missing or wrong.
    pub(crate) fn open(&self, headers: &HeaderMap) -> Result<Option<String>, Denial> {
        let Some(door) = &self.door else { return Ok(None) };
        if !door.is_shown_token(headers) {
            return Err(NO_TOKEN);
        }
        let cookie = |secret| format!("{COOKIE_NAME}={secret}; Path=/; HttpOnly; SameSite=Strict");
        Ok(door.secret.as_ref().map(cookie))
    }
}

impl Door {
    fn is_shown_token(&self, headers: &HeaderMap) -> bool {
        let given = text(headers, &AUTHORIZATION).and_then(|it| it.strip_prefix("Bearer "));
        is_same(given.unwrap_or_default().as_bytes(), self.token.as_bytes())
    }

    fn is_shown_cookie(&self, headers: &HeaderMap) -> bool {
        let Some(secret) = &self.secret else { return false };
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == COOKIE_NAME && is_same(value.as_bytes(), secret.as_bytes()))
    }
}

fn secret() -> Option<String> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn text<'a>(headers: &'a HeaderMap, name: &http::HeaderName) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or_default())
}

fn is_repeated(headers: &HeaderMap, name: &http::HeaderName) -> bool {
    headers.get_all(name).iter().nth(1).is_some()
}

/// Compares in constant time.
pub(crate) fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Returns true if a `Host` header has a name that only this machine can have: a loopback address, or `localhost`.
fn is_own_name(host: &str) -> bool {
    let (name, rest) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some(parts) => parts,
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let has_port = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
    let is_loopback = || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    has_port && (name.eq_ignore_ascii_case("localhost") || is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes both checks of a request to an interface.
    fn both(guard: &Guard, headers: &HeaderMap) -> Result<(), Denial> {
        guard.admit(headers)?;
        guard.check_place(headers)
    }

    #[track_caller]
    fn check(token: Option<&str>, headers: &[(&'static str, &str)], expect: u16) {
        let map = headers
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().expect("a value")));
        let status =
            both(&Guard::new(token), &map.collect()).err().map_or(200, |(status, _)| status.as_u16());
        assert_eq!(status, expect, "{headers:?}");
    }

    #[test]
    fn on_loopback_only_own_names_are_served() {
        for host in ["localhost:6565", "LOCALHOST", "127.0.0.1:1", "[::1]:6565", "[::1]"] {
            check(None, &[("host", host)], 200);
        }
        for host in ["", "evil.example:6565", "localhost.evil.example", "192.0.2.1", "[2001:db8::1]", "::1"] {
            check(None, &[("host", host)], 403);
        }
    }

    #[test]
    fn pages_of_other_sites_are_turned_away() {
        check(None, &[("host", "localhost:6565"), ("origin", "http://localhost:6565")], 200);
        check(None, &[("host", "localhost:6565"), ("origin", "http://localhost:8080")], 403);
        check(None, &[("host", "localhost:6565"), ("origin", "https://evil.example")], 403);
        check(None, &[("host", "localhost:6565"), ("origin", "null")], 403);
    }

    #[test]
    fn a_cookie_stands_for_the_token_that_it_was_given_for() {
        let headers = |pairs: &[(&'static str, &str)]| -> HeaderMap {
            let pair = |(name, value): &(&'static str, &str)| {
                (http::HeaderName::from_static(name), value.parse().expect("a value"))
            };
            pairs.iter().map(pair).collect()
        };
        let guard = Guard::new(Some("s3cret"));
        assert_eq!(guard.open(&headers(&[("authorization", "Bearer wrong")])), Err(NO_TOKEN));
        let cookie = guard.open(&headers(&[("authorization", "Bearer s3cret")])).expect("the token");
        let cookie = cookie.expect("random numbers");
        assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        let pair = cookie.split(';').next().expect("a pair");
        let shown = format!("other=1; {pair}");
        assert_eq!(both(&guard, &headers(&[("host", "runner-1"), ("cookie", &shown)])), Ok(()));
        let wrong = format!("{}0", &pair[..pair.len() - 1]);
        let wrong = if wrong == pair { format!("{}1", &pair[..pair.len() - 1]) } else { wrong };
        assert_eq!(both(&guard, &headers(&[("host", "runner-1"), ("cookie", &wrong)])), Err(NO_TOKEN));
        // A cookie admits no page of another site.
        let foreign = [("host", "runner-1"), ("cookie", pair), ("origin", "http://evil.example")];
        assert_eq!(both(&guard, &headers(&foreign)).err().map(|it| it.0), Some(StatusCode::FORBIDDEN));
        assert_eq!(Guard::new(None).open(&HeaderMap::new()), Ok(None));
    }

    #[test]
    fn a_token_opens_the_door_for_any_name() {
        check(Some("s3cret"), &[("host", "runner-1:6565"), ("authorization", "Bearer s3cret")], 200);
        check(Some("s3cret"), &[("host", "localhost"), ("authorization", "Bearer s3cre")], 401);
        check(Some("s3cret"), &[("host", "localhost"), ("authorization", "Bearer s3cres")], 401);
        check(Some("s3cret"), &[("host", "localhost")], 401);
    }
}
