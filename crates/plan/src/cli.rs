//! Options from flags: what was typed, in text; what it means is decided here and nowhere else.

use crate::Options;
use crate::constant::ConstantLoad;
use crate::error::{PlanError, Problem};
use crate::limits::LoadLimits;
use crate::options::{Level, finish};
use crate::value::{OptionValue, invalid};

/// The flags that set options, as typed; `None` and empty lists where a flag was not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CliOptions {
    /// `-u`, `--vus`
    pub vus: Option<String>,
    /// `-d`, `--duration`
    pub duration: Option<String>,
    /// `-i`, `--iterations`
    pub iterations: Option<String>,
    /// `-s`, `--stage`, repeatable, each `duration:target`
    pub stages: Vec<String>,
    /// `--scenario a,b`, repeatable
    pub scenarios: Vec<String>,
    /// `--once`
    pub once: bool,
    /// `--execution-segment`
    pub execution_segment: Option<String>,
    /// `--execution-segment-sequence`
    pub execution_segment_sequence: Option<String>,
    /// `-p`, `--paused`
    pub paused: Option<bool>,
    /// `--no-setup`
    pub no_setup: Option<bool>,
    /// `--no-teardown`
    pub no_teardown: Option<bool>,
    /// `--max-redirects`
    pub max_redirects: Option<String>,
    /// `--batch`
    pub batch: Option<String>,
    /// `--batch-per-host`
    pub batch_per_host: Option<String>,
    /// `--rps`
    pub rps: Option<String>,
    /// `--user-agent`
    pub user_agent: Option<String>,
    /// `--http-debug`, `--http-debug=full`; `headers` where no value was given
    pub http_debug: Option<String>,
    /// `--insecure-skip-tls-verify`
    pub insecure_skip_tls_verify: Option<bool>,
    /// `--no-connection-reuse`
    pub no_connection_reuse: Option<bool>,
    /// `--no-vu-connection-reuse`
    pub no_vu_connection_reuse: Option<bool>,
    /// `--min-iteration-duration`
    pub min_iteration_duration: Option<String>,
    /// `-w`, `--throw`
    pub throw: Option<bool>,
    /// `--blacklist-ip`, repeatable and comma-separated
    pub blacklist_ips: Vec<String>,
    /// `--block-hostnames`, repeatable and comma-separated
    pub block_hostnames: Vec<String>,
    /// `--summary-trend-stats`, repeatable and comma-separated
    pub summary_trend_stats: Vec<String>,
    /// `--summary-time-unit`
    pub summary_time_unit: Option<String>,
    /// `--system-tags`, repeatable and comma-separated
    pub system_tags: Vec<String>,
    /// `--tag name=value`, repeatable
    pub tags: Vec<String>,
    /// `--console-output`
    pub console_output: Option<String>,
    /// `--discard-response-bodies`
    pub discard_response_bodies: Option<bool>,
    /// `--local-ips`
    pub local_ips: Option<String>,
    /// `--dns`
    pub dns: Option<String>,
    /// `--features`, repeatable and comma-separated
    pub features: Vec<String>,
    /// The load of a study, which replaces the scenarios.
    pub constant: Option<ConstantLoad>,
    /// Limits of the user for scripts of others.
    pub limits: LoadLimits,
}

impl Options {
    /// Reads flags.
    ///
    /// # Errors
    /// Everything that is wrong, each with the flag's name.
    pub fn from_cli(cli: &CliOptions) -> Result<Options, PlanError> {
        let mut problems = conflicts(cli);
        let mut one = Reader { problems: &mut problems };
        let options = Options {
            vus: one.text("--vus", &cli.vus),
            duration: one.text("--duration", &cli.duration),
            iterations: one.text("--iterations", &cli.iterations),
            stages: one.list("--stage", &cli.stages),
            execution_segment: one.text("--execution-segment", &cli.execution_segment),
            execution_segment_sequence: one
                .text("--execution-segment-sequence", &cli.execution_segment_sequence),
            paused: cli.paused,
            no_setup: cli.no_setup,
            no_teardown: cli.no_teardown,
            max_redirects: one.text("--max-redirects", &cli.max_redirects),
            batch: one.text("--batch", &cli.batch),
            batch_per_host: one.text("--batch-per-host", &cli.batch_per_host),
            rps: one.text("--rps", &cli.rps),
            user_agent: cli.user_agent.clone(),
            http_debug: cli.http_debug.clone(),
            insecure_skip_tls_verify: cli.insecure_skip_tls_verify,
            no_connection_reuse: cli.no_connection_reuse,
            no_vu_connection_reuse: cli.no_vu_connection_reuse,
            min_iteration_duration: one.text("--min-iteration-duration", &cli.min_iteration_duration),
            throw: cli.throw,
            blacklist_ips: one.list("--blacklist-ip", &cli.blacklist_ips),
            block_hostnames: one.list("--block-hostnames", &cli.block_hostnames),
            summary_trend_stats: one.list("--summary-trend-stats", &cli.summary_trend_stats),
            summary_time_unit: cli.summary_time_unit.clone(),
            system_tags: one.list("--system-tags", &cli.system_tags),
            tags: one.tags(&cli.tags),
            console_output: cli.console_output.clone(),
            discard_response_bodies: cli.discard_response_bodies,
            local_ips: one.text("--local-ips", &cli.local_ips),
            dns: one.text("--dns", &cli.dns),
            features: one.list("--features", &cli.features),
            selected_scenarios: one.list("--scenario", &cli.scenarios).unwrap_or_default(),
            once: cli.once,
            ..Options::default()
        };
        finish(options, problems, Level::CommandLine)
    }
}

/// `--scenario` chooses among scenarios, the shortcuts replace them: both together say two things.
fn conflicts(cli: &CliOptions) -> Vec<Problem> {
    let shortcuts = [
        ("--vus", cli.vus.is_some()),
        ("--duration", cli.duration.is_some()),
        ("--iterations", cli.iterations.is_some()),
        ("--stage", !cli.stages.is_empty()),
    ];
    let chooses = !cli.scenarios.is_empty();
    let given = shortcuts.into_iter().filter(|(_, is_given)| chooses && *is_given);
    given.map(|(second, _)| Problem::Conflict { first: "--scenario", second }).collect()
}

struct Reader<'a> {
    problems: &'a mut Vec<Problem>,
}

impl Reader<'_> {
    fn text<T: OptionValue>(&mut self, flag: &str, text: &Option<String>) -> Option<T> {
        self.keep(T::parse(text.as_ref()?, flag))
    }

    fn list<T: OptionValue>(&mut self, flag: &str, texts: &[String]) -> Option<T> {
        if texts.is_empty() { None } else { self.keep(T::parse(&texts.join(","), flag)) }
    }

    /// A tag's value may hold commas and further equals signs, so tags are not joined and split again.
    fn tags(&mut self, texts: &[String]) -> Option<std::collections::BTreeMap<String, String>> {
        let mut tags = std::collections::BTreeMap::new();
        for text in texts {
            match text.split_once('=') {
                Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                    tags.insert(name.to_owned(), value.to_owned());
                }
                _ => self.problems.extend(invalid("--tag", format!("{text:?} must be name=value"))),
            }
        }
        (!texts.is_empty()).then_some(tags)
    }

    fn keep<T>(&mut self, result: Result<T, Vec<Problem>>) -> Option<T> {
        result.map_err(|problems| self.problems.extend(problems)).ok()
    }
}
