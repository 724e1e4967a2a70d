//! Digest authentication (RFC 7616).

use std::fmt::Write as _;

use md5::{Digest as _, Md5};
use sha2::{Sha256, Sha512_256};

use crate::headers::Headers;
use crate::random::to_hex;
use crate::request::Request;

/// Bytes of one `WWW-Authenticate` header that are looked at.
const CHALLENGE_BYTES_MAX: usize = 8 << 10;

/// Random bytes in a client nonce.
const CNONCE_BYTES: usize = 16;

/// A server's challenge that can be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Algorithm,
    is_session: bool,
    /// The algorithm as the server spelled it; `None` where it named none.
    algorithm_name: Option<String>,
    protection: Protection,
    hides_user: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Md5,
    Sha256,
    Sha512_256,
}

/// The quality of protection (`qop`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protection {
    /// As RFC 2069: the server knows nothing else.
    Legacy,
    Auth,
    AuthInt,
}

impl Challenge {
    /// The first challenge of a response that can be answered, as RFC 7616 (3.7) asks; `None` if there is none.
    pub(crate) fn from_headers(headers: &Headers) -> Option<Challenge> {
        headers.get_all("www-authenticate").find_map(|value| {
            let value = value.get(..CHALLENGE_BYTES_MAX).unwrap_or(value);
            let value = String::from_utf8_lossy(value);
            challenges(&value).iter().find_map(|given| Challenge::parse(given))
        })
    }

    /// The `Authorization` that answers this challenge for `request`; the first use of its nonce, because every
    /// request gets a challenge of its own, as in k6.
    pub(crate) fn answer(&self, request: &Request, user: &str, password: &str) -> String {
        self.answer_with(request, user, password, &crate::random::hex(CNONCE_BYTES))
    }

    fn parse(given: &Given<'_>) -> Option<Challenge> {
        if !given.scheme.eq_ignore_ascii_case("digest") {
            return None;
        }
        let algorithm_name = given.get("algorithm");
        let (base, is_session) = match algorithm_name.as_deref() {
            None => ("MD5", false),
            Some(name) => match name.len().checked_sub(5).map(|at| (name.get(..at), name.get(at..))) {
                Some((Some(base), Some(end))) if end.eq_ignore_ascii_case("-sess") => (base, true),
                _ => (name, false),
            },
        };
        let algorithm = match () {
            () if base.eq_ignore_ascii_case("MD5") => Algorithm::Md5,
            () if base.eq_ignore_ascii_case("SHA-256") => Algorithm::Sha256,
            () if base.eq_ignore_ascii_case("SHA-512-256") => Algorithm::Sha512_256,
            () => return None,
        };
        let protection = match given.get("qop") {
            None => Protection::Legacy,
            Some(offered) => {
                let offers =
                    |name: &str| offered.split(',').any(|item| item.trim().eq_ignore_ascii_case(name));
                match () {
                    () if offers("auth") => Protection::Auth,
                    () if offers("auth-int") => Protection::AuthInt,
                    () => return None,
                }
            }
        };
        Some(Challenge {
            realm: given.get("realm")?,
            nonce: given.get("nonce")?,
            opaque: given.get("opaque"),
            algorithm,
            is_session,
            protection,
            hides_user: given.get("userhash").is_some_and(|value| value.eq_ignore_ascii_case("true")),
            algorithm_name,
        })
    }

    /// RFC 7616, 3.4: with a chosen client nonce.
    fn answer_with(&self, request: &Request, user: &str, password: &str, cnonce: &str) -> String {
        const NONCE_COUNT: &str = "00000001";
        let hash = |text: &str| self.algorithm.hash(text.as_bytes());
        let (realm, nonce) = (&self.realm, &self.nonce);
        let (method, uri) = (request.method.as_str(), request.target.path_and_query());

        let mut secret = hash(&format!("{user}:{realm}:{password}"));
        if self.is_session {
            secret = hash(&format!("{secret}:{nonce}:{cnonce}"));
        }
        let (qop, what) = match self.protection {
            Protection::Legacy => (None, hash(&format!("{method}:{uri}"))),
            Protection::Auth => (Some("auth"), hash(&format!("{method}:{uri}"))),
            Protection::AuthInt => {
                let body = self.algorithm.hash(request.body.as_bytes());
                (Some("auth-int"), hash(&format!("{method}:{uri}:{body}")))
            }
        };
        let response = match qop {
            None => hash(&format!("{secret}:{nonce}:{what}")),
            Some(qop) => hash(&format!("{secret}:{nonce}:{NONCE_COUNT}:{cnonce}:{qop}:{what}")),
        };
        let shown_user = if self.hides_user { hash(&format!("{user}:{realm}")) } else { user.to_owned() };

        let mut answer = format!("Digest username=\"{}\"", escaped(&shown_user));
        let mut push = |name: &str, value: &str| {
            // Writing to a `String` cannot fail.
            let _ = write!(answer, ", {name}={value}");
        };
        let in_quotes = |value: &str| format!("\"{}\"", escaped(value));
        push("realm", &in_quotes(realm));
        push("nonce", &in_quotes(nonce));
        push("uri", &in_quotes(uri));
        push("response", &in_quotes(&response));
        if let Some(name) = &self.algorithm_name {
            push("algorithm", name);
        }
        if let Some(opaque) = &self.opaque {
            push("opaque", &in_quotes(opaque));
        }
        if let Some(qop) = qop {
            push("qop", qop);
            push("nc", NONCE_COUNT);
        }
        if qop.is_some() || self.is_session {
            push("cnonce", &in_quotes(cnonce));
        }
        if self.hides_user {
            push("userhash", "true");
        }
        answer
    }
}

impl Algorithm {
    fn hash(self, bytes: &[u8]) -> String {
        match self {
            Algorithm::Md5 => to_hex(&Md5::digest(bytes)),
            Algorithm::Sha256 => to_hex(&Sha256::digest(bytes)),
            Algorithm::Sha512_256 => to_hex(&Sha512_256::digest(bytes)),
        }
    }
}

/// One challenge as given: a scheme and its parameters.
struct Given<'a> {
    scheme: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl Given<'_> {
    /// The value of `name` without its quotes.
    fn get(&self, name: &str) -> Option<String> {
        let found = self.parameters.iter().find(|(given, _)| given.eq_ignore_ascii_case(name));
        found.map(|(_, value)| unquoted(value))
    }
}

/// The challenges of one header (RFC 9110, 11.6.1): an item whose name follows another word starts a new one.
fn challenges(value: &str) -> Vec<Given<'_>> {
    let mut challenges: Vec<Given<'_>> = Vec::new();
    for item in items(value) {
        let (left, right) = item.split_once('=').map_or((item, None), |(left, right)| (left, Some(right)));
        let left = left.trim();
        let (scheme, name) = match (left.split_once([' ', '\t']), right) {
            (Some((scheme, name)), _) => (Some(scheme), name.trim()),
            (None, Some(_)) => (None, left),
            (None, None) => (Some(left), ""),
        };
        if let Some(scheme) = scheme {
            challenges.push(Given { scheme, parameters: Vec::new() });
        }
        if let (Some(challenge), Some(right)) = (challenges.last_mut(), right) {
            challenge.parameters.push((name, right.trim()));
        }
    }
    challenges
}

/// The items of a comma-separated list whose strings may contain commas.
fn items(value: &str) -> impl Iterator<Item = &str> {
    let mut in_string = false;
    let mut is_escaped = false;
    let items = value.split(move |c: char| {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if in_string => is_escaped = true,
            '"' => in_string = !in_string,
            ',' if !in_string => return true,
            _ => {}
        }
        false
    });
    items.map(str::trim).filter(|item| !item.is_empty())
}

fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"') else { return value.to_owned() };
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut is_escaped = false;
    let kept = inner.chars().filter(|c| {
        is_escaped = !is_escaped && *c == '\\';
        !is_escaped
    });
    kept.collect()
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use model::Instant;
    use proptest::prelude::*;

    use super::*;
    use crate::request::{Body, Method};
    use crate::target::Target;

    fn challenge(value: &str) -> Option<Challenge> {
        let head = format!("HTTP/1.1 401 X\r\nWWW-Authenticate: {value}\r\n\r\n");
        Challenge::from_headers(&Headers::new(head.into(), Default::default()))
    }

    fn request(path: &str) -> Request {
        let target = Target::parse(&format!("http://www.example.org{path}")).unwrap();
        Request::new(Method::GET, target, Instant::MAX)
    }

    fn response(answer: &str) -> &str {
        let at = answer.find("response=\"").unwrap() + "response=\"".len();
        answer[at..].split('"').next().unwrap()
    }

    /// RFC 7616, 3.9.1.
    #[test]
    fn the_examples_of_the_rfc_are_answered() {
        let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v";
        let opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS";
        let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        let check = |algorithm: &str, expect: &str| {
            let given = format!(
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm={algorithm}, \
                 nonce=\"{nonce}\", opaque=\"{opaque}\""
            );
            let request = request("/dir/index.html");
            let answer = challenge(&given).unwrap().answer_with(&request, "Mufasa", "Circle of Life", cnonce);
            let whole = format!(
                "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", nonce=\"{nonce}\", \
                 uri=\"/dir/index.html\", response=\"{expect}\", algorithm={algorithm}, opaque=\"{opaque}\", \
                 qop=auth, nc=00000001, cnonce=\"{cnonce}\""
            );
            assert_eq!(answer, whole);
        };
        check("MD5", "8ca523f5e9506fed4657c9700eebdbec");
        check("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1");
    }

    /// RFC 7616, 3.9.2.
    #[test]
    fn users_are_hidden_where_the_server_asks_for_it() {
        let given = challenge(
            "Digest realm=\"api@example.org\", qop=\"auth\", algorithm=SHA-512-256, \
             nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\", \
             opaque=\"HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS\", charset=UTF-8, userhash=true",
        );
        let cnonce = "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm";
        let answer =
            given.unwrap().answer_with(&request("/doe.json"), "Jäsøn Doe", "Secret, or not?", cnonce);
        // The RFC's own figures were made with another truncation of SHA-512; these are Python's `sha512_256`.
        assert!(
            answer.starts_with(
                "Digest username=\"793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b\", "
            ),
            "{answer}"
        );
        assert_eq!(response(&answer), "7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c");
        assert!(answer.ends_with(", userhash=true"), "{answer}");
    }

    #[test]
    fn answers_without_protection_are_those_of_rfc_2069() {
        // HA1 = MD5("u:r:p"), HA2 = MD5("GET:/"), response = MD5(HA1:n:HA2).
        let answer = challenge("Digest realm=\"r\", nonce=\"n\"").unwrap();
        let answer = answer.answer_with(&request("/"), "u", "p", "c");
        let hash = |text: String| Algorithm::Md5.hash(text.as_bytes());
        let expect = hash(format!("{}:n:{}", hash("u:r:p".to_owned()), hash("GET:/".to_owned())));
        assert_eq!(response(&answer), expect);
        assert!(!answer.contains("cnonce") && !answer.contains("algorithm"), "{answer}");
    }

    #[test]
    fn sessions_and_bodies_change_the_answer() {
        let answer = |parameters: &str, body: &'static str| {
            let given = format!("Digest realm=\"r\", nonce=\"n\", {parameters}");
            let mut request = request("/");
            request.body = Body::Bytes(Bytes::from_static(body.as_bytes()));
            challenge(&given).unwrap().answer_with(&request, "u", "p", "c")
        };
        let hash = |text: &str| Algorithm::Md5.hash(text.as_bytes());
        let session = hash(&format!("{}:n:c", hash("u:r:p")));
        let expect = hash(&format!("{session}:n:00000001:c:auth:{}", hash("GET:/")));
        assert_eq!(response(&answer("qop=auth, algorithm=MD5-sess", "")), expect);
        let what = hash(&format!("GET:/:{}", hash("body")));
        let expect = hash(&format!("{}:n:00000001:c:auth-int:{what}", hash("u:r:p")));
        assert_eq!(response(&answer("qop=\"auth-int\"", "body")), expect);
    }

    #[test]
    fn challenges_are_found_among_others() {
        let check = |given: &str, expect: Option<(&str, &str)>| {
            let seen = challenge(given);
            let seen = seen.as_ref().map(|challenge| (challenge.realm.as_str(), challenge.nonce.as_str()));
            assert_eq!(seen, expect, "{given}");
        };
        check("digest REALM=r, Nonce=n", Some(("r", "n")));
        check("Digest realm=\"a, \\\"b\\\\\", nonce=\"n\"", Some(("a, \"b\\", "n")));
        check("Basic realm=\"x\", Digest realm=\"r\",nonce=\"n\" , Negotiate", Some(("r", "n")));
        check("Negotiate, Digest realm=\"r\", nonce=\"n\"", Some(("r", "n")));
        check("Negotiate abc==, Digest realm=\"r\", nonce=\"n\"", Some(("r", "n")));
        let unknown_first = "Digest realm=\"x\", nonce=\"m\", algorithm=FOO, Digest realm=\"r\", nonce=\"n\"";
        check(unknown_first, Some(("r", "n")));
        check("Basic realm=\"x\"", None);
        check("Digest nonce", None);
        check("Digest realm=\"r\"", None);
        check("Digest realm=\"r\", nonce=\"n\", qop=\"other\"", None);
        check("", None);
    }

    #[test]
    fn names_cannot_break_out_of_their_quotes() {
        let answer =
            challenge("Digest realm=\"r\", nonce=\"n\"").unwrap().answer(&request("/"), "a\"b\\", "p");
        assert!(answer.starts_with("Digest username=\"a\\\"b\\\\\", realm"), "{answer}");
    }

    proptest! {
        #[test]
        fn hostile_challenges_never_panic(value: String) {
            let _ = challenge(&format!("Digest realm=r, nonce=n, {value}"));
            let _ = challenge(&value);
        }
    }
}
