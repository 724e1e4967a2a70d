//! One source of secrets: what it is, and how `--secret-source` describes it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::SecretsError;
use super::url::{SecretServer, UrlSource};

/// The largest file of secrets.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Where a secret is looked for.
#[derive(Clone)]
pub(crate) enum Source {
    /// Here.
    Known(Arc<BTreeMap<String, String>>),
    /// At a server.
    Url(Arc<UrlSource>),
}

impl Source {
    /// The secrets that are here.
    pub(super) fn known(&self) -> impl Iterator<Item = &String> {
        let known = match self {
            Source::Known(secrets) => Some(secrets.values()),
            Source::Url(_) => None,
        };
        known.into_iter().flatten()
    }
}

/// A source as it was given.
#[derive(Default)]
pub(super) struct Given {
    pub(super) name: Option<String>,
    pub(super) is_default: bool,
    /// The entries that only its kind understands.
    own: Vec<String>,
}

impl Given {
    /// Reads `name=NAME,default,…`.
    pub(super) fn read(config: &str) -> Given {
        let mut given = Given::default();
        for entry in config.split(',') {
            match entry.split_once('=') {
                Some(("name", name)) => given.name = Some(name.to_owned()),
                None if entry == "default" => given.is_default = true,
                _ => given.own.push(entry.to_owned()),
            }
        }
        given
    }

    /// The source itself.
    ///
    /// # Errors
    /// There is no such kind, or its entries make no sense.
    pub(super) fn source(
        &self,
        kind: &str,
        env: &BTreeMap<String, String>,
        server: &Arc<dyn SecretServer>,
    ) -> Result<Source, SecretsError> {
        Ok(match kind {
            "file" => Source::Known(self.of_file()?.into()),
            "mock" => Source::Known(assignments(self.own.iter().map(String::as_str))?.into()),
            "url" => Source::Url(UrlSource::new(&self.own, env, server.clone())?.into()),
            _ => return Err(SecretsError::Kind(kind.to_owned())),
        })
    }

    fn of_file(&self) -> Result<BTreeMap<String, String>, SecretsError> {
        let path = self.own.last().map_or("", |entry| entry.strip_prefix("filename=").unwrap_or(entry));
        let text = files::read_given_text(Path::new(path), FILE_BYTES_MAX)
            .map_err(|source| SecretsError::File { path: path.to_owned(), source })?;
        assignments(text.lines())
    }
}

fn assignments<'a>(entries: impl Iterator<Item = &'a str>) -> Result<BTreeMap<String, String>, SecretsError> {
    let assign = |(index, entry): (usize, &'a str)| {
        let (key, value) = entry.split_once('=').ok_or(SecretsError::Entry(index + 1))?;
        Ok((key.to_owned(), value.to_owned()))
    };
    entries.enumerate().map(assign).collect()
}
