//! Redaction: secrets that must not be in a file that people mail to each other.
//!
//! Names decide: variables, options and header lines whose names sound like secrets, and variables declared to be secret,
//! lose their values. Values that were hidden once, and those that a source of secrets holds, are hidden wherever else they
//! occur: in the command line, options, the script's text, names and tags of series, thresholds, log lines, errors,
//! exemplars and remarks; as they are, and as a URL has them.

use std::borrow::Cow;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::header::{EnvVar, Header};

/// The text in place of a secret.
pub const HIDDEN: &str = "(hidden)";

/// Parts of names that sound like secrets, in lowercase.
const SECRET_PARTS: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "key",
    "auth",
    "cookie",
    "credential",
    "session",
];

/// Names that hold such a part and are no secrets.
const HARMLESS: &[&str] =
    &["dbus_session_bus_address", "xdg_session_id", "xdg_session_type", "ssh_auth_sock"];

/// Header lines, as they are logged, that never keep their values.
const SECRET_HEADERS: &[&str] =
    &["authorization:", "proxy-authorization:", "cookie:", "set-cookie:", "x-api-key:"];

/// Shorter values of variables are not searched for: `1` as a secret would hide every 1. Those that a source of secrets holds
/// are, however short.
const SECRET_BYTES_MIN: usize = 6;

/// The text before and after a short credential: in a URL, and in settings of database drivers.
const CREDENTIAL_PLACES: &[(&str, &str)] =
    &[(":", "@"), ("password=", ""), ("PASSWORD=", ""), ("pwd=", ""), ("token=", ""), ("TOKEN=", "")];

/// Whether a variable, option or header of this name is taken for a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !HARMLESS.contains(&name.as_str()) && SECRET_PARTS.iter().any(|part| name.contains(part))
}

/// The header without secrets, and what hides their values elsewhere.
pub(crate) fn header(header: &Header) -> (Header, Scrubber) {
    let mut header = header.clone();
    let mut secrets = Vec::new();
    for variable in &mut header.environment {
        if is_secret_name(&variable.name) || header.secret_names.contains(&variable.name) {
            secrets.extend(variable.value.take());
        }
    }
    for word in &mut header.command_line {
        hide_assignment(word, &header.secret_names, &mut secrets);
    }
    secrets.retain(|secret| secret.len() >= SECRET_BYTES_MIN && !is_address(secret));
    secrets.append(&mut header.secrets);
    let (long, short) = std::mem::take(&mut header.credentials)
        .into_iter()
        .partition(|it: &String| it.len() >= SECRET_BYTES_MIN);
    secrets.extend::<Vec<String>>(long);
    let scrubber = Scrubber::new(secrets, short);
    header.options_json = options(&header.options_json, &header.secret_names, &scrubber);
    let hide = |text: &mut String| scrubber.hide(text);
    header.command_line.iter_mut().for_each(hide);
    [&mut header.name, &mut header.target_version].into_iter().flatten().for_each(hide);
    hide(&mut header.script);
    header.environment.iter_mut().filter_map(|variable| variable.value.as_mut()).for_each(hide);
    for module in &mut header.modules {
        if module.sha256.is_empty() {
            module.sha256 = hex(&Sha256::digest(module.text.as_bytes()));
        }
        hide(&mut module.path);
        hide(&mut module.text);
    }
    header.report.scenarios.iter_mut().for_each(|scenario| hide(&mut scenario.name));
    for threshold in &mut header.thresholds {
        hide(&mut threshold.selector);
        threshold.conditions.iter_mut().for_each(|condition| hide(&mut condition.source));
    }
    if let Some(study) = &mut header.study {
        [&mut study.name, &mut study.variant].into_iter().chain(&mut study.objectives).for_each(hide);
    }
    header.tags = std::mem::take(&mut header.tags)
        .iter()
        .map(|(name, value)| (scrubber.scrub(name).into_owned(), scrubber.scrub(value).into_owned()))
        .collect();
    (header, scrubber)
}

/// Whether a text is a plain address: `AUTH_URL` sounds like a secret, and hiding its value would hide the URLs of a test.
fn is_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.contains(['@', '?', '#']))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hides secret values in text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scrubber {
    /// The longest first, so that no secret survives because a part of it was replaced.
    secrets: Vec<String>,
    /// Short credentials with the text around them, and the text that replaces both.
    placed: Vec<(String, String)>,
}

impl Scrubber {
    fn new(secrets: Vec<String>, short: Vec<String>) -> Scrubber {
        let mut secrets: Vec<String> = secrets.into_iter().flat_map(spellings).collect();
        secrets.retain(|secret| !secret.is_empty());
        secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        let mut short: Vec<String> = short.into_iter().flat_map(spellings).collect();
        short.retain(|secret| !secret.is_empty());
        let placed = short.iter().flat_map(|secret| {
            let around = |(before, after): &(&str, &str)| {
                (format!("{before}{secret}{after}"), format!("{before}{HIDDEN}{after}"))
            };
            CREDENTIAL_PLACES.iter().map(around).collect::<Vec<_>>()
        });
        Scrubber { secrets, placed: placed.collect() }
    }

    /// Makes [`Scrubber::scrub`] of a text.
    pub(crate) fn hide(&self, text: &mut String) {
        if let Cow::Owned(hidden) = self.scrub(text) {
            *text = hidden;
        }
    }

    /// The text without secret values and without the values of secret header lines.
    pub(crate) fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), HIDDEN));
            }
        }
        for (secret, replacement) in &self.placed {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), replacement));
            }
        }
        // Nearly no text has a colon, and searching for one is quick.
        if text.contains(':') && text.lines().any(|line| secret_header(line).is_some()) {
            text = Cow::Owned(text.split('\n').map(hide_header).collect::<Vec<_>>().join("\n"));
        }
        text
    }
}

/// A secret as it is, and as URLs have it: in a form, where a blank is a plus, in one segment of a path or value of a query,
/// and in a path of several segments, where what has a meaning in URLs stays.
fn spellings(secret: String) -> Vec<String> {
    let escaped = |blank: &str, kept: &str| {
        let bytes = secret.bytes().map(|byte| match char::from(byte) {
            ' ' => blank.to_owned(),
            letter if letter.is_ascii_alphanumeric() || kept.contains(letter) => letter.to_string(),
            _ => format!("%{byte:02X}"),
        });
        bytes.collect::<String>()
    };
    let segment = "-_.~";
    let path = "-_.~!$&'()*+,;=:@/?";
    vec![escaped("+", segment), escaped("%20", segment), escaped("%20", path), secret]
}

/// How long the name of a secret header is, with what stands before it, if the line is one.
fn secret_header(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start().len();
    let is_start_of =
        |name: &&&str| line[indent..].get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
    SECRET_HEADERS.iter().find(is_start_of).map(|name| indent + name.len())
}

fn hide_header(line: &str) -> Cow<'_, str> {
    match secret_header(line) {
        Some(end) => Cow::Owned(format!("{} {HIDDEN}", &line[..end])),
        None => Cow::Borrowed(line),
    }
}

/// Hides the value in `NAME=value`, `--env=NAME=value` and `-eNAME=value`.
fn hide_assignment(word: &mut String, declared: &[String], secrets: &mut Vec<String>) {
    let flag = ["--env=", "-e"].iter().find(|flag| word.starts_with(**flag)).map_or(0, |flag| flag.len());
    let Some(equals) = word[flag..].find('=').map(|at| flag + at) else { return };
    let name = &word[flag..equals];
    if is_secret_name(name) || declared.iter().any(|known| known == name) {
        secrets.push(word[equals + 1..].to_owned());
        word.replace_range(equals + 1.., HIDDEN);
    }
}

/// Options without the texts under secret names. What is no JSON is nothing we wrote, and is not kept.
fn options(json: &str, declared: &[String], scrubber: &Scrubber) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(json) else { return String::new() };
    hide_values(&mut value, declared, scrubber);
    value.to_string()
}

/// Only texts are searched: digits of a number that is a secret by chance would leave no JSON.
fn hide_values(value: &mut Value, declared: &[String], scrubber: &Scrubber) {
    match value {
        Value::Object(members) => {
            let hidden = std::mem::take(members).into_iter().map(|(name, mut member)| {
                let is_secret = is_secret_name(&name) || declared.contains(&name);
                match &mut member {
                    Value::String(text) if is_secret => *text = HIDDEN.into(),
                    member => hide_values(member, declared, scrubber),
                }
                (scrubber.scrub(&name).into_owned(), member)
            });
            members.extend(hidden.collect::<Vec<_>>());
        }
        Value::Array(items) => items.iter_mut().for_each(|item| hide_values(item, declared, scrubber)),
        Value::String(text) => scrubber.hide(text),
        _ => {}
    }
}

impl EnvVar {
    /// A variable with its value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> EnvVar {
        EnvVar { name: name.into(), value: Some(value.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_sound_like_secrets() {
        for name in
            ["API_TOKEN", "client_secret", "DB_PASSWORD", "AWS_ACCESS_KEY_ID", "Authorization", "COOKIE"]
        {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["BASE_URL", "PWD", "LANG", "K6_VUS", "XDG_SESSION_ID"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let (_, scrubber) = header(&Header {
            environment: vec![EnvVar::new("API_TOKEN", "hunter22"), EnvVar::new("PIN_KEY", "1")],
            ..Header::default()
        });
        assert_eq!(scrubber.scrub(text), expect, "{text}");
    }

    #[test]
    fn hidden_values_are_hidden_everywhere() {
        check("GET /?t=hunter22&u=hunter22", "GET /?t=(hidden)&u=(hidden)");
        check("1 of 1", "1 of 1");
        check("Host: a\r\n  AUTHORIZATION: Basic abc\r\nX: y", "Host: a\r\n  AUTHORIZATION: (hidden)\nX: y");
        check("Set-Cookie:a=b", "Set-Cookie: (hidden)");
        check("é: cookie", "é: cookie");
    }

    #[test]
    fn a_declared_secret_is_hidden_however_short_and_as_urls_have_it() {
        let secrets = vec!["pin".to_owned(), "a/b c".to_owned(), String::new()];
        let facts = Header {
            name: Some("with pin".into()),
            options_json: r#"{"vus":1,"tags":{"pin":"xpinx"},"pins":["a/b c"]}"#.into(),
            thresholds: vec![crate::ThresholdFacts { selector: "m{n:pin}".into(), ..Default::default() }],
            modules: vec![crate::Module { text: "const p = 'pin'".into(), ..Default::default() }],
            tags: [("pin".to_owned(), "pin".to_owned())].into(),
            secrets,
            ..Header::default()
        };
        let (hidden, scrubber) = header(&facts);
        assert_eq!(hidden.secrets, Vec::<String>::new());
        assert_eq!(hidden.name.as_deref(), Some("with (hidden)"));
        let expect = r#"{"vus":1,"tags":{"(hidden)":"x(hidden)x"},"(hidden)s":["(hidden)"]}"#;
        let parsed = |json: &str| serde_json::from_str::<Value>(json).expect("JSON");
        assert_eq!(parsed(&hidden.options_json), parsed(expect));
        assert_eq!(hidden.thresholds[0].selector, "m{n:(hidden)}");
        assert_eq!(hidden.modules[0].text, "const p = '(hidden)'");
        // Of the text as it was, so that it can be compared with the user's own file.
        assert!(hidden.modules[0].sha256.starts_with(&hex(&Sha256::digest("const p = 'pin'"))));
        assert_eq!(hidden.tags, [("(hidden)".to_owned(), "(hidden)".to_owned())].into());
        for text in ["/a%2Fb%20c?", "/a%2Fb+c?", "/a/b%20c?", "/a/b c?"] {
            assert_eq!(scrubber.scrub(text), "/(hidden)?", "{text}");
        }
    }

    #[test]
    fn a_short_credential_hides_no_names() {
        let credentials = vec!["shop".to_owned(), "long-enough".to_owned()];
        let facts = Header { name: Some("shop".into()), credentials, ..Header::default() };
        let (hidden, scrubber) = header(&facts);
        assert_eq!((hidden.name.as_deref(), hidden.credentials.len()), (Some("shop"), 0));
        for (text, expect) in [
            ("shop", "shop"),
            ("postgres://shop:shop@db/shop", "postgres://shop:(hidden)@db/shop"),
            ("host=db user=shop password=shop", "host=db user=shop password=(hidden)"),
            ("PLIMSOLL_DB_PASSWORD=shop", "PLIMSOLL_DB_PASSWORD=(hidden)"),
            ("long-enough of shop", "(hidden) of shop"),
        ] {
            assert_eq!(scrubber.scrub(text), expect, "{text}");
        }
    }

    #[test]
    fn an_address_hides_no_urls() {
        for (value, expect) in [
            ("https://login.example.com", "GET https://login.example.com/a"),
            ("https://me:pass@login.example.com", "GET (hidden)/a"),
            ("https://login.example.com?token=1", "GET (hidden)/a"),
        ] {
            let environment = vec![EnvVar::new("AUTH_URL", value)];
            let (header, scrubber) = header(&Header { environment, ..Header::default() });
            assert_eq!(header.environment[0].value, None);
            assert_eq!(scrubber.scrub(&format!("GET {value}/a")), expect);
        }
    }

    #[test]
    fn a_header_loses_its_secrets() {
        let words = ["run", "-e", "MY_TOKEN=abcdefg", "--env=SEED=s3cr3t!", "-eA=1", "abcdefg.js"];
        let options =
            r#"{"vus":1.5,"tlsAuth":[{"key":"PEM"}],"scenarios":{"keys":{"env":{"SEED":"x","A":"1"}}}}"#;
        let (header, _) = header(&Header {
            environment: vec![EnvVar::new("SEED", "s3cr3t!"), EnvVar::new("A", "1")],
            secret_names: vec!["SEED".into()],
            command_line: words.map(String::from).to_vec(),
            options_json: options.into(),
            ..Header::default()
        });
        assert_eq!(header.environment[0].value, None);
        assert_eq!(header.environment[1].value.as_deref(), Some("1"));
        let expect = ["run", "-e", "MY_TOKEN=(hidden)", "--env=SEED=(hidden)", "-eA=1", "(hidden).js"];
        assert_eq!(header.command_line, expect);
        let hidden: Value = serde_json::from_str(&header.options_json).expect("JSON");
        let expect = r#"{"vus":1.5,"tlsAuth":[{"key":"(hidden)"}],
            "scenarios":{"keys":{"env":{"SEED":"(hidden)","A":"1"}}}}"#;
        assert_eq!(hidden, serde_json::from_str::<Value>(expect).expect("JSON"));
    }
}
