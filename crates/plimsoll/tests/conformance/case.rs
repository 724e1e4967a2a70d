//! A case: a script whose first lines are directives for its run.

use std::path::{Path, PathBuf};

use testkit::tls::IDENTITIES;
use testkit::{Identity, Listen};

use crate::service;

/// A script of `conformance/cases`.
#[derive(Debug, Default)]
pub(crate) struct Case {
    /// The file's name without `.js`.
    pub(crate) name: String,
    /// The script's folder, which is the working directory.
    pub(crate) folder: PathBuf,
    /// The script's text.
    pub(crate) text: String,
    /// `//! args:` additional flags.
    pub(crate) args: Vec<String>,
    /// `//! env: NAME=VALUE`: additional environment variables.
    pub(crate) env: Vec<(String, String)>,
    /// `//! says:` texts that the logged errors must contain.
    pub(crate) says: Vec<String>,
    /// `//! signal:` delays of interrupts, in ms after the start or the previous interrupt.
    pub(crate) signals_ms: Vec<u64>,
    /// `//! ignore:` fields that are not compared.
    pub(crate) ignored: Vec<String>,
    /// `//! script:` the script that is run instead of this file.
    pub(crate) script: Option<String>,
    /// `//! service:` the server of the lab whose address is `__ENV.SERVICE`.
    pub(crate) service: Option<&'static dyn lab::Server>,
    /// `//! ours:` flags that only Plimsoll has, and needs for what k6 does without them.
    pub(crate) own_args: Vec<String>,
    /// `//! tls:` the certificate of an additional TLS server.
    pub(crate) tls: Option<Listen>,
    /// `//! unordered`: several VUs print, so lines are sorted before they are compared.
    pub(crate) unordered: bool,
    /// `//! summary`: the summary is enabled.
    pub(crate) summary: bool,
    /// `//! stdin`: the script is piped to standard input.
    pub(crate) stdin: bool,
    /// `//! documented:` the version whose documentation defines the case, if the recorded version lacks the feature.
    pub(crate) documented: Option<String>,
}

impl Case {
    /// Returns the cases whose names contain `only`, sorted by name.
    pub(crate) fn all(folder: &Path, only: &str) -> Vec<Case> {
        let mut cases: Vec<Case> = std::fs::read_dir(folder)
            .expect("the folder of cases can be read")
            .map(|entry| entry.expect("its entries can be read").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "js"))
            .map(|path| Case::read(&path))
            .filter(|case| case.name.contains(only))
            .collect();
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        cases
    }

    fn read(path: &Path) -> Case {
        let text = std::fs::read_to_string(path).expect("a case is text");
        let name = path.file_stem().expect("a case has a name").to_string_lossy().into_owned();
        let folder = path.parent().expect("a case is in a folder").to_owned();
        let mut case = Case { name, folder, ..Case::default() };
        for line in text.lines().take_while(|line| line.starts_with("//")) {
            let Some(header) = line.strip_prefix("//! ") else { continue };
            let (key, value) = header.split_once(':').unwrap_or((header, ""));
            case.take(key, value.trim());
        }
        case.text = text;
        case
    }

    fn take(&mut self, key: &str, value: &str) {
        match key {
            "args" => self.args.extend(value.split_whitespace().map(str::to_owned)),
            "env" => {
                let (name, content) = value.split_once('=').unwrap_or((value, ""));
                self.env.push((name.to_owned(), content.to_owned()));
            }
            "says" => self.says.push(value.to_owned()),
            "signal" => self.signals_ms.push(value.parse().expect("a signal's time is in ms")),
            "ignore" => self.ignored.push(value.to_owned()),
            "service" => self.service = Some(service::named(value)),
            "ours" => self.own_args.extend(value.split_whitespace().map(str::to_owned)),
            "tls" => self.tls = Some(listen(value)),
            "documented" => self.documented = Some(value.to_owned()),
            "script" => self.script = Some(value.to_owned()),
            "unordered" => self.unordered = true,
            "summary" => self.summary = true,
            "stdin" => self.stdin = true,
            _ => panic!("{}: unknown header line {key:?}", self.name),
        }
    }
}

/// Parses a certificate, and whether HTTP/2 is enabled.
fn listen(words: &str) -> Listen {
    match words.split_once(' ') {
        None => Listen::tls(identity(words)),
        Some((name, "http2")) => Listen { tls: Some(identity(name)), ..Listen::http2() },
        Some((_, what)) => panic!("no server speaks {what:?}"),
    }
}

fn identity(name: &str) -> Identity {
    let known = IDENTITIES.iter().find(|(known, _)| *known == name);
    known.unwrap_or_else(|| panic!("no certificate is {name:?}")).1
}
