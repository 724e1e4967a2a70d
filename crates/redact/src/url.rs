//! Addresses without credentials.

use std::borrow::Cow;
use std::fmt;

use crate::HIDDEN;
use crate::names::is_secret_name;

/// Names of parameters that hold credentials and do not sound like it: InfluxDB's password.
const SECRET_PARAMETERS: &[&str] = &["p", "x-amz-credential"];

/// An address as messages show it: without a password, and without the values of secret parameters.
///
/// It shows whatever it is given, also what is no address: `user:password@host` and `host=db password=…` are redacted too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedactedUrl<'a>(pub &'a str);

impl fmt::Display for RedactedUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address is one even where a password holds blanks or quotes.
        let (scheme, rest) = match self.0.find("://") {
            Some(at) => self.0.split_at(at + 3),
            None => ("", self.0),
        };
        f.write_str(scheme)?;
        f.write_str(&without_credentials(rest, scheme.is_empty()))
    }
}

/// The password in an address, where there is one.
pub fn password_in(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("://")?;
    let place = password(rest)?;
    Some(&rest[place]).filter(|password| !password.is_empty())
}

/// A text with every address in it as [`RedactedUrl`] shows it.
pub fn urls_hidden(text: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        let end =
            after.find(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '`' | '<' | '>'));
        let (address, next) = after.split_at(end.unwrap_or(after.len()));
        shown.push_str(before);
        shown.push_str(&without_credentials(address, false));
        rest = next;
    }
    if shown.is_empty() {
        return Cow::Borrowed(text);
    }
    shown.push_str(rest);
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

/// An address behind its scheme. A `bare` one has none, and may be a list of settings.
fn without_credentials(rest: &str, is_bare: bool) -> String {
    let mut shown = rest.to_owned();
    if let Some(place) = password(rest) {
        shown.replace_range(place, HIDDEN);
    }
    let parameters_start = if is_bare { Some(0) } else { shown.find(['?', '#']) };
    let Some(start) = parameters_start.filter(|_| shown.contains('=')) else { return shown };
    let separators: &[char] = if is_bare { &['?', '&', '#', ';', ' '] } else { &['?', '&', '#', ';'] };
    let parts = shown[start..].split_inclusive(separators).map(|part| {
        let (part, separator) = match part.strip_suffix(separators) {
            Some(bare) => (bare, &part[bare.len()..]),
            None => (part, ""),
        };
        match part.split_once('=') {
            Some((name, value)) if is_secret_parameter(name) && !value.is_empty() => {
                format!("{name}={HIDDEN}{separator}")
            }
            _ => format!("{part}{separator}"),
        }
    });
    let parameters: String = parts.collect();
    shown.truncate(start);
    shown + &parameters
}

fn is_secret_parameter(name: &str) -> bool {
    is_secret_name(name) || SECRET_PARAMETERS.contains(&name.to_ascii_lowercase().as_str())
}

/// Where the password stands in an address behind its scheme.
fn password(rest: &str) -> Option<std::ops::Range<usize>> {
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let end = match rest[..authority_end].rfind('@') {
        // A password may hold what ends an authority; better hide a path than show half a password.
        Some(at) if rest[..at].contains(':') => {
            rest[..rest.find(['?', '#']).unwrap_or(rest.len())].rfind('@')?
        }
        Some(at) => at,
        // A password may hold a slash that is not escaped. A number before it is a port, and then what follows is a path.
        None if is_host_and_port(&rest[..authority_end]) => return None,
        None => rest.rfind('@')?,
    };
    match rest[..end].find(':') {
        Some(colon) => Some(colon + 1..end),
        // A user alone may be a token.
        None => is_token(&rest[..end]).then_some(0..end),
    }
}

fn is_host_and_port(authority: &str) -> bool {
    let is_number = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    authority.rsplit_once(':').is_none_or(|(_, port)| is_number(port))
}

/// Whether a user's name is too long and too mixed for a name.
fn is_token(user: &str) -> bool {
    const USER_BYTES_MAX: usize = 20;
    user.len() > USER_BYTES_MAX && user.bytes().any(|byte| byte.is_ascii_digit()) && !user.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lose_their_credentials() {
        for (address, expect) in [
            ("redis://:pw@cache:6379/0", "redis://:(hidden)@cache:6379/0"),
            ("postgresql://shop:p@ss/w:rd@db/shop", "postgresql://shop:(hidden)@db/shop"),
            ("postgres://shop@db/shop", "postgres://shop@db/shop"),
            ("http://u:p w\"x@h", "http://u:(hidden)@h"),
            ("https://ghp_16C7e42F292c6912E7710c838347Ae178B4a@h/x", "https://(hidden)@h/x"),
            ("https://h:8443/@scope/module.js", "https://h:8443/@scope/module.js"),
            ("https://esm.example/@scope/module.js", "https://esm.example/@scope/module.js"),
            (
                "https://h/a?b=1&access_token=x&c#id_token=y",
                "https://h/a?b=1&access_token=(hidden)&c#id_token=(hidden)",
            ),
            ("http://h/write?u=me&p=pw", "http://h/write?u=me&p=(hidden)"),
            ("s3://bucket/p?X-Amz-Signature=abc", "s3://bucket/p?X-Amz-Signature=(hidden)"),
            ("user:pw@host:9090", "user:(hidden)@host:9090"),
            ("host=db user=shop password=pw dbname=x", "host=db user=shop password=(hidden) dbname=x"),
            ("host:9090", "host:9090"),
            ("logs/*.log", "logs/*.log"),
            ("", ""),
        ] {
            assert_eq!(RedactedUrl(address).to_string(), expect, "{address}");
        }
    }

    #[test]
    fn addresses_are_found_in_texts() {
        for (text, expect) in [
            (
                "GET http://u:pw@h/x: refused, then https://h?token=a b",
                "GET http://u:(hidden)@h/x: refused, then https://h?token=(hidden) b",
            ),
            ("invalid \"redis://:pw@h\": why", "invalid \"redis://:(hidden)@h\": why"),
            ("no address: a@b c:d", "no address: a@b c:d"),
        ] {
            assert_eq!(urls_hidden(text), expect);
        }
        assert!(matches!(urls_hidden("see https://example.com/a"), Cow::Borrowed(_)));
    }

    #[test]
    fn passwords_are_found() {
        assert_eq!(password_in("postgres://u:pw@h/d"), Some("pw"));
        assert_eq!(password_in("postgres://u@h/d"), None);
        assert_eq!(password_in("text"), None);
    }
}
