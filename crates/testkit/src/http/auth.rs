//! Basic (RFC 7617) and digest (RFC 7616) authentication.

use md5::{Digest, Md5};
use serde_json::json;
use sha2::{Sha256, Sha512_256};

use super::Route;
use crate::reply::Reply;
use crate::request::{Request, percent_decode};

pub(super) const ROUTES: &[Route] =
    &[Route { segment: "basic-auth", answer: basic }, Route { segment: "digest-auth", answer: digest }];

/// The one nonce there is: a test server has nothing to protect from replay.
const NONCE: &str = "dcd98b7102dd2f0e8b11d0f600bfb0c093";
const REALM: &str = "testkit";
const OPAQUE: &str = "5ccc069c403ebaf9f0171e9517f40e41";

/// `/basic-auth/USER/PASSWORD`: 200 with exactly these credentials, 401 without.
fn basic(request: &Request, rest: &[&str]) -> Reply {
    let [user, password] = rest else { return Reply::text(404, "user and password are needed\n") };
    let (user, password) = (percent_decode(user, false), percent_decode(password, false));
    let expect = format!("Basic {}", base64(format!("{user}:{password}").as_bytes()));
    if request.header("authorization").is_some_and(|sent| sent == expect) {
        return Reply::json(200, &json!({"authenticated": true, "user": user}));
    }
    Reply::new(401, &[("www-authenticate", &format!("Basic realm=\"{REALM}\""))], b"")
}

/// `/digest-auth/QOP/USER/PASSWORD[/ALGORITHM]`: QOP is `auth` or `auth-int`; ALGORITHM is `MD5` (the default),
/// `SHA-256`, `SHA-512-256`, or one of them with `-sess`.
fn digest(request: &Request, rest: &[&str]) -> Reply {
    let (qop, user, password, algorithm) = match rest {
        [qop, user, password] => (*qop, *user, *password, "MD5"),
        [qop, user, password, algorithm] => (*qop, *user, *password, *algorithm),
        _ => return Reply::text(404, "quality, user and password are needed\n"),
    };
    let (user, password) = (percent_decode(user, false), percent_decode(password, false));
    let Some(hash) = hash(algorithm) else { return Reply::text(400, "no such algorithm\n") };
    if !["auth", "auth-int"].contains(&qop) {
        return Reply::text(400, "no such quality of protection\n");
    }
    let sent = request.header("authorization").unwrap_or_default().into_owned();
    if let Some(fields) = sent.strip_prefix("Digest ")
        && is_right(request, fields, qop, &user, &password, hash, algorithm.ends_with("-sess"))
    {
        return Reply::json(200, &json!({"authenticated": true, "user": user}));
    }
    let challenge = format!(
        "Digest realm=\"{REALM}\", qop=\"{qop}\", nonce=\"{NONCE}\", opaque=\"{OPAQUE}\", algorithm={algorithm}"
    );
    Reply::new(401, &[("www-authenticate", &challenge)], b"")
}

type Hash = fn(&[u8]) -> String;

fn hash(algorithm: &str) -> Option<Hash> {
    match algorithm.trim_end_matches("-sess") {
        "MD5" => Some(|bytes| hex(&Md5::digest(bytes))),
        "SHA-256" => Some(|bytes| hex(&Sha256::digest(bytes))),
        "SHA-512-256" => Some(|bytes| hex(&Sha512_256::digest(bytes))),
        _ => None,
    }
}

fn is_right(
    request: &Request,
    fields: &str,
    qop: &str,
    user: &str,
    password: &str,
    hash: Hash,
    session: bool,
) -> bool {
    let field = |name: &str| field(fields, name).unwrap_or_default();
    let target = match request.query() {
        "" => request.path().to_owned(),
        query => format!("{}?{query}", request.path()),
    };
    if field("username") != user || field("nonce") != NONCE || field("qop") != qop || field("uri") != target {
        return false;
    }
    let mut secret = hash(format!("{user}:{REALM}:{password}").as_bytes());
    if session {
        secret = hash(format!("{secret}:{NONCE}:{}", field("cnonce")).as_bytes());
    }
    let mut action = format!("{}:{target}", request.method());
    if qop == "auth-int" {
        action = format!("{action}:{}", hash(&request.body));
    }
    let action = hash(action.as_bytes());
    let whole = format!("{secret}:{NONCE}:{}:{}:{qop}:{action}", field("nc"), field("cnonce"));
    field("response") == hash(whole.as_bytes())
}

/// A parameter of a challenge's answer. Our own nonce, realm and targets hold no comma, so a comma separates.
fn field(fields: &str, name: &str) -> Option<String> {
    let values = fields.split(',').filter_map(|field| field.trim().split_once('='));
    values.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value.trim_matches('"').to_owned())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for triple in bytes.chunks(3) {
        let joined = triple.iter().fold(0_u32, |joined, &byte| joined << 8 | u32::from(byte))
            << (8 * (3 - triple.len()));
        for place in 0..4 {
            let sextet = (joined >> (18 - 6 * place)) as usize & 63;
            text.push(if place <= triple.len() { char::from(ALPHABET[sextet]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Client, get};
    use crate::http::start;

    #[test]
    fn base64_vectors_of_the_rfc() {
        for (input, expect) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(input.as_bytes()), expect);
        }
    }

    #[test]
    fn basic_wants_exactly_its_credentials() {
        let server = start();
        assert_eq!(
            get(&server, "/basic-auth/u/p").header("www-authenticate"),
            Some("Basic realm=\"testkit\"")
        );
        for (credentials, expect) in [("dTpw", 200), ("dTpx", 401), ("", 401)] {
            let request =
                format!("GET /basic-auth/u/p HTTP/1.1\r\nAuthorization: Basic {credentials}\r\n\r\n");
            assert_eq!(Client::new(&server).request(&request).status, expect, "{credentials}");
        }
    }

    #[track_caller]
    fn check_digest(target: &str, qop: &str, response: &str, expect: u16) {
        let fields = format!(
            "username=\"u\", realm=\"{REALM}\", nonce=\"{NONCE}\", uri=\"{target}\", qop={qop}, nc=00000001, \
             cnonce=\"c\", response=\"{response}\""
        );
        let request = crate::request::parsed(&format!(
            "GET {target} HTTP/1.1\r\nAuthorization: Digest {fields}\r\n\r\n"
        ));
        let segments: Vec<&str> = target.split(['/', '?']).skip(2).take(4).collect();
        let segments = if target.contains('?') { &segments[..3] } else { &segments };
        assert_eq!(digest(&request, segments).status, expect, "{target}");
    }

    /// The responses were computed with Python's hashlib from RFC 7616, section 3.4.1.
    #[test]
    fn digest_wants_the_right_hash() {
        check_digest("/digest-auth/auth/u/p", "auth", "dfde27b15bdab11ac0b79bb1e9aa9c1b", 200);
        check_digest("/digest-auth/auth/u/p?x=1", "auth", "a5726d64555243fa7d537707b70ed1b7", 200);
        check_digest("/digest-auth/auth-int/u/p", "auth-int", "d4d84f8b23597117a05923caa8d48dfb", 200);
        check_digest(
            "/digest-auth/auth/u/p/SHA-256",
            "auth",
            "7433dfd4fe8abcbe3f0a6fa400eb1034451cd35ec3e5cd14e0c21a304174bde2",
            200,
        );
        check_digest("/digest-auth/auth/u/p/MD5-sess", "auth", "b5ece22922c5e086d1d9b6b84f353e12", 200);
        check_digest(
            "/digest-auth/auth/u/p/SHA-512-256",
            "auth",
            "441d8afd9f99745240be364545fd55501a7b99020baaa3ad70a76fe2a333443d",
            200,
        );
        check_digest("/digest-auth/auth/u/p", "auth", "00000000000000000000000000000000", 401);
        check_digest("/digest-auth/auth/u/p/ROT13", "auth", "", 400);
        check_digest("/digest-auth/none/u/p", "none", "", 400);
    }

    #[test]
    fn digest_challenges() {
        let response = get(&start(), "/digest-auth/auth/u/p/SHA-256");
        assert_eq!(response.status, 401);
        let challenge = response.header("www-authenticate").expect("a challenge");
        assert!(
            challenge.starts_with("Digest realm=\"testkit\", qop=\"auth\"")
                && challenge.ends_with("algorithm=SHA-256")
        );
    }
}
