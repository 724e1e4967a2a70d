//! From merged options to the plan that everybody reads: every check, and all that is wrong at once.

use std::sync::Arc;
use std::time::Duration;

use model::plan::{
    Compat, HttpOptions, Lifecycle, NetworkOptions, Plan, Scenario, SummaryOptions, TimeUnit, TlsOptions,
};
use model::tags::SystemTags;

use crate::error::{PlanError, Problem, Warning, nearest};
use crate::executors::check_not_negative;
use crate::options::Options;
use crate::scenario::ScenarioConfig;
use crate::value::invalid;
use crate::{GoDuration, echo, segment};

/// The most scenarios of one plan.
pub const SCENARIOS_MAX: usize = 1_000;

const GRACEFUL_STOP_DEFAULT: GoDuration = GoDuration::from_secs(30);

/// The facts that the options alone do not contain.
#[derive(Clone, Debug, Default)]
pub struct ResolveContext<'a> {
    /// The functions that the script exports; `None` where they are not known and `exec` is not to be checked.
    pub exports: Option<&'a [String]>,
    /// k6's numbers even where they mislead.
    pub compat: Compat,
    /// One iteration of each scenario, also where no flag says so.
    pub once: bool,
    /// The `User-Agent` of a script that sets none; `None` sends none.
    pub user_agent: Option<&'a str>,
}

/// Derives the scenarios, checks everything and makes the plan.
///
/// # Errors
/// Everything that is wrong, at once; see [`PlanError`].
pub fn resolve(options: Options, context: &ResolveContext<'_>) -> Result<(Plan, Vec<Warning>), PlanError> {
    let (options, mut warnings) = options.derive(context)?;
    let mut check = Check { problems: Vec::new() };
    let plan = Plan {
        scenarios: check.scenarios(&options, context),
        segment: check.segment(&options),
        thresholds: options.thresholds.as_ref().map(|it| it.resolve()).unwrap_or_default(),
        lifecycle: check.lifecycle(&options),
        http: check.http(&options, context),
        network: network(&options),
        tls: check.tls(&options, &mut warnings),
        tags: options.tags.clone().unwrap_or_default(),
        system_tags: system_tags(&options),
        summary: check.summary(&options),
        min_iteration_duration: check.time(
            "minIterationDuration",
            options.min_iteration_duration,
            Duration::ZERO,
        ),
        rps: options.rps.filter(|rps| *rps > 0).map(|rps| u32::try_from(rps).unwrap_or(u32::MAX)),
        compat: context.compat,
        options_json: echo::test_options_json(&options),
    };
    warn_of_no_effect(&options, &mut warnings);
    if check.problems.is_empty() {
        return Ok((plan, warnings));
    }
    Err(PlanError::Configuration { problems: check.problems })
}

/// Makes values and gathers what is wrong with them.
struct Check {
    problems: Vec<Problem>,
}

impl Check {
    fn scenarios(&mut self, options: &Options, context: &ResolveContext<'_>) -> Vec<Scenario> {
        let configs = options.scenarios.iter().flat_map(|scenarios| &scenarios.0);
        let count = configs.clone().count();
        if count > SCENARIOS_MAX {
            self.problems
                .extend(invalid("scenarios", format!("{count} are too many: {SCENARIOS_MAX} is the most")));
            return Vec::new();
        }
        configs.map(|(name, config)| self.scenario(name, config, context)).collect()
    }

    fn scenario(&mut self, name: &str, config: &ScenarioConfig, context: &ResolveContext<'_>) -> Scenario {
        let mut reasons = Vec::new();
        let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if name.is_empty() || !name.bytes().all(is_name_byte) {
            let rule =
                "the scenario name should contain only numbers, latin letters, underscores, and dashes";
            reasons.push(rule.to_owned());
        }
        let exec = config.exec.as_deref().unwrap_or("default");
        if exec.is_empty() {
            reasons.push("exec value cannot be empty".to_owned());
        }
        check_not_negative("startTime", config.start_time, &mut reasons);
        check_not_negative("gracefulStop timeout", config.graceful_stop, &mut reasons);
        (config.executor.check)(config, &mut reasons);
        if context.compat == Compat::Strict && !config.executor.is_of_k6() {
            reasons.push(format!("unknown executor type '{}': k6 has it no more", config.executor.name));
        }
        if !reasons.is_empty() {
            self.problems.push(Problem::Scenario { scenario: name.to_owned(), reasons });
        }
        self.exec(name, exec, context);
        Scenario {
            name: name.into(),
            exec: exec.into(),
            executor: (config.executor.resolve)(config),
            start_time: config.start_time.unwrap_or_default().to_std(),
            graceful_stop: config.graceful_stop.unwrap_or(GRACEFUL_STOP_DEFAULT).to_std(),
            env: config.env.clone().unwrap_or_default(),
            tags: config.tags.clone().unwrap_or_default(),
        }
    }

    fn exec(&mut self, scenario: &str, exec: &str, context: &ResolveContext<'_>) {
        let Some(exports) = context.exports else { return };
        if exec.is_empty() || exports.iter().any(|export| export == exec) {
            return;
        }
        let nearest = nearest(exec, exports.iter().map(String::as_str)).map(str::to_owned);
        let (scenario, exec) = (scenario.to_owned(), exec.to_owned());
        self.problems.push(Problem::MissingExec { scenario, exec, nearest });
    }

    fn segment(&mut self, options: &Options) -> model::plan::Segment {
        let own = options.execution_segment.map(|it| (it.0, it.1));
        let sequence = options.execution_segment_sequence.as_ref().map(|it| it.0.as_slice());
        segment::join(own, sequence).unwrap_or_else(|error| {
            self.problems.extend(invalid("executionSegment", format!("cannot {error}")));
            model::plan::Segment::default()
        })
    }

    fn lifecycle(&mut self, options: &Options) -> Lifecycle {
        let default = Lifecycle::default();
        Lifecycle {
            no_setup: options.no_setup.unwrap_or(false),
            no_teardown: options.no_teardown.unwrap_or(false),
            setup_timeout: self.time("setupTimeout", options.setup_timeout, default.setup_timeout),
            teardown_timeout: self.time(
                "teardownTimeout",
                options.teardown_timeout,
                default.teardown_timeout,
            ),
            handle_summary_timeout: self.time(
                "handleSummaryTimeout",
                options.handle_summary_timeout,
                default.handle_summary_timeout,
            ),
            paused: options.paused.unwrap_or(false),
        }
    }

    fn http(&mut self, options: &Options, context: &ResolveContext<'_>) -> HttpOptions {
        let default = HttpOptions::default();
        let user_agent = options.user_agent.as_deref().or(context.user_agent);
        HttpOptions {
            max_redirects: self.number("maxRedirects", options.max_redirects, 0, default.max_redirects),
            max_redirects_is_default: options.max_redirects.is_none(),
            user_agent: user_agent.filter(|it| !it.is_empty()).map(Arc::from),
            // k6 hangs with a batch of 0.
            batch: self.number("batch", options.batch, 1, default.batch),
            batch_per_host: match options.batch_per_host {
                Some(0) => u32::MAX,
                other => self.number("batchPerHost", other, 1, default.batch_per_host),
            },
            throw: options.throw.unwrap_or(false),
            discard_response_bodies: options.discard_response_bodies.unwrap_or(false),
            no_connection_reuse: options.no_connection_reuse.unwrap_or(false),
            no_vu_connection_reuse: options.no_vu_connection_reuse.unwrap_or(false),
            no_cookies_reset: options.no_cookies_reset.unwrap_or(false),
            debug: match options.http_debug.as_deref() {
                None | Some("" | "false") => None,
                Some(how) => Some(how == "full"),
            },
        }
    }

    fn tls(&mut self, options: &Options, warnings: &mut Vec<Warning>) -> TlsOptions {
        let versions = options.tls_version.as_ref().map(|versions| versions.resolve()).transpose();
        let versions = versions.unwrap_or_else(|reason| {
            self.problems.extend(invalid("tlsVersion", reason));
            None
        });
        TlsOptions {
            insecure_skip_verify: options.insecure_skip_tls_verify.unwrap_or(false),
            versions,
            cipher_suites: self.cipher_suites(options, warnings),
            client_certificates: options.tls_auth.clone().unwrap_or_default().0,
        }
    }

    fn cipher_suites(&mut self, options: &Options, warnings: &mut Vec<Warning>) -> Vec<String> {
        let Some(asked) = &options.tls_cipher_suites else { return Vec::new() };
        let (suites, lacking) = asked.resolve();
        if suites.is_empty() && !lacking.is_empty() {
            let reason = format!("none of these is supported: {}", lacking.join(", "));
            self.problems.extend(invalid("tlsCipherSuites", reason));
        } else {
            warnings.extend(lacking.into_iter().map(|name| Warning::CipherSuiteUnavailable { name }));
        }
        suites
    }

    fn summary(&mut self, options: &Options) -> SummaryOptions {
        let trend_stats = options.summary_trend_stats.clone().unwrap_or_default();
        for stat in trend_stats.iter().filter(|stat| !is_trend_stat(stat)) {
            let reason = format!("invalid trend stat '{stat}'; use avg, min, med, max, count or p(N)");
            self.problems.extend(invalid("summaryTrendStats", reason));
        }
        let time_unit = match options.summary_time_unit.as_deref() {
            None | Some("") => None,
            Some("s") => Some(TimeUnit::Seconds),
            Some("ms") => Some(TimeUnit::Milliseconds),
            Some("us") => Some(TimeUnit::Microseconds),
            Some(other) => {
                let reason = format!("invalid summary time unit '{other}', use 's', 'ms' or 'us'");
                self.problems.extend(invalid("summaryTimeUnit", reason));
                None
            }
        };
        SummaryOptions { trend_stats, time_unit }
    }

    /// A time that may be zero and not less.
    fn time(&mut self, name: &str, value: Option<GoDuration>, default: Duration) -> Duration {
        if value.is_some_and(|value| value.ns < 0) {
            self.problems.extend(invalid(name, "can't be negative"));
        }
        value.map_or(default, GoDuration::to_std)
    }

    fn number(&mut self, name: &str, value: Option<i64>, min: u32, default: u32) -> u32 {
        let Some(value) = value else { return default };
        match u32::try_from(value).ok().filter(|number| *number >= min) {
            Some(number) => number,
            None => {
                self.problems
                    .extend(invalid(name, format!("must be from {min} to {}, but is {value}", u32::MAX)));
                default
            }
        }
    }
}

fn network(options: &Options) -> NetworkOptions {
    NetworkOptions {
        dns: options.dns.clone().unwrap_or_default().resolve(),
        hosts: options.hosts.clone().unwrap_or_default().0,
        blacklist_ips: options.blacklist_ips.clone().unwrap_or_default().0,
        block_hostnames: options.block_hostnames.clone().unwrap_or_default().0,
        allowed_hosts: None,
        local_ips: options.local_ips.clone().unwrap_or_default().addresses,
    }
}

fn system_tags(options: &Options) -> SystemTags {
    let names = options.system_tags.iter().flatten();
    names.filter_map(|name| SystemTags::parse(name)).fold(SystemTags::NONE, SystemTags::with)
}

/// A column of trends: a fixed name, or `p(N)` with N from 0 to 100.
fn is_trend_stat(stat: &str) -> bool {
    if ["avg", "min", "med", "max", "count"].contains(&stat) {
        return true;
    }
    let percentile = stat.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
    percentile.and_then(|it| it.parse::<f64>().ok()).is_some_and(|it| (0.0..=100.0).contains(&it))
}

fn warn_of_no_effect(options: &Options, warnings: &mut Vec<Warning>) {
    let has_cloud = options.cloud.is_some();
    let browser = options.scenarios.iter().flat_map(|it| it.0.values()).any(|it| it.options.is_some());
    let silent = [
        (has_cloud, "cloud", "there is no cloud to send it to"),
        (options.tls_aia_fetch == Some(true), "tlsAIAFetch", "missing certificates are not fetched"),
        (options.features.is_some(), "features", "k6's feature flags do not exist here"),
        (browser, "options", "scenarios cannot use a browser"),
    ];
    let given = silent.into_iter().filter(|(is_given, ..)| *is_given);
    warnings.extend(given.map(|(_, name, reason)| Warning::NoEffect { name, reason }));
}
