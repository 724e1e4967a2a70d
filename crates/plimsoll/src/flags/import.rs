//! Flags of `plimsoll import`.

use std::path::PathBuf;

use clap::Args;

/// `plimsoll import`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = IMPORT_EXAMPLES, override_usage = "plimsoll import [OPTIONS] [KIND] <FILE>...")]
pub(crate) struct ImportFlags {
    /// Format of the files (detected if omitted), and the files
    #[arg(value_name = "[KIND] FILE", required = true)]
    pub(crate) words: Vec<PathBuf>,
    /// Output file [default: a new run in the store]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Name of the run
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// Start time of the run (RFC 3339), if the source has none
    #[arg(long, value_name = "TIME")]
    pub(crate) started: Option<String>,
    /// Version of the target
    #[arg(long, value_name = "TEXT")]
    pub(crate) target_version: Option<String>,
}

const IMPORT_EXAMPLES: &str = "\
KIND is one of these, or auto:
  k6-json, k6-csv       k6 run --out json, --out csv
  k6-summary, k6-text   k6's summary as JSON or from the terminal
  jtl                   JMeter's results with a line of names
  gatling               simulation.log of Gatling 3.0 to 3.9
  vegeta                vegeta encode --to json or csv
  locust-csv, oha-json  Locust's PREFIX_stats.csv, oha's report
  ngrinder              output.csv

Samples become one-second histograms. A summary contributes only its figures, and reports list the data that the source
lacks. Files may be compressed with gzip.

Examples:
  plimsoll import results.json.gz                  every sample of k6 run --out json=results.json.gz
  plimsoll import k6-text ticket.txt               every summary in a text file
  plimsoll import ngrinder before.csv after.csv    import two runs and compare them
  plimsoll import k6-csv r.csv -o r.plimsoll       write to a file";
