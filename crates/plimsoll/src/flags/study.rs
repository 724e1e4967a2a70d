//! Flags of the subcommands that measure several load steps: `plimsoll find`, `plimsoll sweep` and `plimsoll capacity`.

use clap::Args;

use super::{AgentsFlags, EvidenceFlags, OptionFlags, OtlpFlags, ScriptFlags};

/// Defaults of each load step.
const WARM_UP: &str = "5s";
const REST: &str = "2s";
const HEAD_ROOM: f64 = 0.8;
const VUS_MAX: u64 = 2_000;

/// Flags of all of them.
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
    pub(crate) agents: AgentsFlags,
    #[command(flatten)]
    pub(crate) level: LevelFlags,
}

/// Measurement of each load step.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Load steps")]
pub(crate) struct LevelFlags {
    /// SLO, written as a threshold: 'http_req_duration: p(95)<800'; repeatable
    #[arg(long, value_name = "SLO")]
    pub(crate) slo: Vec<String>,
    /// Warm-up excluded from each step's statistics
    #[arg(long, value_name = "TIME", default_value = WARM_UP)]
    pub(crate) warm_up: String,
    /// Cool-down after a step that violates an SLO, so the target can drain its backlog
    #[arg(long, value_name = "TIME", default_value = REST)]
    pub(crate) rest: String,
    /// Safe load as a fraction of the lower confidence bound
    #[arg(long, value_name = "SHARE", default_value_t = HEAD_ROOM)]
    pub(crate) head_room: f64,
    /// Maximum number of VUs for arrival rates
    #[arg(long, value_name = "N", default_value_t = VUS_MAX, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) vus_max: u64,
    /// Name of the study; steps already stored under this name are not repeated [default: random]
    #[arg(long, value_name = "NAME")]
    pub(crate) study: Option<String>,
    /// Version of the target; one study can compare several versions
    #[arg(long, value_name = "TEXT")]
    pub(crate) target_version: Option<String>,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl LevelFlags {
    /// The defaults of the command line.
    pub(crate) fn usual() -> LevelFlags {
        LevelFlags {
            warm_up: WARM_UP.to_owned(),
            rest: REST.to_owned(),
            head_room: HEAD_ROOM,
            vus_max: VUS_MAX,
            ..LevelFlags::default()
        }
    }
}

/// `plimsoll sweep`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = SWEEP_EXAMPLES)]
pub(crate) struct SweepFlags {
    /// Load steps in iterations started per second, comma-separated
    #[arg(long, value_name = "RATES", help_heading = "Load steps")]
    pub(crate) rate: Option<String>,
    /// Measurement time of each step, after the warm-up
    #[arg(long, value_name = "TIME", default_value = "60s", help_heading = "Load steps")]
    pub(crate) hold: String,
    /// Run every step for each value of a variable of __ENV, such as REPLICAS=1,2,3
    #[arg(long, value_name = "NAME=VALUES", help_heading = "Load steps")]
    pub(crate) over: Option<String>,
    #[command(flatten)]
    pub(crate) study: StudyFlags,
}

const SWEEP_EXAMPLES: &str = "\
Runs a script at several load steps, each as its own run. Classifies each step (baseline, normal, knee, past the knee,
saturated, SLO exceeded, collapse), and reports maximum throughput, resource demand and safe load.

--vus takes a list, as --rate does. The steps replace the script's scenarios, as --vus and --duration do in k6. Each step runs
the only scenario, the one given by --scenario, or the default function, with constant VUs or a constant arrival rate. The
script's thresholds are ignored; use --slo instead. A step with an invalid measurement is repeated once. The sweep stops when
throughput falls.

Examples:
  plimsoll sweep script.js --vus 50,100,200,400
  plimsoll sweep script.js --rate 10,20,40,80 --hold 30s --slo 'http_req_duration: p(95)<800'
  plimsoll sweep script.js --vus 300 --over REPLICAS=1,2,3        each load step with 1, 2 and 3 replicas
  plimsoll sweep script.js --vus 50,100 --study s --target-version v1
  plimsoll sweep script.js --vus 50,100 --study s --target-version v2   the same steps for another version
  plimsoll sweep script.js --vus 50,100,200 --study night         run again to continue after an interruption";

/// `plimsoll capacity`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = CAPACITY_EXAMPLES, mut_arg("script", |script| script.required(false).default_value("-").hide_default_value(true)))]
pub(crate) struct CapacityFlags {
    /// Search for an arrival rate in iterations per second instead of a number of VUs
    #[arg(long, help_heading = "Search")]
    pub(crate) rate: bool,
    /// First load of the search [default: 1 per second, 1 VU]
    #[arg(long, value_name = "LOAD", help_heading = "Search")]
    pub(crate) from: Option<f64>,
    /// Maximum load of the search [default: 10000 per second, 2000 VUs]
    #[arg(long, value_name = "LOAD", help_heading = "Search")]
    pub(crate) to: Option<f64>,
    /// Minimum measurement time of a step, after the warm-up
    #[arg(long, value_name = "TIME", default_value = "15s", help_heading = "Search")]
    pub(crate) step_min: String,
    /// Maximum measurement time of a step, after the warm-up
    #[arg(long, value_name = "TIME", default_value = "60s", help_heading = "Search")]
    pub(crate) step_max: String,
    /// Duration of the final hold at the load found; 0s skips it
    #[arg(long, value_name = "TIME", default_value = "3m", help_heading = "Search")]
    pub(crate) hold: String,
    /// Maximum time of all steps together, including repeated ones
    #[arg(long, value_name = "TIME", default_value = "20m", help_heading = "Search")]
    pub(crate) budget: String,
    /// Target width of the confidence interval, relative to the load
    #[arg(long, value_name = "SHARE", default_value = "0.1", help_heading = "Search")]
    pub(crate) tolerance: f64,
    /// Analyse result tables, or the study that a run belongs to, without a new measurement
    #[arg(long, value_name = "TABLE|RUN", help_heading = "Search", num_args = 1..)]
    pub(crate) of: Vec<String>,
    #[command(flatten)]
    pub(crate) study: StudyFlags,
}

const CAPACITY_EXAMPLES: &str = "\
Finds the maximum load of a script that meets every --slo, with a 95 % confidence interval. The load doubles
until a step violates an SLO, and then the search narrows the interval. A step ends early once its result is certain.

Three steps confirm the result: a longer hold at the lower bound, a load above the maximum that must fail, and the lower bound
again. Each step is its own run, and replaces the script's scenarios as `plimsoll sweep` does. The safe load is the
lower bound times --head-room. The search never exceeds a load at which throughput falls.

Examples:
  plimsoll capacity script.js --slo 'http_req_duration: p(95)<800' --slo 'http_req_failed: rate==0' --rate
  plimsoll capacity script.js --slo 'http_req_duration: p(95)<800' --from 10 --to 500           VUs
  plimsoll capacity script.js --slo 'e2e: p(95)<30000' --rate --step-max 30s --hold 0s --budget 5m
  plimsoll capacity script.js --slo 'http_req_duration: p(95)<800' --study night   run again to continue after an interruption
  plimsoll capacity --of runs.csv criteria.csv         analyse an existing sweep
  plimsoll capacity --of @last                         analyse the study of the last run again
  plimsoll capacity --of @last --json | jq '.parts[0].line'

Exit codes: 0 a load meets the SLOs, 99 no load does, 120 no valid step, 105 stopped by a signal; others as in `plimsoll run`.";

/// `plimsoll find`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = FIND_EXAMPLES)]
pub(crate) struct FindFlags {
    #[command(flatten)]
    pub(crate) script: ScriptFlags,
    #[command(flatten)]
    pub(crate) options: OptionFlags,
    /// SLO, written as a threshold; repeatable [default: the script's thresholds, else p(95)<1000 and 1 % failures]
    #[arg(long, value_name = "SLO", help_heading = "Search")]
    pub(crate) slo: Vec<String>,
    /// Search for an arrival rate in iterations per second [default: if all scenarios of the script are arrival rates]
    #[arg(long, help_heading = "Search")]
    pub(crate) rate: bool,
    /// First load of the search [default: 1 VU, 1 per second]
    #[arg(long, value_name = "LOAD", help_heading = "Search")]
    pub(crate) from: Option<f64>,
    /// Maximum load of the search [default: 2000 VUs, 10000 per second]
    #[arg(long, value_name = "LOAD", help_heading = "Search")]
    pub(crate) to: Option<f64>,
    /// Maximum time of the whole search, including repeated steps
    #[arg(long, value_name = "TIME", default_value = "5m", help_heading = "Search")]
    pub(crate) budget: String,
    /// Name of the study; steps already stored under this name are not repeated [default: random]
    #[arg(long, value_name = "NAME", help_heading = "Search")]
    pub(crate) study: Option<String>,
    #[command(flatten)]
    pub(crate) evidence: EvidenceFlags,
    #[command(flatten)]
    pub(crate) otlp: OtlpFlags,
    #[command(flatten)]
    pub(crate) agents: AgentsFlags,
    /// Print JSON: the capacity study and the diagnosis
    #[arg(long)]
    pub(crate) json: bool,
}

const FIND_EXAMPLES: &str = "\
Finds the safe load of a script and the bottleneck that limits it, in one command. The load doubles until a step violates an SLO,
the search narrows the limit, and the result is confirmed by a longer step below it and one above it. The diagnosis compares the
highest load with the lowest, and uses the metrics, traces and logs of all connected sources.

The answer is the safe load with its interval, what ends it, the evidence, the first change to make, and the predicted
throughput after it. Without server evidence the safe load is still measured, and the answer names the source to connect.
Ctrl-C ends the search; run the same command with --study to continue it. For more control use `plimsoll capacity`.

Examples:
  plimsoll find script.js
  plimsoll find script.js --otlp --evidence postgresql=postgres://localhost/shop
  plimsoll find script.js --slo 'http_req_duration: p(95)<800' --slo 'http_req_failed: rate<0.01'
  plimsoll find script.js --rate --from 10 --budget 3m
  plimsoll find script.js --json | jq -r .diagnosis.headline

Exit codes: 0 a load meets the SLOs, 99 no load does, 120 no valid step, 105 stopped by a signal; others as in `plimsoll run`.";
