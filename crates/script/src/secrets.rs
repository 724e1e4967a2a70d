//! Secrets: where `k6/secrets` finds them, and how they are kept out of what is written.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use model::LogLine;

use crate::callbacks::Log;

/// What stands in the place of a secret, as in k6.
const REDACTED: &str = "***SECRET_REDACTED***";

/// Secrets that are looked for in what is written. A script that asks for more gets none.
const KNOWN_MAX: usize = 10_000;

/// The sources of secrets that the user named, and the secrets that scripts have asked for.
#[derive(Default)]
pub struct Secrets {
    sources: BTreeMap<String, BTreeMap<String, String>>,
    /// Secrets that scripts have seen, the longest first: one may be part of another.
    known: RwLock<Vec<String>>,
    has_known: AtomicBool,
}

/// Why secrets cannot be had. Reads after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// There is no such kind of source.
    #[error("use the secret source {0:?}: its kind is neither file nor mock")]
    Kind(String),
    /// Two sources have one name.
    #[error("use two secret sources of the name {0:?}")]
    Name(String),
    /// A line or an entry is no assignment.
    #[error("read the secret source: {0:?} is no KEY=VALUE")]
    Entry(String),
    /// A file cannot be read.
    #[error("read the secrets in {path:?}: {source}")]
    File {
        /// Its path.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

impl Secrets {
    /// Reads the sources as `--secret-source` gives them: `file=PATH` and `mock=KEY=VALUE,…`, each with `name=NAME` and
    /// `default` among its entries where there are several. The only source is the default.
    ///
    /// # Errors
    /// A source cannot be read.
    pub fn read(given: &[String]) -> Result<Secrets, SecretsError> {
        let mut sources = BTreeMap::new();
        for source in given {
            let (kind, config) = source.split_once('=').unwrap_or((source, ""));
            let made = match kind {
                "file" => of_file(config)?,
                "mock" => of_mock(config)?,
                _ => return Err(SecretsError::Kind(source.clone())),
            };
            let names = [made.name, (made.is_default || given.len() == 1).then(|| "default".to_owned())];
            for name in names.into_iter().flatten() {
                if sources.insert(name.clone(), made.values.clone()).is_some() {
                    return Err(SecretsError::Name(name));
                }
            }
        }
        Ok(Secrets { sources, ..Secrets::default() })
    }

    /// Every secret of every source, whether or not a script has asked for it.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.sources.values().flat_map(BTreeMap::values).map(String::as_str)
    }

    /// A secret of a source; from now on it is hidden.
    ///
    /// # Errors
    /// k6's text: there is no such source, or no such secret.
    pub(crate) fn get(&self, source: &str, key: &str) -> Result<String, String> {
        let value = self.source(source)?.get(key).ok_or("no value")?;
        if self.remember(value) { Ok(value.clone()) } else { Err("too many secrets".into()) }
    }

    /// The source of that name.
    ///
    /// # Errors
    /// As for [`Secrets::get`].
    pub(crate) fn source(&self, name: &str) -> Result<&BTreeMap<String, String>, String> {
        if self.sources.is_empty() {
            return Err("no secret sources are configured".into());
        }
        self.sources.get(name).ok_or_else(|| format!("no secret source with name \"{name}\" is configured"))
    }

    fn remember(&self, value: &str) -> bool {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        // An empty text is everywhere and hides nothing.
        if value.is_empty() || known.iter().any(|secret| secret == value) {
            return true;
        }
        if known.len() >= KNOWN_MAX {
            return false;
        }
        known.push(value.to_owned());
        known.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        self.has_known.store(true, Ordering::Release);
        true
    }

    /// The text with every secret hidden that a script has seen.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.has_known.load(Ordering::Acquire) {
            return Cow::Borrowed(text);
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.iter().fold(Cow::Borrowed(text), |text, secret| {
            if text.contains(secret) { Cow::Owned(text.replace(secret, REDACTED)) } else { text }
        })
    }
}

/// A source as it was given.
#[derive(Default)]
struct Given {
    name: Option<String>,
    is_default: bool,
    values: BTreeMap<String, String>,
}

impl Given {
    /// Takes the entries that every kind has; `false` for one of the source's own.
    fn takes(&mut self, entry: &str) -> bool {
        match entry.split_once('=') {
            Some(("name", name)) => self.name = Some(name.to_owned()),
            None if entry == "default" => self.is_default = true,
            _ => return false,
        }
        true
    }

    fn assign(&mut self, entry: &str) -> Result<(), SecretsError> {
        let (key, value) = entry.split_once('=').ok_or_else(|| SecretsError::Entry(entry.to_owned()))?;
        self.values.insert(key.to_owned(), value.to_owned());
        Ok(())
    }
}

fn of_mock(config: &str) -> Result<Given, SecretsError> {
    let mut given = Given::default();
    for entry in config.split(',') {
        if !given.takes(entry) {
            given.assign(entry)?;
        }
    }
    Ok(given)
}

fn of_file(config: &str) -> Result<Given, SecretsError> {
    let mut given = Given::default();
    let mut path = "";
    for entry in config.split(',') {
        if !given.takes(entry) {
            path = entry.strip_prefix("filename=").unwrap_or(entry);
        }
    }
    let text = std::fs::read_to_string(path)
        .map_err(|source| SecretsError::File { path: path.to_owned(), source })?;
    for line in text.lines() {
        given.assign(line)?;
    }
    Ok(given)
}

/// A log that secrets do not reach.
pub(crate) struct Redacting {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) secrets: Arc<Secrets>,
}

impl Log for Redacting {
    fn log(&self, mut line: LogLine) {
        if let Cow::Owned(message) = self.secrets.redact(&line.message) {
            line.message = message;
        }
        self.log.log(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(given: &[&str]) -> Result<Secrets, SecretsError> {
        Secrets::read(&given.iter().map(|source| (*source).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn sources_by_name() {
        let check = |given: &[&str], source: &str, key: &str, expect: Result<&str, &str>| {
            let got = secrets(given).unwrap().get(source, key);
            assert_eq!(got.as_deref().map_err(String::as_str), expect, "{given:?}");
        };
        check(&["mock=a=1,b=x=y"], "default", "b", Ok("x=y"));
        check(&["mock=name=n,a=1"], "n", "a", Ok("1"));
        check(&["mock=name=n,a=1"], "default", "a", Ok("1"));
        check(&["mock=default,a=1", "mock=name=n,a=2"], "default", "a", Ok("1"));
        check(
            &["mock=name=m,a=1", "mock=name=n,a=2"],
            "default",
            "a",
            Err("no secret source with name \"default\" is configured"),
        );
        check(&["mock=a=1"], "default", "b", Err("no value"));
        check(&[], "default", "b", Err("no secret sources are configured"));
    }

    #[test]
    fn sources_that_are_none() {
        let check = |given: &str, expect: &str| {
            let error = secrets(&[given]).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(expect), "{given}: {error}");
        };
        check("vault=x", "neither file nor mock");
        check("mock=", "no KEY=VALUE");
        check("file=/nowhere/secrets", "read the secrets in");
    }

    #[test]
    fn what_a_script_has_seen_is_hidden() {
        let secrets = secrets(&["mock=a=abc,b=abcdef,c="]).unwrap();
        assert_eq!(secrets.redact("abcdef abc"), "abcdef abc");
        for key in ["a", "b", "c"] {
            secrets.get("default", key).unwrap();
        }
        assert_eq!(secrets.redact("xabcdef abc"), format!("x{REDACTED} {REDACTED}"));
        assert!(matches!(secrets.redact("nothing"), Cow::Borrowed("nothing")));
    }
}
