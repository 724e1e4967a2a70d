//! Flags of the subcommands that measure the load generator: `plimsoll calibrate` and `plimsoll split-test`.

use std::ffi::OsString;

use clap::Args;

/// `plimsoll calibrate`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = CALIBRATE_EXAMPLES)]
pub(crate) struct CalibrateFlags {
    /// Measurement time at each of eight loads, 1s to 1m
    #[arg(long, value_name = "TIME", default_value = "2s")]
    pub(crate) time: String,
    /// Worker threads, the same number as in your runs [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// Maximum rate to try; skips the step at full speed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) rate_max: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Serve the requests of the calibration
    #[arg(long, hide = true, conflicts_with_all = ["time", "workers", "rate_max", "json"])]
    pub(crate) serve: bool,
}

const CALIBRATE_EXAMPLES: &str = "\
Sends the cheapest possible requests to a server on loopback: first at full speed, then at planned rates. The result is the
highest rate at which 99 % of the iterations start less than 1 ms late. It is stored for this machine. Runs record it, reports
show how much of it the run used, and runs above 80 % of it show a warning. Stop other programs during the calibration. The
result describes this machine, not your script: the server shares its cores, and real scripts do more work per request.

Examples:
  plimsoll calibrate                   about half a minute
  plimsoll calibrate --time 10s        more precise, about two minutes
  plimsoll calibrate --workers 2       for runs with --workers 2
  plimsoll calibrate --rate-max 5000   check whether this machine can send 5,000 requests/s
  plimsoll calibrate --json | jq .ratePerSecond";

/// `plimsoll split-test`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = SPLIT_TEST_EXAMPLES)]
pub(crate) struct SplitTestFlags {
    /// Number of times each variant runs, alternating
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(2..=100))]
    pub(crate) rounds: u32,
    /// Script and flags of `plimsoll run`
    #[arg(value_name = "RUN", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) run: Vec<OsString>,
}

const SPLIT_TEST_EXAMPLES: &str = "\
The target cannot distinguish one sending process from two. If latency falls whenever two processes send the same load,
the load generator was the bottleneck.

Examples:
  plimsoll split-test script.js
  plimsoll split-test --rounds 5 -- -u 200 -d 30s script.js";
