//! What must not be in a file that people mail to each other.
//!
//! Names decide: variables, options and header lines whose names sound like secrets, and variables declared to be secret,
//! lose their values. Values that were hidden once are hidden wherever else they occur: in the command line, the options,
//! log lines, errors and exemplars.

use std::borrow::Cow;

use serde_json::Value;

use crate::header::{EnvVar, Header};

/// What stands where a secret was.
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

/// Shorter values are not searched for: `1` as a secret would hide every 1.
const SECRET_BYTES_MIN: usize = 6;

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
    let scrubber = Scrubber::new(secrets);
    for word in &mut header.command_line {
        *word = scrubber.scrub(word).into_owned();
    }
    header.options_json = scrubber.scrub(&options(&header.options_json, &header.secret_names)).into_owned();
    header.script = scrubber.scrub(&header.script).into_owned();
    (header, scrubber)
}

/// Hides secret values in text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scrubber {
    /// The longest first, so that no secret survives because a part of it was replaced.
    secrets: Vec<String>,
}

impl Scrubber {
    fn new(mut secrets: Vec<String>) -> Scrubber {
        secrets.retain(|secret| secret.len() >= SECRET_BYTES_MIN);
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Scrubber { secrets }
    }

    /// The text without secret values and without the values of secret header lines.
    pub(crate) fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), HIDDEN));
            }
        }
        if text.lines().any(|line| secret_header(line).is_some()) {
            text = Cow::Owned(text.split('\n').map(hide_header).collect::<Vec<_>>().join("\n"));
        }
        text
    }
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
fn options(json: &str, declared: &[String]) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(json) else { return String::new() };
    hide_values(&mut value, declared);
    value.to_string()
}

fn hide_values(value: &mut Value, declared: &[String]) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let is_secret = is_secret_name(name) || declared.contains(name);
                match member {
                    Value::String(text) if is_secret => *text = HIDDEN.into(),
                    member => hide_values(member, declared),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| hide_values(item, declared)),
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
