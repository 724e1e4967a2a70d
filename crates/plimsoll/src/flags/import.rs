//! Flags of `plimsoll import`.

use std::path::PathBuf;

use clap::Args;

/// `plimsoll import`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = IMPORT_EXAMPLES, override_usage = "plimsoll import [OPTIONS] [KIND] <FILE>...")]
pub(crate) struct ImportFlags {
    /// What the files are (left out, each is taken for what it looks like), and the files
    #[arg(value_name = "[KIND] FILE", required = true)]
    pub(crate) words: Vec<PathBuf>,
    /// Where to [default: a new run of the catalogue]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// What to call the run
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// When the run started (RFC 3339), of sources that do not say
    #[arg(long, value_name = "TIME")]
    pub(crate) started: Option<String>,
    /// The version of what was tested
    #[arg(long, value_name = "TEXT")]
    pub(crate) target_version: Option<String>,
}

const IMPORT_EXAMPLES: &str = "\
KIND is k6-json (--out json), k6-csv (--out csv), k6-summary (--summary-export, or what handleSummary wrote), k6-text (what k6
printed), ngrinder (output.csv) or auto. Samples become seconds with histograms; of a summary its figures are kept, and every
surface says what the source does not tell. Files may be compressed with gzip.

Examples:
  plimsoll import results.json.gz                  every sample of k6 run --out json=results.json.gz
  plimsoll import k6-text ticket.txt               each summary that stands in a text
  plimsoll import ngrinder before.csv after.csv    two runs, and what changed
  plimsoll import k6-csv r.csv -o r.plimsoll       into a file";
