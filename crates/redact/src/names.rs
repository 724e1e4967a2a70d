//! Names and shapes: which variables may be stored with their values.
//!
//! A value is stored only if its name does not sound like a secret and its shape can hold none: numbers, durations, sizes, booleans,
//! and addresses without credentials. Words are stored under names that describe a test, such as `PROFILE`.

use std::borrow::Cow;

use crate::HIDDEN;

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
    "bearer",
    "private",
    "signature",
    "dsn",
];

/// Words of names that sound like secrets: `DB_PW`, `dbPass`.
const SECRET_WORDS: &[&str] = &[
    "pass", "pw", "pwd", "jwt", "pin", "otp", "totp", "cred", "creds", "sas", "sig", "header", "headers",
    "code",
];

/// Endings of words that sound like secrets: `PGPASS`, `MYSQLPWD`.
const SECRET_ENDINGS: &[&str] = &["pass", "pwd", "jwt", "creds"];

/// Names that sound like secrets and are none.
const HARMLESS: &[&str] = &[
    "pwd",
    "oldpwd",
    "dbus_session_bus_address",
    "xdg_session_id",
    "xdg_session_type",
    "xdg_session_class",
    "xdg_session_desktop",
    "desktop_session",
    "ssh_auth_sock",
    "session_manager",
];

/// Words whose variables describe a test and may have a word as their value: `PROFILE=smoke`, `TEST_MODE=soak`.
const DESCRIPTIVE_WORDS: &[&str] = &[
    "env",
    "environment",
    "stage",
    "profile",
    "scenario",
    "workload",
    "mode",
    "region",
    "zone",
    "target",
    "variant",
    "level",
    "browser",
    "protocol",
    "method",
    "version",
    "branch",
    "type",
    "lang",
    "locale",
    "executor",
    "format",
    "size",
];

/// The prefixes of the program's own settings.
const OWN_PREFIXES: &[&str] = &["K6_", "PLIMSOLL_"];

/// Longest stored value, bytes.
const VALUE_BYTES_MAX: usize = 128;

/// Most digits of a stored number: more could be an account or a card.
const DIGITS_MAX: usize = 9;

/// Longest word that is stored, and longest part of a stored address, bytes: keys are longer.
const WORD_BYTES_MAX: usize = 24;

/// Units behind numbers.
const UNITS: &[&str] = &[
    "ns", "us", "µs", "ms", "s", "sec", "m", "min", "h", "d", "w", "B", "b", "kB", "KB", "MB", "GB", "TB",
    "KiB", "MiB", "GiB", "TiB", "k", "K", "M", "G", "%", "x", "rps", "vus", "Hz",
];

/// Whether a variable, option, header or parameter of this name is taken for a secret.
pub fn is_secret_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    if HARMLESS.contains(&lower.as_str()) {
        return false;
    }
    SECRET_PARTS.iter().any(|part| lower.contains(part)) || words(name).any(|word| is_secret_word(&word))
}

fn is_secret_word(word: &str) -> bool {
    let is_other = matches!(word, "bypass" | "compass");
    SECRET_WORDS.contains(&word) || !is_other && SECRET_ENDINGS.iter().any(|ending| word.ends_with(ending))
}

/// The words of a name in lowercase: `dbPass`, `DB_PASS` and `db-pass` have two.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        let starts = !letter.is_alphanumeric() || was_lower && letter.is_uppercase();
        if starts {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    words.into_iter().filter(|word| !word.is_empty())
}

/// Whether a variable's value may be stored without being asked for by name.
pub fn is_storable(name: &str, value: &str) -> bool {
    if is_secret_name(name) || value.len() > VALUE_BYTES_MAX {
        return false;
    }
    let is_descriptive = || {
        OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || words(name).any(|word| DESCRIPTIVE_WORDS.contains(&word.as_str()))
    };
    value.is_empty() || is_plain(value) || is_plain_address(value) || is_word(value) && is_descriptive()
}

/// Booleans, and numbers with units, also several: `10s:100,1m:50`.
fn is_plain(value: &str) -> bool {
    let is_truth = ["true", "false", "on", "off", "yes", "no"].contains(&value.to_ascii_lowercase().as_str());
    // Not with blanks: cards and telephone numbers have such.
    is_truth || value.split([',', ':', '/']).all(is_quantity)
}

/// A number, or numbers with units: `-1.5`, `1m30s`, `50%`.
fn is_quantity(text: &str) -> bool {
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut digits_count = 0;
    while !rest.is_empty() {
        let digits = rest.len()
            - rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.').len();
        digits_count += digits;
        let unit = rest[digits..].find(|letter: char| letter.is_ascii_digit()).unwrap_or(rest.len() - digits);
        let unit_text = &rest[digits..digits + unit];
        let is_last = digits + unit == rest.len();
        if digits == 0 || !(UNITS.contains(&unit_text) || unit_text.is_empty() && is_last) {
            return false;
        }
        rest = &rest[digits + unit..];
    }
    (1..=DIGITS_MAX).contains(&digits_count)
}

/// `https://host:1/v1/items`, `host.example:1` and the like. User, password, query and fragment may hold secrets, and so may
/// long parts and parts with capitals or many digits.
fn is_plain_address(value: &str) -> bool {
    let schemes = ["http://", "https://", "ws://", "wss://", "grpc://"];
    let bare = schemes.iter().find_map(|scheme| value.strip_prefix(scheme));
    let has_scheme = bare.is_some();
    let bare = bare.unwrap_or(value);
    let (authority, path) = bare.split_once('/').unwrap_or((bare, ""));
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    let is_port = port.is_none_or(|port| port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit()));
    let is_named = has_scheme || port.is_some() || host == "localhost";
    let is_host = !host.is_empty() && host.split('.').all(is_label);
    is_named && is_port && is_host && path.split('/').all(|part| part.is_empty() || is_label(part))
}

fn is_label(text: &str) -> bool {
    let is_letter =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.');
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    (1..=WORD_BYTES_MAX).contains(&text.len()) && digits <= 4 && text.bytes().all(is_letter)
}

/// One word, `smoke` or `v1.2.3-rc1`.
fn is_word(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    text.len() <= WORD_BYTES_MAX && digits <= 8 && text.bytes().all(is_letter)
}

/// Whether a text looks like the path of a file: the value of `SSL_KEY_FILE` is none of the secrets in it.
pub fn is_path(text: &str) -> bool {
    let is_rooted = ["/", "./", "../", "~/"].iter().any(|root| text.starts_with(root));
    is_rooted && !text.contains(['+', '=', '@', '\n'])
}

/// The values of secret settings in a word of a command line.
pub(crate) fn secret_settings(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        while let Some(equals) = rest.find('=') {
            let (before, after) = (&rest[..equals], &rest[equals + 1..]);
            rest = after;
            if is_secret_setting(before) {
                let value = &after[..value_end(after)];
                let bare = ["Bearer ", "Basic "].iter().find_map(|scheme| value.strip_prefix(scheme));
                return Some(bare.unwrap_or(value));
            }
        }
        None
    })
}

/// Whether the name at the end of a text, before its `=`, is a secret's. Sources of secrets are described in their own way.
fn is_secret_setting(before: &str) -> bool {
    let name = before.rsplit([',', '=', '?', '&', ';', ' ', '"']).next().unwrap_or(before);
    name != "--secret-source" && is_secret_name(name.trim_start_matches('-'))
}

fn value_end(text: &str) -> usize {
    text.find([',', '&', ';', '"']).unwrap_or(text.len())
}

/// A word of a command line without the values of secret settings, `token=…` and `headers.Authorization=Bearer …`, and with its
/// addresses redacted.
pub fn assignments_hidden(word: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut rest = word;
    while let Some(equals) = rest.find('=') {
        let (before, after) = (&rest[..equals], &rest[equals + 1..]);
        let end = if is_secret_setting(before) { value_end(after) } else { 0 };
        shown.push_str(&rest[..=equals]);
        if end > 0 {
            shown.push_str(HIDDEN);
        }
        rest = &after[end..];
    }
    shown.push_str(rest);
    match crate::urls_hidden(&shown) {
        Cow::Borrowed(_) if shown == word => Cow::Borrowed(word),
        Cow::Borrowed(_) => Cow::Owned(shown),
        Cow::Owned(redacted) => Cow::Owned(redacted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_sound_like_secrets() {
        for name in [
            "API_TOKEN",
            "client_secret",
            "DB_PASSWORD",
            "AWS_ACCESS_KEY_ID",
            "Authorization",
            "COOKIE",
            "DB_PASS",
            "PGPASS",
            "DB_PWD",
            "JWT",
            "BEARER",
            "CREDS",
            "dbPass",
            "MYSQL_PW",
            "PIN",
            "X-Amz-Signature",
            "SENTRY_DSN",
            "APIKEY",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "BASE_URL",
            "PWD",
            "LANG",
            "K6_VUS",
            "XDG_SESSION_ID",
            "PASSENGERS",
            "BYPASS_CACHE",
            "RATE",
            "SPIN",
            "DATABASE_URL",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[track_caller]
    fn check(name: &str, values: &[(&str, bool)]) {
        for (value, expect) in values {
            assert_eq!(is_storable(name, value), *expect, "{name}={value}");
        }
    }

    #[test]
    fn values_are_stored_by_name_and_shape() {
        let plain = [
            ("20", true),
            ("-1.5", true),
            ("30s", true),
            ("1m30s", true),
            ("50%", true),
            ("10s:100,1m:0", true),
            ("true", true),
            ("", true),
            ("500MB", true),
            ("http://127.0.0.1:8080", true),
            ("https://test.example/api/v1", true),
            ("localhost:8080", true),
            ("smoke", false),
            ("hunter2", false),
            ("4111111111111111", false),
            ("4111 1111 1111 1111", false),
            ("postgres://u:pw@h", false),
            ("https://u:pw@h", false),
            ("https://h/?token=abc", false),
            ("https://h#abc", false),
            ("https://hooks.example/services/T0GH/B0AB/x9Yz", false),
            ("https://h/4f9d0c1b2a", false),
            ("eyJhbGciOi.eyJzdWIi.c2ln", false),
            ("1a2b3c4d", false),
            ("12 34 x", false),
        ];
        check("THING", &plain);
        check(
            "PROFILE",
            &[
                ("smoke", true),
                ("v1.2.3-rc1", true),
                ("two words", false),
                ("a8f5f167f44f4964e6c998dee827110c", false),
            ],
        );
        check("K6_OUT", &[("json", true), ("influxdb=http://u:p@h/db", false)]);
        check("DB_PASS", &[("20", false), ("", false), ("true", false)]);
    }

    #[test]
    fn words_of_a_command_line_lose_their_secrets() {
        for (word, expect) in [
            ("--tag=token=abc", "--tag=token=(hidden)"),
            (
                "loki=http://u:pw@h/p,header.Authorization=Bearer abc,limit=5",
                "loki=http://u:(hidden)@h/p,header.Authorization=(hidden),limit=5",
            ),
            ("--out=influxdb=http://h/db?u=a&p=pw", "--out=influxdb=http://h/db?u=a&p=(hidden)"),
            ("redis=redis://:pw@h", "redis=redis://:(hidden)@h"),
            ("--duration=30s", "--duration=30s"),
        ] {
            assert_eq!(assignments_hidden(word), expect);
        }
    }
}
