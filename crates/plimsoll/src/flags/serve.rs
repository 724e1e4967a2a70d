//! Flags of `plimsoll serve`.

use clap::Args;

/// `plimsoll serve`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub(crate) struct ServeFlags {
    /// Token that browsers must send; required unless the address is loopback [default: PLIMSOLL_API_TOKEN]
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
}

const SERVE_EXAMPLES: &str = "\
Serves http://localhost:6568, or --address.

Examples:
  plimsoll serve                                    runs stored on this machine
  plimsoll serve --runs s3://bucket/runs            runs stored in a bucket
  plimsoll serve --address :8080 --token \"$TOKEN\"   share runs; the printed link contains the token";
