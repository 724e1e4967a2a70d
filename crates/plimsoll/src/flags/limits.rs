//! Limits of tests whose scripts others write, and the flags of `plimsoll mcp`.

use std::path::PathBuf;

use clap::Args;

/// Limits that a test may not exceed.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Limits for scripts of others")]
pub(crate) struct LimitFlags {
    /// Refuse tests that need more VUs
    #[arg(long, value_name = "N")]
    pub(crate) limit_vus: Option<u64>,
    /// Refuse tests that take longer, without graceful stops
    #[arg(long, value_name = "TIME")]
    pub(crate) limit_duration: Option<String>,
    /// Refuse tests that start more iterations per second, and delay HTTP requests beyond this rate
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit_rate: Option<u32>,
    /// Connect only to these hosts (names, *.name, addresses, networks such as 10.0.0.0/8), and refuse remote modules;
    /// comma-separated, repeatable
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub(crate) allow_host: Vec<String>,
}

/// `plimsoll mcp`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = MCP_EXAMPLES)]
pub(crate) struct McpFlags {
    /// Folder of the scripts that may be run
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) limits: LimitFlags,
    /// Set a variable in the __ENV of scripts; repeatable
    #[arg(short, long = "env", value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// Show the assistant what scripts log
    #[arg(long)]
    pub(crate) console: bool,
}

const MCP_EXAMPLES: &str = "\
Serves one assistant over standard input and output, and ends with it. Defaults of the limits: --limit-vus 20,
--limit-duration 1m, --limit-rate 100, --allow-host localhost,127.0.0.0/8,::1. A test beyond a limit is refused.

Examples:
  plimsoll mcp --folder tests                                   scripts of a folder, against this machine
  plimsoll mcp --allow-host staging.example.com --limit-vus 50  another host, too: name all that are allowed
  plimsoll mcp --limit-duration 5m -e TOKEN=$TOKEN              longer tests, and a variable of scripts";
