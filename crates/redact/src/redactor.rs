//! The secrets that are known so far, shared by all that write.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::json;
use crate::names::{is_path, is_secret_name, is_storable, secret_settings};
use crate::scrubber::{Scrubber, headers_hidden, replace};
use crate::url::password_in;

/// Secrets that are searched for. Further ones are not: a script that asks a server for more gets an error before.
const SECRETS_MAX: usize = 20_000;

/// Hides the secrets that are known so far. Clones share them.
#[derive(Clone, Default)]
pub struct Redactor(Arc<Inner>);

#[derive(Default)]
struct Inner {
    has_secrets: AtomicBool,
    secrets: RwLock<Secrets>,
}

#[derive(Default)]
struct Secrets {
    /// Each with whether it was declared.
    known: HashMap<String, bool>,
    /// Each at least twice as large as the next, so that a new secret costs the logarithm of their number.
    layers: Vec<Layer>,
}

struct Layer {
    /// Each with whether it was declared.
    secrets: Vec<(String, bool)>,
    scrubber: Scrubber,
}

impl Layer {
    fn new(secrets: Vec<(String, bool)>) -> Layer {
        let of = |wanted: bool| {
            secrets
                .iter()
                .filter(move |(_, is_declared)| *is_declared == wanted)
                .map(|(secret, _)| secret.as_str())
        };
        let scrubber = Scrubber::new(of(true), of(false));
        Layer { secrets, scrubber }
    }
}

impl Redactor {
    /// Adds values that a source of secrets holds: they mean themselves, and short ones are hidden as whole words.
    pub fn add_declared(&self, secrets: impl IntoIterator<Item = String>) {
        self.add(secrets, true);
    }

    /// Adds values that may mean something else besides, such as a password `shop`: short ones are hidden only where a credential
    /// stands.
    pub fn add_guessed(&self, secrets: impl IntoIterator<Item = String>) {
        self.add(secrets, false);
    }

    /// Adds what is secret in a variable: its value if its name sounds like a secret, and the password of an address.
    pub fn add_variable(&self, name: &str, value: &str) {
        // `AUTH_URL` sounds like a secret, and hiding its value would hide the URLs of a test.
        let is_place = is_path(value) || value.contains("://") && is_storable("", value);
        if is_secret_name(name) && !is_place {
            self.add_guessed([value.to_owned()]);
        }
        let password = password_in(value);
        self.add_guessed(password.map(str::to_owned));
        self.add_guessed(password.and_then(percent_decoded));
    }

    /// Adds what is secret in a word of the command line: values of secret settings, and the password of an address.
    pub fn add_word(&self, word: &str) {
        self.add_guessed(secret_settings(word).filter(|value| !is_path(value)).map(str::to_owned));
        self.add_variable("", word);
    }

    fn add(&self, added: impl IntoIterator<Item = String>, is_declared: bool) {
        let mut guard = self.0.secrets.write().unwrap_or_else(PoisonError::into_inner);
        let secrets = &mut *guard;
        let mut fresh = Vec::new();
        for secret in added {
            // A declared secret is hidden at more places than the same secret as it was guessed.
            let is_known =
                secrets.known.get(&secret).is_some_and(|was_declared| *was_declared >= is_declared);
            if !secret.is_empty() && !is_known && secrets.known.len() < SECRETS_MAX {
                secrets.known.insert(secret.clone(), is_declared);
                fresh.push((secret, is_declared));
            }
        }
        if fresh.is_empty() {
            return;
        }
        while let Some(last) = secrets.layers.pop_if(|last| last.secrets.len() <= fresh.len()) {
            fresh.extend(last.secrets);
        }
        secrets.layers.push(Layer::new(fresh));
        self.0.has_secrets.store(true, Ordering::Release);
    }

    /// Whether no secret is known.
    pub fn is_empty(&self) -> bool {
        !self.0.has_secrets.load(Ordering::Acquire)
    }

    /// The text without secrets and without the values of secret header lines.
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        headers_hidden(self.values_hidden(text))
    }

    /// The text without secrets.
    pub fn values_hidden<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let secrets = self.0.secrets.read().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        secrets.layers.iter().for_each(|layer| layer.scrubber.find(text, &mut found));
        replace(text, found)
    }

    /// A JSON document without secrets in its texts; numbers stay as they are.
    pub fn json_hidden<'a>(&self, document: &'a str) -> Cow<'a, str> {
        if self.is_empty() {
            return Cow::Borrowed(document);
        }
        json::with_texts(document, |text| self.values_hidden(text))
    }

    /// Makes [`Redactor::scrub`] of a text.
    pub fn hide(&self, text: &mut String) {
        if let Cow::Owned(hidden) = self.scrub(text) {
            *text = hidden;
        }
    }
}

/// The text behind percent-escapes; `None` where there are none, or no text.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        bytes.push(u8::from_str_radix(rest.get(at + 1..at + 3)?, 16).ok()?);
        rest = &rest[at + 3..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    (rest.len() < text.len()).then(|| String::from_utf8(bytes).ok()).flatten()
}

/// Secrets stay out of debug output, too.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

/// All are equal: what they hide is no part of the values that they are in.
impl PartialEq for Redactor {
    fn eq(&self, _: &Redactor) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn guessed(secrets: &[&str]) -> Redactor {
        let redactor = Redactor::default();
        redactor.add_guessed(secrets.iter().map(|secret| (*secret).to_owned()));
        redactor
    }

    #[test]
    fn every_spelling_of_a_long_secret_is_hidden() {
        let secret = "s/e\"c r€t7";
        let redactor = guessed(&[secret]);
        let hex: String = secret.bytes().map(|byte| format!("{byte:02X}")).collect();
        let texts = [
            secret.to_owned(),
            "s%2Fe%22c%20r%E2%82%ACt7".to_owned(),
            "s%2fe%22c+r%e2%82%act7".to_owned(),
            "s/e%22c%20r%E2%82%ACt7".to_owned(),
            serde_json::Value::from(secret).to_string(),
            "s\\/e\\\"c r\\u20act7".to_owned(),
            hex.to_lowercase(),
            hex,
        ];
        for text in texts {
            assert!(redactor.scrub(&format!("a{text}b")).contains("(hidden)"), "{text}");
        }
        for before in ["", "a", "ab", "user:"] {
            let text = STANDARD.encode(format!("{before}{secret}tail"));
            assert!(redactor.scrub(&text).contains("(hidden)"), "{before}: {text}");
        }
        assert_eq!(redactor.scrub("nothing of it"), "nothing of it");
    }

    #[test]
    fn short_secrets_hide_no_words() {
        let redactor = guessed(&["plim", "shop"]);
        for (text, expect) in [
            ("plimsoll", "plimsoll"),
            ("plim", "plim"),
            ("postgres://shop:shop@db/shop", "postgres://shop:(hidden)@db/shop"),
            ("host=db user=shop password=shop", "host=db user=shop password=(hidden)"),
            ("PLIMSOLL_DB_PASSWORD=shop", "PLIMSOLL_DB_PASSWORD=(hidden)"),
            ("GET /?t=plim&u=plimsoll", "GET /?t=(hidden)&u=plimsoll"),
            ("x: Bearer plim", "x: Bearer (hidden)"),
            (r#"{"user": "shop", "password": "shop"}"#, r#"{"user": "shop", "password": "(hidden)"}"#),
            ("password='shop'", "password='(hidden)'"),
            ("db_password: shop, host: shop", "db_password: (hidden), host: shop"),
            ("level: shop", "level: shop"),
        ] {
            assert_eq!(redactor.scrub(text), expect, "{text}");
        }
    }

    #[test]
    fn short_declared_secrets_are_hidden_as_words() {
        let redactor = Redactor::default();
        redactor.add_declared(["pin".to_owned(), "1".to_owned(), String::new()]);
        for (text, expect) in [
            ("pin", "(hidden)"),
            ("is pin!", "is (hidden)!"),
            ("xpinx pins", "xpinx pins"),
            ("1 of 1", "1 of 1"),
        ] {
            assert_eq!(redactor.scrub(text), expect, "{text}");
        }
    }

    #[test]
    fn a_guessed_secret_can_be_declared_later() {
        let redactor = guessed(&["pin"]);
        assert_eq!(redactor.scrub("is pin!"), "is pin!");
        redactor.add_declared(["pin".to_owned()]);
        assert_eq!(redactor.scrub("is pin!"), "is (hidden)!");
        redactor.add_guessed(["pin".to_owned()]);
        assert_eq!(redactor.scrub("is pin!"), "is (hidden)!");
    }

    #[test]
    fn secrets_that_overlap_leave_nothing() {
        let redactor = guessed(&["abcdefgh", "efghijkl", "abcdefghij"]);
        assert_eq!(redactor.scrub("<abcdefghijkl>"), "<(hidden)>");
        redactor.add_guessed((0..100).map(|number| format!("secret-{number:04}")));
        assert_eq!(redactor.scrub("secret-0042 abcdefgh"), "(hidden) (hidden)");
    }

    #[test]
    fn header_lines_keep_their_names() {
        for (text, expect) in [
            ("Host: a\r\n  AUTHORIZATION: Basic abc\r\nX: y", "Host: a\r\n  AUTHORIZATION: (hidden)\nX: y"),
            ("Set-Cookie:a=b", "Set-Cookie: (hidden)"),
            ("é: cookie", "é: cookie"),
        ] {
            assert_eq!(Redactor::default().scrub(text), expect);
        }
    }

    #[test]
    fn variables_are_secret_by_name_or_address() {
        let redactor = Redactor::default();
        for (name, value) in [
            ("DB_PASS", "first-one"),
            ("DATABASE_URL", "postgres://u:second%2Done@h/d"),
            ("GREETING", "good morning"),
            ("AUTH_URL", "https://login.example.com"),
            ("TLS_KEY_FILE", "/etc/ssl/private.pem"),
        ] {
            redactor.add_variable(name, value);
        }
        let text = "first-one second-one good morning https://login.example.com /etc/ssl/private.pem";
        let expect = "(hidden) (hidden) good morning https://login.example.com /etc/ssl/private.pem";
        assert_eq!(redactor.scrub(text), expect);
    }

    #[test]
    fn documents_stay_documents_where_a_secret_begins_inside_an_escape() {
        for (secret, document) in
            [("n1234567", r#"{"a":"x\n1234567y"}"#), ("0041abcd", r#"{"a":"\u0041abcd"}"#)]
        {
            let hidden = guessed(&[secret]).json_hidden(document).into_owned();
            assert!(serde_json::from_str::<serde_json::Value>(&hidden).is_ok(), "{hidden}");
        }
        let hidden =
            guessed(&["n1234567", "hush-hush"]).json_hidden(r#"["\n1234567 hush-hush"]"#).into_owned();
        assert_eq!(hidden, r#"["\n1234567 (hidden)"]"#, "a line's end and digits are not the secret");
    }

    #[test]
    fn numbers_of_documents_stay() {
        let redactor = guessed(&["12345678", "hush-hush"]);
        let document = r#"{"a \"hush-hush":12345678,"b":["x12345678","\\"],"c":0.123456789}"#;
        let expect = r#"{"a \"(hidden)":12345678,"b":["x(hidden)","\\"],"c":0.123456789}"#;
        assert_eq!(redactor.json_hidden(document), expect);
    }
}
