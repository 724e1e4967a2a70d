//! Evidence sources of a project: `plimsoll.toml` in this folder or a parent, overridden by flags.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evidence::{Settings, password_variable};
use redact::RedactedUrl;
use runs::{Exit, Failure};
use serde::Deserialize;

use crate::Context;
use crate::env::Environment;
use crate::evidence::Sources;

/// Sources as the user names them.
#[derive(Clone, Debug, Default)]
pub struct EvidenceAsked {
    /// `[NAME:]KIND=ADDRESS`, each over the source of that name in the file.
    pub sources: Vec<String>,
    /// The project file; the first in this folder or a parent if unset.
    pub project: Option<PathBuf>,
}

/// Name of the project file.
const FILE: &str = "plimsoll.toml";

/// Maximum size of the project file and of password files, bytes.
const BYTES_MAX: u64 = 1 << 20;

/// The parts of `plimsoll.toml` that this file reads.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Project {
    #[serde(default)]
    evidence: BTreeMap<String, BTreeMap<String, toml::Value>>,
}

/// Opens the sources of the flags and `plimsoll.toml`, and `of_lab`, those of the lab system whose script this is.
///
/// # Errors
/// A source is invalid.
pub fn sources(asked: &EvidenceAsked, of_lab: Vec<Settings>, context: &Context) -> Result<Sources, Failure> {
    let mut settings = named(asked, context)?;
    let is_new = |source: &Settings| !settings.iter().any(|known| known.name == source.name);
    let of_lab: Vec<Settings> = of_lab.into_iter().filter(is_new).collect();
    context.redactor.add_guessed(of_lab.iter().filter_map(|source| source.credential.clone()));
    settings.extend(of_lab);
    Sources::open(&settings)
}

/// Returns the configured sources, sorted by name.
///
/// # Errors
/// The file cannot be read, or a source in it or in a flag is invalid.
pub fn named(asked: &EvidenceAsked, context: &Context) -> Result<Vec<Settings>, Failure> {
    let mut sources = BTreeMap::new();
    if let Some(path) = project_file(asked) {
        for (name, values) in read(&path)?.evidence {
            let source = of_file(&name, values, &path)?;
            sources.insert(name, source);
        }
    }
    for text in &asked.sources {
        let source = of_flag(text)?;
        sources.insert(source.name.clone(), source);
    }
    let mut sources: Vec<Settings> = sources.into_values().collect();
    for source in &mut sources {
        source.credential = credential(source, &context.env)?;
        context.redactor.add_guessed(source.credential.clone());
        context.redactor.add_variable("", &source.address);
    }
    Ok(sources)
}

/// Returns the file of `--project`, or the first in this folder or a parent.
fn project_file(asked: &EvidenceAsked) -> Option<PathBuf> {
    if asked.project.is_some() {
        return asked.project.clone();
    }
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(FILE)).find(|path| path.is_file())
}

fn read(path: &Path) -> Result<Project, Failure> {
    let text = read_text(path)?;
    toml::from_str(&text).map_err(|error: toml::de::Error| {
        // The error's own text quotes the line, which may hold a password.
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        invalid(format!("failed to read {}, line {line}: {}", path.display(), error.message()))
    })
}

fn read_text(path: &Path) -> Result<String, Failure> {
    files::read_given_text(path, BYTES_MAX)
        .map_err(|error| invalid(format!("failed to read {}: {error}", path.display())))
}

/// Parses `[evidence.NAME]`: `kind` defaults to the name; other values are strings, numbers, booleans, or tables of these.
fn of_file(name: &str, values: BTreeMap<String, toml::Value>, path: &Path) -> Result<Settings, Failure> {
    let refuse =
        |why: String| invalid(format!("failed to read {}: [evidence.{name}]: {why}", path.display()));
    let mut settings = Settings { name: name.to_owned(), kind: name.to_owned(), ..Settings::default() };
    for (setting, value) in values.into_iter().flat_map(flat) {
        let Some(text) = text_of(&value) else {
            return Err(refuse(format!("{setting} is neither a text nor a number")));
        };
        match setting.as_str() {
            "kind" => settings.kind = text,
            "address" => settings.address = text,
            "password" | "token" => {
                let variable = password_variable(name);
                return Err(refuse(format!(
                    "a {setting} does not belong into this file; set {variable}, or write password_file = \"PATH\""
                )));
            }
            _ => drop(settings.values.insert(setting, text)),
        }
    }
    Ok(settings)
}

/// Flattens a table to settings with names like `query.jobs`.
fn flat((setting, value): (String, toml::Value)) -> Vec<(String, toml::Value)> {
    match value {
        toml::Value::Table(inner) => {
            inner.into_iter().map(|(name, value)| (format!("{setting}.{name}"), value)).collect()
        }
        value => vec![(setting, value)],
    }
}

fn text_of(value: &toml::Value) -> Option<String> {
    Some(match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(truth) => truth.to_string(),
        toml::Value::Array(words) => {
            words.iter().map(toml::Value::as_str).collect::<Option<Vec<_>>>()?.join(",")
        }
        toml::Value::Datetime(_) | toml::Value::Table(_) => return None,
    })
}

/// Parses `[NAME:]KIND=ADDRESS`.
fn of_flag(text: &str) -> Result<Settings, Failure> {
    let Some((what, address)) =
        text.split_once('=').filter(|(what, address)| !what.is_empty() && !address.is_empty())
    else {
        return Err(invalid(format!(
            "failed to read --evidence {:?}: write KIND=ADDRESS, as prometheus=http://localhost:9090",
            RedactedUrl(text).to_string()
        )));
    };
    let (name, kind) = what.split_once(':').unwrap_or((what, what));
    let (name, kind, address) = (name.to_owned(), kind.to_owned(), address.to_owned());
    Ok(Settings { name, kind, address, ..Settings::default() })
}

/// Returns a source's credential from its variable, or from the file that it names.
fn credential(source: &mut Settings, env: &Environment) -> Result<Option<String>, Failure> {
    let file = source.values.remove("password_file");
    let variable = password_variable(&source.name);
    if let Some(value) = env.get(&variable).filter(|value| !value.is_empty()) {
        return Ok(Some(value.to_owned()));
    }
    let Some(file) = file else { return Ok(None) };
    let text = read_text(Path::new(&file))?;
    Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
}

fn invalid(text: String) -> Failure {
    Failure::new(Exit::InvalidConfig, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_flag(text: &str, expect: Option<(&str, &str, &str)>) {
        let source = of_flag(text).ok();
        let found = source.as_ref().map(|it| (it.name.as_str(), it.kind.as_str(), it.address.as_str()));
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn flags_name_a_kind_and_an_address() {
        check_flag("redis=redis://localhost", Some(("redis", "redis", "redis://localhost")));
        check_flag("cache:redis=redis://h/?a=b", Some(("cache", "redis", "redis://h/?a=b")));
        check_flag("redis", None);
        check_flag("=x", None);
        check_flag("redis=", None);
    }

    #[track_caller]
    fn check_file(text: &str, expect: Result<&[(&str, &str)], &str>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(FILE);
        std::fs::write(&path, text).expect("written");
        let read = read(&path).and_then(|project| {
            let source =
                |(name, values): (String, BTreeMap<String, toml::Value>)| of_file(&name, values, &path);
            project.evidence.into_iter().map(source).collect::<Result<Vec<_>, _>>()
        });
        match (read, expect) {
            (Ok(sources), Ok(expect)) => {
                let of = |source: &Settings| {
                    let values = source.values.iter().map(|(name, value)| format!(" {name}={value}"));
                    (
                        source.name.clone(),
                        format!("{} {}{}", source.kind, source.address, values.collect::<String>()),
                    )
                };
                let found: Vec<_> = sources.iter().map(of).collect();
                let expect: Vec<_> =
                    expect.iter().map(|(name, rest)| ((*name).to_owned(), (*rest).to_owned())).collect();
                assert_eq!(found, expect);
            }
            (Err(failure), Err(part)) => assert!(failure.text.contains(part), "{}", failure.text),
            (Ok(sources), Err(_)) => panic!("{sources:?}"),
            (Err(failure), Ok(_)) => panic!("{}", failure.text),
        }
    }

    #[test]
    fn sources_are_read_from_the_projects_file() {
        let text = "[evidence.prometheus]\naddress = \"http://h:9090\"\nstep = \"5s\"\n\
                    [evidence.shop]\nkind = \"postgresql\"\naddress = \"postgres://h/shop\"\ntop = 20\n";
        let expect = [
            ("prometheus", "prometheus http://h:9090 step=5s"),
            ("shop", "postgresql postgres://h/shop top=20"),
        ];
        check_file(text, Ok(&expect));
        check_file("", Ok(&[]));
        check_file("[evidence.a]\npassword = \"x\"\n", Err("PLIMSOLL_A_PASSWORD"));
        check_file("[evidence.a]\nquery.jobs = \"up\"\n", Ok(&[("a", "a  query.jobs=up")]));
        check_file("[evidence.a]\nb = [1]\n", Err("neither a text nor a number"));
        check_file("[evidence.a]\nb.c.d = 1\n", Err("neither a text nor a number"));
        check_file("[evidense.a]\n", Err("unknown field"));
    }
}
