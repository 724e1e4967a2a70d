//! Flags of the auditor.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::LangFlag;

/// `plimsoll audit`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = AUDIT_EXAMPLES)]
pub(crate) struct AuditFlags {
    /// Runs (@last, the beginning of an id, a path) and tables (.csv, .json, .md), which are judged together
    #[arg(value_name = "FILE", required_unless_present = "columns")]
    pub(crate) files: Vec<String>,
    /// text for people, md for a pull request, json for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: AuditFormat,
    /// The language of text and md
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    pub(crate) lang: LangFlag,
    /// Exit with 122 if there is a finding of this severity or above
    #[arg(long, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<FailOnFlag>,
    /// Where to [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print the kinds of tables and their columns, and look at nothing
    #[arg(long)]
    pub(crate) columns: bool,
}

/// Values of `--format` of `plimsoll audit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditFormat {
    #[default]
    Text,
    Md,
    Json,
}

/// Values of `--fail-on` of `plimsoll audit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOnFlag {
    Note,
    Warning,
    Error,
}

const AUDIT_EXAMPLES: &str = "\
The exit code is 0 whatever is found, unless --fail-on says otherwise; 255 where nothing was understood.

Examples:
  plimsoll audit @last                                 the last run
  plimsoll audit results.md                            the tables of a report
  plimsoll audit sweep.csv slos.csv                    tables that belong together
  plimsoll audit @last --fail-on warning               for continuous integration
  plimsoll audit report.md --format md -o comment.md   for a pull request
  plimsoll audit results.md --lang ko                  in Korean
  plimsoll audit --columns                             what tables may say";
