//! The options of one source, each of them optional. The table at the end of this file is the list of all options.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::{PlanError, Problem, Warning, nearest};
use crate::network::{DnsConfig, HostPatterns, Hosts, LocalIps, Networks};
use crate::scenario::{Scenarios, Stages};
use crate::thresholds::Thresholds;
use crate::tls::{CipherSuites, ClientCertificates, TlsVersions};
use crate::value::{OptionValue, echo_or_null, invalid, wrong_type};
use crate::{GoDuration, json, segment};

/// Who said it, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Defaults, which apply where no source sets a value.
    Defaults,
    /// The JSON configuration file.
    ConfigFile,
    /// The script's exported `options`.
    Script,
    /// Environment variables.
    Environment,
    /// Command-line flags.
    CommandLine,
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Level::Defaults => "the defaults",
            Level::ConfigFile => "the config file",
            Level::Script => "the script",
            Level::Environment => "the environment",
            Level::CommandLine => "the command line",
        })
    }
}

/// Who may set an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Every source.
    Anywhere,
    /// Not the script; k6 warns and goes on.
    Outside,
}

/// Keys of k6's config file that are about its own surroundings and not about the test.
const CONFIG_FILE_KEYS: [&str; 8] =
    ["collectors", "out", "linger", "noUsageReport", "webDashboard", "outputs", "noSummary", "summaryExport"];

impl Options {
    /// Reads the script's exported `options`, as JSON.
    ///
    /// # Errors
    /// Everything that is wrong, each with the option's name. Unknown options are warnings.
    pub fn from_script_json(text: &str) -> Result<(Options, Vec<Warning>), PlanError> {
        Options::from_json(text, Level::Script)
    }

    /// Reads a JSON configuration file.
    ///
    /// # Errors
    /// As [`Options::from_script_json`].
    pub fn from_config_json(text: &str) -> Result<(Options, Vec<Warning>), PlanError> {
        Options::from_json(text, Level::ConfigFile)
    }

    /// Reads environment variables: `K6_VUS` and so on, `PLIMSOLL_VUS` wins over `K6_VUS`. Empty ones are unset, but
    /// for `K6_STAGES`, which then is an empty list, as in k6.
    ///
    /// # Errors
    /// Everything that is wrong, each with the variable's name.
    pub fn from_env(variables: &BTreeMap<String, String>) -> Result<Options, PlanError> {
        let mut options = Options::default();
        let mut problems = Vec::new();
        for (suffix, set) in ENV {
            let named = ["PLIMSOLL_", "K6_"].map(|prefix| format!("{prefix}{suffix}"));
            let found = named.iter().find_map(|name| Some((name, variables.get(name)?)));
            let Some((name, text)) = found.filter(|(_, text)| !text.is_empty() || *suffix == "STAGES") else {
                continue;
            };
            problems.extend(set(&mut options, text, name).err().into_iter().flatten());
        }
        finish(options, problems, Level::Environment)
    }

    fn from_json(text: &str, level: Level) -> Result<(Options, Vec<Warning>), PlanError> {
        let whole = |problems| PlanError::Options { level, problems };
        let value: Value = serde_json::from_str(text)
            .map_err(|error| whole(invalid("options", format!("must be JSON, {error}"))))?;
        let object = match &value {
            Value::Null => return Ok((Options::default(), Vec::new())),
            Value::Object(object) => object,
            _ => return Err(whole(wrong_type("options", "an object", &value))),
        };
        let mut options = Options::default();
        let (mut problems, mut warnings) = (Vec::new(), Vec::new());
        for (name, value) in object {
            let Some((known, place, read)) = JSON.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))
            else {
                if level != Level::ConfigFile || !CONFIG_FILE_KEYS.contains(&name.as_str()) {
                    let nearest = nearest(name, JSON.iter().map(|(known, ..)| *known));
                    warnings.push(Warning::UnknownOption { level, name: name.clone(), nearest });
                }
                continue;
            };
            if *place == Place::Outside && level == Level::Script {
                warnings.push(Warning::NotSettableHere { level, name: known });
            } else if !value.is_null() {
                problems.extend(read(&mut options, value, known).err().into_iter().flatten());
            }
        }
        Ok((finish(options, problems, level)?, warnings))
    }

    /// Whether this source says what to run, and so erases what lower ones said of it.
    pub(crate) fn says_what_to_run(&self) -> bool {
        self.duration.is_some()
            || self.iterations.is_some()
            || self.stages.is_some()
            || self.scenarios.is_some()
    }

    /// Forgets what to run.
    pub(crate) fn forget_what_to_run(&mut self) {
        (self.duration, self.iterations, self.stages, self.scenarios) = (None, None, None, None);
    }
}

/// The options, or what is wrong with them.
pub(crate) fn finish(options: Options, problems: Vec<Problem>, level: Level) -> Result<Options, PlanError> {
    if problems.is_empty() { Ok(options) } else { Err(PlanError::Options { level, problems }) }
}

/// The option `executionSegment`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentOption(pub segment::Fraction, pub segment::Fraction);

impl OptionValue for SegmentOption {
    fn read(value: &Value, at: &str) -> Result<Self, Vec<Problem>> {
        let expected = "a segment such as \"1/3:2/3\" or \"25%\"";
        let text = value.as_str().ok_or_else(|| wrong_type(at, expected, value))?;
        SegmentOption::parse(text, at)
    }

    fn parse(text: &str, at: &str) -> Result<Self, Vec<Problem>> {
        let (from, to) =
            segment::parse_segment(text).map_err(|error| invalid(at, format!("cannot {error}")))?;
        Ok(SegmentOption(from, to))
    }

    fn echo(&self) -> String {
        json::string(&segment::format_segment(self.0, self.1))
    }
}

/// The option `executionSegmentSequence`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceOption(pub Vec<segment::Fraction>);

impl OptionValue for SequenceOption {
    fn read(value: &Value, at: &str) -> Result<Self, Vec<Problem>> {
        let text = value.as_str().ok_or_else(|| wrong_type(at, "a string such as \"0,1/3,2/3,1\"", value))?;
        SequenceOption::parse(text, at)
    }

    fn parse(text: &str, at: &str) -> Result<Self, Vec<Problem>> {
        let bounds = segment::parse_sequence(text).map_err(|error| invalid(at, format!("cannot {error}")))?;
        Ok(SequenceOption(bounds))
    }

    fn echo(&self) -> String {
        json::string(&segment::format_sequence(&self.0))
    }
}

type ReadJson = fn(&mut Options, &Value, &str) -> Result<(), Vec<Problem>>;
type ReadText = fn(&mut Options, &str, &str) -> Result<(), Vec<Problem>>;

macro_rules! options {
    ($($(#[$doc:meta])* $field:ident: $kind:ty = $key:literal, $place:ident $(, $env:literal)?;)*) => {
        /// Options of one source, or of all of them merged.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Options {
            $($(#[$doc])* pub $field: Option<$kind>,)*
            /// `--scenario`: run only these scenarios.
            pub selected_scenarios: Vec<String>,
            /// `--once`: one iteration of each scenario.
            pub once: bool,
        }

        /// Every option's key and how to read it from JSON.
        const JSON: &[(&str, Place, ReadJson)] = &[$((
            $key,
            Place::$place,
            |options, value, at| {
                options.$field = Some(<$kind as OptionValue>::read(value, at)?);
                Ok(())
            },
        )),*];

        /// Every variable's name without prefix and how to read it.
        const ENV: &[(&str, ReadText)] = &[$($((
            $env,
            |options, text, at| {
                options.$field = Some(<$kind as OptionValue>::parse(text, at)?);
                Ok(())
            },
        ),)?)*];

        impl Options {
            /// Takes over whatever `higher` says. What to run and tags have rules of their own; see `consolidate`.
            pub(crate) fn overlay(&mut self, higher: &Options) {
                $(match (&mut self.$field, &higher.$field) {
                    (Some(mine), Some(theirs)) => mine.overlay(theirs),
                    (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
                    (_, None) => {}
                })*
                if !higher.selected_scenarios.is_empty() {
                    self.selected_scenarios.clone_from(&higher.selected_scenarios);
                }
                self.once |= higher.once;
            }

            /// Every option's key, whether it is set, whether a script can set it, and its JSON text.
            pub(crate) fn echo(&self) -> Vec<Echo> {
                vec![$(Echo {
                    key: $key,
                    is_set: self.$field.is_some(),
                    is_outside: Place::$place == Place::Outside,
                    json: echo_or_null(&self.$field),
                }),*]
            }
        }
    };
}

/// One option, echoed.
pub(crate) struct Echo {
    pub(crate) key: &'static str,
    pub(crate) is_set: bool,
    pub(crate) is_outside: bool,
    pub(crate) json: String,
}

// Field, type, k6's key, who may set it, and k6's environment variable without its prefix. The order is k6's.
options! {
    /// Wait for a resume before setup.
    paused: bool = "paused", Anywhere, "PAUSED";
    /// VUs of the shortcuts.
    vus: i64 = "vus", Anywhere, "VUS";
    /// Shortcut: run for a time.
    duration: GoDuration = "duration", Anywhere, "DURATION";
    /// Shortcut: run so many iterations.
    iterations: i64 = "iterations", Anywhere, "ITERATIONS";
    /// Shortcut: ramp the VUs.
    stages: Stages = "stages", Anywhere, "STAGES";
    /// The scenarios to run.
    scenarios: Scenarios = "scenarios", Anywhere;
    /// The part of the whole test that this process runs.
    execution_segment: SegmentOption = "executionSegment", Anywhere;
    /// The bounds that cut the whole into parts.
    execution_segment_sequence: SequenceOption = "executionSegmentSequence", Anywhere;
    /// Skip `setup()`.
    no_setup: bool = "noSetup", Anywhere, "NO_SETUP";
    /// `setup()` may take this long.
    setup_timeout: GoDuration = "setupTimeout", Anywhere, "SETUP_TIMEOUT";
    /// Skip `teardown()`.
    no_teardown: bool = "noTeardown", Anywhere, "NO_TEARDOWN";
    /// `teardown()` may take this long.
    teardown_timeout: GoDuration = "teardownTimeout", Anywhere, "TEARDOWN_TIMEOUT";
    /// `handleSummary()` may take this long.
    handle_summary_timeout: GoDuration = "handleSummaryTimeout", Anywhere, "HANDLE_SUMMARY_TIMEOUT";
    /// Requests per second over all VUs.
    rps: i64 = "rps", Anywhere, "RPS";
    /// How names are resolved.
    dns: DnsConfig = "dns", Anywhere, "DNS";
    /// Hops followed at most.
    max_redirects: i64 = "maxRedirects", Anywhere, "MAX_REDIRECTS";
    /// The `User-Agent` header.
    user_agent: String = "userAgent", Anywhere, "USER_AGENT";
    /// Parallel requests of `http.batch`.
    batch: i64 = "batch", Anywhere, "BATCH";
    /// Parallel requests of `http.batch` to one host.
    batch_per_host: i64 = "batchPerHost", Anywhere, "BATCH_PER_HOST";
    /// Print requests and responses; `full` with bodies.
    http_debug: String = "httpDebug", Anywhere, "HTTP_DEBUG";
    /// Accept any certificate.
    insecure_skip_tls_verify: bool = "insecureSkipTLSVerify", Anywhere, "INSECURE_SKIP_TLS_VERIFY";
    /// Cipher suites.
    tls_cipher_suites: CipherSuites = "tlsCipherSuites", Anywhere, "TLS_CIPHER_SUITES";
    /// TLS versions.
    tls_version: TlsVersions = "tlsVersion", Anywhere;
    /// Client certificates.
    tls_auth: ClientCertificates = "tlsAuth", Anywhere, "TLSAUTH";
    /// Fetch missing intermediate certificates.
    tls_aia_fetch: bool = "tlsAIAFetch", Anywhere, "TLS_AIA_FETCH";
    /// Transport failures throw.
    throw: bool = "throw", Anywhere, "THROW";
    /// Conditions that decide the run.
    thresholds: Thresholds = "thresholds", Anywhere, "THRESHOLDS";
    /// Networks never connected to.
    blacklist_ips: Networks = "blacklistIPs", Anywhere, "BLACKLIST_IPS";
    /// Names never connected to.
    block_hostnames: HostPatterns = "blockHostnames", Anywhere, "BLOCK_HOSTNAMES";
    /// Addresses of names.
    hosts: Hosts = "hosts", Anywhere, "HOSTS";
    /// Every request opens a connection.
    no_connection_reuse: bool = "noConnectionReuse", Anywhere, "NO_CONNECTION_REUSE";
    /// Connections are closed after each iteration.
    no_vu_connection_reuse: bool = "noVUConnectionReuse", Anywhere, "NO_VU_CONNECTION_REUSE";
    /// An iteration takes at least this long.
    min_iteration_duration: GoDuration = "minIterationDuration", Anywhere, "MIN_ITERATION_DURATION";
    /// Of k6's cloud; kept and echoed.
    cloud: Value = "cloud", Anywhere;
    /// Of third parties; kept and echoed.
    ext: Value = "ext", Anywhere;
    /// Columns of trends.
    summary_trend_stats: Vec<String> = "summaryTrendStats", Anywhere, "SUMMARY_TREND_STATS";
    /// One unit for all times.
    summary_time_unit: String = "summaryTimeUnit", Anywhere, "SUMMARY_TIME_UNIT";
    /// System tags to set.
    system_tags: Vec<String> = "systemTags", Anywhere, "SYSTEM_TAGS";
    /// Tags on every sample.
    tags: BTreeMap<String, String> = "tags", Anywhere, "TAGS";
    /// k6's buffer between samples and outputs; kept and echoed.
    metric_samples_buffer_size: i64 = "metricSamplesBufferSize", Anywhere, "METRIC_SAMPLES_BUFFER_SIZE";
    /// Cookies survive iterations.
    no_cookies_reset: bool = "noCookiesReset", Anywhere, "NO_COOKIES_RESET";
    /// Bodies are not kept unless asked for.
    discard_response_bodies: bool = "discardResponseBodies", Anywhere, "DISCARD_RESPONSE_BODIES";
    /// k6's feature flags.
    features: Vec<String> = "features", Anywhere, "FEATURES";
    /// Where `console` writes.
    console_output: String = "consoleOutput", Outside, "CONSOLE_OUTPUT";
    /// Local addresses to bind.
    local_ips: LocalIps = "localIPs", Outside, "LOCAL_IPS";
}
