//! Flags of `plimsoll run` that make several runs of one test.

use clap::Args;

use super::JudgeFlags;

/// Runs that are made one after the other.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Several runs")]
pub(crate) struct SeriesFlags {
    /// Make so many runs one after the other, and say how far they differ; with --interleave or --observer-effect so many of each
    /// side [default: 1, of two sides 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) repeat: Option<u16>,
    /// A/B: make runs of the test as it is and with this change in turn (A B B A …), and compare them. The change is a
    /// variable of __ENV (NAME=VALUE) or another script; repeatable
    #[arg(long, value_name = "CHANGE")]
    pub(crate) interleave: Vec<String>,
    /// What tracing costs: make runs of the test without traces and with them in turn (A B B A …), on 1% of the requests
    /// unless --trace-sample says otherwise, and compare them and the CPU of the servers
    #[arg(long, conflicts_with = "interleave")]
    pub(crate) observer_effect: bool,
    /// The name of these runs; those that are there by this name already are not made again
    #[arg(long, value_name = "NAME")]
    pub(crate) series: Option<String>,
    #[command(flatten)]
    pub(crate) judge: JudgeFlags,
}

impl SeriesFlags {
    /// Whether there is more than one run to make.
    pub(crate) fn is_wanted(&self) -> bool {
        self.repeat.is_some() || self.has_sides() || self.series.is_some()
    }

    /// Whether runs of two sides are compared.
    pub(crate) fn has_sides(&self) -> bool {
        self.observer_effect || !self.interleave.is_empty()
    }
}
