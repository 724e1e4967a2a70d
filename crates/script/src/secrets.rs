//! Secrets: where `k6/secrets` finds them, and how they are kept out of what is written.

mod source;
mod url;
mod url_config;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use model::LogLine;
use redact::Redactor;

use self::source::Given;
pub(crate) use self::source::Source;
pub(crate) use self::url::UrlSource;
pub use self::url::{NoSecretServer, SECRET_BYTES_MAX, SecretReply, SecretRequest, SecretServer};
use crate::callbacks::Log;

/// The replacement of a secret in texts, as in k6.
const REDACTED: &str = "***SECRET_REDACTED***";

/// Secrets that are looked for in what is written. A script that asks for more gets none.
const KNOWN_MAX: usize = 10_000;

/// Length in bytes from which a client's password is hidden everywhere; shorter ones, such as `shop`, may be words of the test.
const PASSWORD_BYTES_MIN: usize = 12;

/// The sources of secrets that the user named, and the secrets that scripts have asked for.
#[derive(Default)]
pub struct Secrets {
    sources: BTreeMap<String, Source>,
    /// Learns each secret, for all that write besides the script.
    redactor: Redactor,
    /// Secrets that scripts have seen, the longest first: one may be part of another.
    known: RwLock<Vec<String>>,
    has_known: AtomicBool,
    /// Those of them that [`Secrets::take_revealed`] has not given yet.
    revealed: Mutex<Vec<String>>,
}

/// Sources of secrets on their way to another process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handover {
    /// Secrets by source and key.
    pub known: BTreeMap<String, BTreeMap<String, String>>,
    /// Settings of servers by source, as entries of the flag.
    pub servers: BTreeMap<String, Vec<String>>,
}

/// Why secrets cannot be had. Reads after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// There is no such kind of source.
    #[error("use the secret source {0:?}: unknown kind; use file, mock or url")]
    Kind(String),
    /// Two sources have one name.
    #[error("use two secret sources with the name {0:?}; give each a name of its own")]
    Name(String),
    /// A line or an entry is no assignment. It is not shown: it may be a secret.
    #[error("read the secret source: invalid entry number {0}; expected KEY=VALUE")]
    Entry(usize),
    /// The configuration of a server is invalid.
    #[error("use the secret source of kind url: {0}")]
    Url(String),
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
    /// Reads the sources as `--secret-source` gives them: `file=PATH`, `mock=KEY=VALUE,…` and `url=urlTemplate=URL,…`, each
    /// with `name=NAME` and `default` among its entries where there are several. The only source is the default. `env` are
    /// the process's variables, some of which describe a server; `server` carries requests to it. `redactor` learns what the
    /// sources hold.
    ///
    /// # Errors
    /// A source cannot be read.
    pub fn read(
        given: &[String],
        env: &BTreeMap<String, String>,
        server: Arc<dyn SecretServer>,
        redactor: &Redactor,
    ) -> Result<Secrets, SecretsError> {
        let mut sources = BTreeMap::new();
        for text in given {
            let (kind, config) = text.split_once('=').unwrap_or((text, ""));
            let described = Given::read(config);
            let source = described.source(kind, env, &server)?;
            let is_default = described.is_default || given.len() == 1;
            let names = [described.name, is_default.then(|| "default".to_owned())];
            for name in names.into_iter().flatten() {
                if sources.insert(name.clone(), source.clone()).is_some() {
                    return Err(SecretsError::Name(name));
                }
            }
        }
        redactor.add_declared(sources.values().flat_map(Source::known).cloned());
        Ok(Secrets { sources, redactor: redactor.clone(), ..Secrets::default() })
    }

    /// The sources of another process, as [`Secrets::handover`] gives them; `server` carries requests for secrets that are not there.
    ///
    /// # Errors
    /// The settings of a server are invalid.
    pub fn handed_over(
        sources: Handover,
        server: &Arc<dyn SecretServer>,
        redactor: &Redactor,
    ) -> Result<Secrets, SecretsError> {
        let Handover { known, servers } = sources;
        redactor.add_declared(known.values().flat_map(BTreeMap::values).cloned());
        let known = known.into_iter().map(|(name, known)| Ok((name, Source::Known(known.into()))));
        let servers = servers.into_iter().map(|(name, entries)| {
            let source = UrlSource::new(&entries, &BTreeMap::new(), server.clone())?;
            redactor.add_guessed(source.header_values().cloned());
            Ok((name, Source::Url(source.into())))
        });
        let sources = known.chain(servers).collect::<Result<_, SecretsError>>()?;
        Ok(Secrets { sources, redactor: redactor.clone(), ..Secrets::default() })
    }

    /// All sources for one of `processes` that run the test together.
    pub fn handover(&self, processes: u32) -> Handover {
        let mut handover = Handover::default();
        for (name, source) in &self.sources {
            match source {
                Source::Known(known) => {
                    handover.known.insert(name.clone(), BTreeMap::clone(known));
                }
                Source::Url(server) => {
                    handover.servers.insert(name.clone(), server.entries(processes));
                }
            }
        }
        handover
    }

    /// The secrets that scripts have seen since the last call, for another process that writes.
    pub fn take_revealed(&self) -> Vec<String> {
        std::mem::take(&mut *self.revealed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The source of that name.
    ///
    /// # Errors
    /// k6's text: there is no such source.
    pub(crate) fn source(&self, name: &str) -> Result<&Source, String> {
        if self.sources.is_empty() {
            return Err("no secret sources are configured".into());
        }
        self.sources.get(name).ok_or_else(|| format!("no secret source with name \"{name}\" is configured"))
    }

    /// A secret that a script is about to see; from now on it is hidden.
    ///
    /// # Errors
    /// There are too many to hide.
    pub(crate) fn reveal(&self, secret: String) -> Result<String, String> {
        if self.remember(&secret) { Ok(secret) } else { Err("too many secrets".into()) }
    }

    /// Hides passwords that a script gives to clients: everywhere if they are long, otherwise where a credential stands.
    pub(crate) fn hide(&self, passwords: impl IntoIterator<Item = String>) {
        for password in passwords {
            if password.len() >= PASSWORD_BYTES_MIN {
                self.remember(&password);
            } else {
                self.redactor.add_guessed([password]);
            }
        }
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
        self.revealed.lock().unwrap_or_else(PoisonError::into_inner).push(value.to_owned());
        self.redactor.add_declared([value.to_owned()]);
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
        let given: Vec<String> = given.iter().map(|source| (*source).to_owned()).collect();
        Secrets::read(&given, &BTreeMap::new(), Arc::new(NoSecretServer), &Redactor::default())
    }

    fn get(secrets: &Secrets, source: &str, key: &str) -> Result<String, String> {
        match secrets.source(source)? {
            Source::Known(known) => secrets.reveal(known.get(key).ok_or("no value")?.clone()),
            Source::Url(_) => Err("a server".into()),
        }
    }

    #[test]
    fn sources_by_name() {
        let check = |given: &[&str], source: &str, key: &str, expect: Result<&str, &str>| {
            let got = get(&secrets(given).unwrap(), source, key);
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
        check(&["url=urlTemplate=http://h/{key}"], "default", "b", Err("a server"));
        check(&[], "default", "b", Err("no secret sources are configured"));
    }

    #[test]
    fn sources_that_are_none() {
        let check = |given: &str, expect: &str| {
            let error = secrets(&[given]).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(expect), "{given}: {error}");
        };
        check("vault=x", "unknown kind; use file, mock or url");
        check("url=urlTemplate=http://h/", "must contain {key}");
        check("mock=", "expected KEY=VALUE");
        check("file=/nowhere/secrets", "read the secrets in");
    }

    #[test]
    fn what_a_script_has_seen_is_hidden() {
        let secrets = secrets(&["mock=a=abc,b=abcdef,c="]).unwrap();
        assert_eq!(secrets.redact("abcdef abc"), "abcdef abc");
        for key in ["a", "b", "c"] {
            get(&secrets, "default", key).unwrap();
        }
        assert_eq!(secrets.redact("xabcdef abc"), format!("x{REDACTED} {REDACTED}"));
        assert!(matches!(secrets.redact("nothing"), Cow::Borrowed("nothing")));
    }
}
