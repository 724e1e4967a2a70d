//! Flags of what measures the generator: `plimsoll calibrate` and `plimsoll split-test`.

use std::ffi::OsString;

use clap::Args;

/// `plimsoll calibrate`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = CALIBRATE_EXAMPLES)]
pub(crate) struct CalibrateFlags {
    /// How long each load is looked at, of which there are eight, from 1s to 1m
    #[arg(long, value_name = "TIME", default_value = "2s")]
    pub(crate) time: String,
    /// Worker threads, as the runs will have them [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// Try no higher rate than this, and leave the one as fast as can be out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) rate_max: Option<u64>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Be the server that is measured against
    #[arg(long, hide = true, conflicts_with_all = ["time", "workers", "rate_max", "json"])]
    pub(crate) serve: bool,
}

const CALIBRATE_EXAMPLES: &str = "\
A server on loopback is sent the cheapest requests there are, first as many as there can be and then at planned rates. What
counts is the highest rate at which 99 % of the iterations start less than 1 ms late. It is kept as a fact about this
machine: runs store it, reports show how much of it was asked for, and a run that asks for more than 80 % of it is warned of.
Let nothing else run meanwhile. The server takes a part of the same cores, and scripts do more than one request, so take the
figure for what it is: the machine's, not the script's.

Examples:
  plimsoll calibrate                   half a minute
  plimsoll calibrate --time 10s        steadier, two minutes
  plimsoll calibrate --workers 2       of runs with --workers 2
  plimsoll calibrate --rate-max 5000   is 5,000 requests/s something this machine can send?
  plimsoll calibrate --json | jq .ratePerSecond";

/// `plimsoll split-test`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = SPLIT_TEST_EXAMPLES)]
pub(crate) struct SplitTestFlags {
    /// How often each is done, in turn
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(2..=100))]
    pub(crate) rounds: u32,
    /// The script and flags, as `plimsoll run` takes them
    #[arg(value_name = "RUN", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) run: Vec<OsString>,
}

const SPLIT_TEST_EXAMPLES: &str = "\
A target does not know how many processes ask it. A latency that falls whenever the same load comes from two of them was
the generator's.

Examples:
  plimsoll split-test script.js
  plimsoll split-test --rounds 5 -- -u 200 -d 30s script.js";
