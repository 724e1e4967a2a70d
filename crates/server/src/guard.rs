//! Who may come in.
//!
//! A server on loopback is reached by every page that the same machine's browser shows. Such a page can send simple
//! requests blindly (cross-site request forgery), and with a name of its own that it lets point here (DNS rebinding) it
//! can read the answers, too. Browsers tell on both: the first carries a foreign `Origin`, the second a foreign `Host`.

use std::net::IpAddr;

use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::{HeaderMap, StatusCode};

/// Decides about requests by their heads.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    token: Option<String>,
}

impl Guard {
    pub(crate) fn new(token: Option<&str>) -> Guard {
        Guard { token: token.map(str::to_owned) }
    }

    /// # Errors
    /// The status and the reason to answer with.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        let host = text(HOST).unwrap_or_default();
        match &self.token {
            Some(token) => {
                let given = text(AUTHORIZATION).and_then(|it| it.strip_prefix("Bearer ")).unwrap_or_default();
                if !is_same(given.as_bytes(), token.as_bytes()) {
                    return Err((StatusCode::UNAUTHORIZED, "the token is missing or wrong"));
                }
            }
            None if !is_own_name(host) => {
                return Err((StatusCode::FORBIDDEN, "the Host header names another machine"));
            }
            None => {}
        }
        let is_foreign =
            |origin: &str| origin.strip_prefix("http://").or(origin.strip_prefix("https://")) != Some(host);
        if text(ORIGIN).is_some_and(is_foreign) {
            return Err((StatusCode::FORBIDDEN, "the request comes from a page of another site"));
        }
        Ok(())
    }
}

/// Compares in a time that tells nothing about where they differ.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Whether a `Host` header names this machine by a name that only it can have: a loopback address, or `localhost`.
fn is_own_name(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(token: Option<&str>, headers: &[(&'static str, &str)], expect: u16) {
        let map = headers
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().expect("a value")));
        let status = Guard::new(token).check(&map.collect()).err().map_or(200, |(status, _)| status.as_u16());
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
    fn a_token_opens_the_door_for_any_name() {
        check(Some("s3cret"), &[("host", "runner-1:6565"), ("authorization", "Bearer s3cret")], 200);
        check(Some("s3cret"), &[("host", "localhost"), ("authorization", "Bearer s3cre")], 401);
        check(Some("s3cret"), &[("host", "localhost"), ("authorization", "Bearer s3cres")], 401);
        check(Some("s3cret"), &[("host", "localhost")], 401);
    }
}
