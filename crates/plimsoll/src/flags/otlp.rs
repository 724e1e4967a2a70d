//! Flags of `plimsoll run` that bring traces of servers in.

use clap::Args;

/// Where servers send their spans, and which requests they can be found by.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Traces")]
pub(crate) struct OtlpFlags {
    /// Receive the spans of servers while the test runs (OTLP, gRPC and HTTP at each address)
    /// [default addresses: 127.0.0.1:4317,127.0.0.1:4318; others than this machine's need PLIMSOLL_OTLP_TOKEN; scripts of a
    /// system of the lab that is up receive its spans by themselves, unless this is off]
    #[arg(long, value_name = "ADDRESSES", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) otlp: Option<String>,
    /// Put this share of the HTTP requests into traces of their own (`traceparent`): 1%, 0.05; tasks of plimsoll/flow are one
    /// each [default: 1% with --otlp, more for scripts of the lab, else 0]
    #[arg(long, value_name = "SHARE")]
    pub(crate) trace_sample: Option<String>,
}
