//! Flags of what measures several levels of load: `plimsoll sweep` and `plimsoll capacity`.

use clap::Args;

use super::{EvidenceFlags, OptionFlags, OtlpFlags, ScriptFlags};

/// What both verbs take.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct StudyFlags {
    #[command(flatten)]
    pub(crate) script: ScriptFlags,
    #[command(flatten)]
    pub(crate) options: OptionFlags,
    #[command(flatten)]
    pub(crate) evidence: EvidenceFlags,
    #[command(flatten)]
    pub(crate) otlp: OtlpFlags,
    #[command(flatten)]
    pub(crate) level: LevelFlags,
}

/// How each level is measured, and what becomes of all of them.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Levels")]
pub(crate) struct LevelFlags {
    /// What the system is held to, as a threshold is written: 'http_req_duration: p(95)<800'; repeatable
    #[arg(long, value_name = "SLO")]
    pub(crate) slo: Vec<String>,
    /// The beginning of each level, which is not looked at
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub(crate) warm_up: String,
    /// Wait so long after a level that broke what is asked, for what it left behind to be worked off
    #[arg(long, value_name = "TIME", default_value = "2s")]
    pub(crate) rest: String,
    /// Plan for this part of the lower bound of the load line
    #[arg(long, value_name = "SHARE", default_value = "0.8")]
    pub(crate) head_room: f64,
    /// VUs at most where rates are made
    #[arg(long, value_name = "N", default_value = "2000", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) vus_max: u64,
    /// The name of the study; levels that are there by this name already are not measured again [default: a random one]
    #[arg(long, value_name = "NAME")]
    pub(crate) study: Option<String>,
    /// The version of what is tested; versions of one study are told apart
    #[arg(long, value_name = "TEXT")]
    pub(crate) target_version: Option<String>,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// The answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `plimsoll sweep`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = SWEEP_EXAMPLES)]
pub(crate) struct SweepFlags {
    /// Levels in iterations started per second, comma-separated
    #[arg(long, value_name = "RATES", help_heading = "Levels")]
    pub(crate) rate: Option<String>,
    /// How long each level is looked at, after its beginning
    #[arg(long, value_name = "TIME", default_value = "60s", help_heading = "Levels")]
    pub(crate) hold: String,
    /// Make every level for each of these values of a variable of __ENV, such as REPLICAS=1,2,3
    #[arg(long, value_name = "NAME=VALUES", help_heading = "Levels")]
    pub(crate) over: Option<String>,
    #[command(flatten)]
    pub(crate) study: StudyFlags,
}

const SWEEP_EXAMPLES: &str = "\
Measures a script at several loads, each as a run of its own, and says of each what it is worth (baseline, normal, knee, past the
knee, saturated, SLO exceeded, collapse), where throughput ends, what resources work takes and how much load is safe. --vus takes
a list here, as --rate does. The script's own scenarios are replaced, as k6's --vus and --duration do: by constant VUs or a
constant arrival rate of its only scenario, of the one that --scenario names, or else of its default function. Thresholds of the
script are not judged; --slo says what the system is held to. A level whose measurement is not valid is made once more, and
then counts as unknown. After a level at which throughput falls, no higher one is made.

Examples:
  plimsoll sweep script.js --vus 50,100,200,400
  plimsoll sweep script.js --rate 10,20,40,80 --hold 30s --slo 'http_req_duration: p(95)<800'
  plimsoll sweep script.js --vus 300 --over REPLICAS=1,2,3        each load with 1, 2 and 3 replicas
  plimsoll sweep script.js --vus 50,100 --study s --target-version v1
  plimsoll sweep script.js --vus 50,100 --study s --target-version v2   the same levels beside them
  plimsoll sweep script.js --vus 50,100,200 --study night         again after an interruption: goes on";

/// `plimsoll capacity`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = CAPACITY_EXAMPLES, mut_arg("script", |script| script.required(false).default_value("-").hide_default_value(true)))]
pub(crate) struct CapacityFlags {
    /// Search for a rate of iterations per second; without it, for a number of VUs
    #[arg(long, help_heading = "Search")]
    pub(crate) rate: bool,
    /// The first load [default: 1 per second, 1 VU]
    #[arg(long, value_name = "LOAD", help_heading = "Search")]
    pub(crate) from: Option<f64>,
    /// No load is higher [default: 10000 per second, 2000 VUs]
    #[arg(long, value_name = "LOAD", help_heading = "Search")]
    pub(crate) to: Option<f64>,
    /// A level is looked at for so long at least, after its beginning
    #[arg(long, value_name = "TIME", default_value = "15s", help_heading = "Search")]
    pub(crate) step_min: String,
    /// And for so long at most
    #[arg(long, value_name = "TIME", default_value = "60s", help_heading = "Search")]
    pub(crate) step_max: String,
    /// Hold the line for so long in the end; 0s does not
    #[arg(long, value_name = "TIME", default_value = "3m", help_heading = "Search")]
    pub(crate) hold: String,
    /// The time under load that all levels together may take
    #[arg(long, value_name = "TIME", default_value = "20m", help_heading = "Search")]
    pub(crate) budget: String,
    /// The interval of the line is to be this narrow
    #[arg(long, value_name = "SHARE", default_value = "0.1", help_heading = "Search")]
    pub(crate) tolerance: f64,
    /// Measure nothing: say what tables of results, or the study that a run is a level of, say
    #[arg(long, value_name = "TABLE|RUN", help_heading = "Search", num_args = 1..)]
    pub(crate) of: Vec<String>,
    #[command(flatten)]
    pub(crate) study: StudyFlags,
}

const CAPACITY_EXAMPLES: &str = "\
Finds the load line of a script: the highest load that keeps every --slo, with an interval of 95 %. Loads double until one breaks;
then the line is narrowed down, each level ending early when it is sure; its lower bound is held for longer, a load above it is to
break, and the lower bound is to hold once more. Each level is a run of its own. The script is steered as `plimsoll sweep` does.
To plan for: the lower bound times --head-room. A load at which throughput falls is never passed.

Examples:
  plimsoll capacity script.js --slo 'http_req_duration: p(95)<800' --slo 'http_req_failed: rate==0' --rate
  plimsoll capacity script.js --slo 'http_req_duration: p(95)<800' --from 10 --to 500           VUs
  plimsoll capacity script.js --slo 'e2e: p(95)<30000' --rate --step-max 30s --hold 0s --budget 5m
  plimsoll capacity script.js --slo 'http_req_duration: p(95)<800' --study night   again after an interruption: goes on
  plimsoll capacity --of runs.csv criteria.csv         a sweep that somebody else made
  plimsoll capacity --of @last                         the study of the last run once more
  plimsoll capacity --of @last --json | jq '.parts[0].line'

Exit codes: 0 a load keeps the SLOs, 99 none does, 120 no level was valid, 105 stopped by a signal; others as of `plimsoll run`.";
