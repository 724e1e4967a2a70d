//! Flags of `plimsoll run` that receive traces from servers.

use clap::Args;

/// Receiver of server spans, and sampling of traced requests.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Traces")]
pub(crate) struct OtlpFlags {
    /// Receive server spans during the test (OTLP over gRPC and HTTP at each address); non-loopback addresses
    /// need PLIMSOLL_OTLP_TOKEN. Scripts of a running lab system enable it unless it is off
    /// [default addresses: 127.0.0.1:4317,127.0.0.1:4318]
    #[arg(long, value_name = "ADDRESSES", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) otlp: Option<String>,
    /// Share of HTTP requests to trace (`traceparent`), such as 1% or 0.05; each plimsoll/flow task is one trace
    /// [default: 1% with --otlp, more for lab scripts, else 0]
    #[arg(long, value_name = "SHARE")]
    pub(crate) trace_sample: Option<String>,
}
