//! Flags of `plimsoll run` that repeat a test or compare two variants of it.

use clap::Args;

use super::JudgeFlags;

/// Repeated and alternating runs of one test.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Several runs")]
pub(crate) struct SeriesFlags {
    /// Repeat the test N times and report the variation; with --interleave or --observer-effect, N runs per side
    /// [default: 1, or 3 per side]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) repeat: Option<u16>,
    /// Run an A/B test: alternate runs without and with this change (A B B A …), and compare them. The change is a
    /// variable of __ENV (NAME=VALUE) or another script; repeatable
    #[arg(long, value_name = "CHANGE")]
    pub(crate) interleave: Vec<String>,
    /// Measure the overhead of tracing: alternate runs without and with traces (A B B A …), and compare their latency
    /// and server CPU. Traces 1% of the requests, or --trace-sample
    #[arg(long, conflicts_with = "interleave")]
    pub(crate) observer_effect: bool,
    /// Name of this series; runs already stored under this name are not repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) series: Option<String>,
    #[command(flatten)]
    pub(crate) judge: JudgeFlags,
}

impl SeriesFlags {
    /// Returns whether these flags ask for more than one run.
    pub(crate) fn is_wanted(&self) -> bool {
        self.repeat.is_some() || self.has_sides() || self.series.is_some()
    }

    /// Returns whether two variants are compared.
    pub(crate) fn has_sides(&self) -> bool {
        self.observer_effect || !self.interleave.is_empty()
    }
}
