//! Errors of reading a source. Each says what is wrong and the next step.

use crate::{CALLS_MAX, Kind, WHOLE_BYTES_MAX};

/// Why there is no script.
#[derive(Debug, thiserror::Error)]
pub enum DraftError {
    /// The source cannot be read.
    #[error("reading failed: {0}")]
    Read(std::io::Error),
    /// It is larger than what is read as a whole.
    #[error("it is larger than {} MiB; split it into several files", WHOLE_BYTES_MAX >> 20)]
    TooLarge,
    /// It is no text.
    #[error("it is not UTF-8 text; export it again as text")]
    NotText,
    /// It is no JSON, or JSON of another shape.
    #[error("it is not {}: {error}; {}", form(*kind, error), kind.next_step())]
    Json {
        /// The assumed kind.
        kind: Kind,
        /// The place and the reason.
        error: serde_json::Error,
    },
    /// It is no YAML.
    #[error("{}", invalid("YAML", .0, Kind::OpenApi))]
    Yaml(String),
    /// It is no XML.
    #[error("{}", invalid("XML", .0, Kind::Jmx))]
    Xml(String),
    /// A quote in a command line is never closed.
    #[error("a quote in line {line} is never closed; copy the command again, with its last line")]
    Quote {
        /// The line that it begins on, counted from 1.
        line: usize,
    },
    /// It is of another version.
    #[error("{found}; {next}")]
    Version {
        /// The version that was found.
        found: String,
        /// The next step.
        next: &'static str,
    },
    /// It is of another kind.
    #[error("it is not {}: {why}; {}", kind.describe(), kind.next_step())]
    Kind {
        /// The assumed kind.
        kind: Kind,
        /// The missing part.
        why: &'static str,
    },
    /// It has no request that can be sent.
    #[error("{}", nothing(*left_out, notes))]
    Nothing {
        /// Requests that were left out by default.
        left_out: usize,
        /// Parts that could not be converted.
        notes: Vec<String>,
    },
    /// A script of all its requests would be too long.
    #[error("it has {requests} requests, and a script has at most {CALLS_MAX}; {}", smaller(*kind))]
    TooMany {
        /// Requests.
        requests: usize,
        /// The kind of the source.
        kind: Kind,
    },
}

/// How to convert a part.
fn smaller(kind: Kind) -> String {
    match kind {
        Kind::Har => {
            format!("record less, or keep a part: jq '.log.entries |= .[:{CALLS_MAX}]' FILE > part.har")
        }
        _ => "convert a part of it".to_owned(),
    }
}

fn invalid(form: &str, why: &str, kind: Kind) -> String {
    format!("it is not valid {form}: {why}; {}", kind.next_step())
}

/// The form that JSON does not have: that of JSON, or that of the kind.
fn form(kind: Kind, error: &serde_json::Error) -> &'static str {
    if error.is_data() { kind.describe() } else { "valid JSON" }
}

/// Reasons that are shown where nothing was converted.
const REASONS_MAX: usize = 3;

fn nothing(left_out: usize, notes: &[String]) -> String {
    let mut text = "it has no request to convert".to_owned();
    if left_out > 0 {
        text += &format!(
            ": all {left_out} are static assets or go to other sites; keep them with --keep-static and --keep-third-parties"
        );
    } else if !notes.is_empty() {
        text += &format!(": {}", notes[..notes.len().min(REASONS_MAX)].join("; "));
    }
    text
}
