//! Flags of `plimsoll serve`.

use clap::Args;

/// `plimsoll serve`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub(crate) struct ServeFlags {
    /// What a browser must show to see anything; needed where others than this machine can reach the page
    /// [default: PLIMSOLL_API_TOKEN]
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
}

const SERVE_EXAMPLES: &str = "\
The page is at http://localhost:6568 unless --address says otherwise.

Examples:
  plimsoll serve                                    the runs of this machine
  plimsoll serve --runs s3://bucket/runs            the runs of a bucket
  plimsoll serve --address :8080 --token \"$TOKEN\"   for others; the link that is printed lets them in";
