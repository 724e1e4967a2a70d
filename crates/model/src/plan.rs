//! The checked plan of a run: made by the crate `plan`, read by all others.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::SystemTags;

/// A scenario's number in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScenarioId(pub u16);

/// Everything that was asked for, from all sources, checked.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The scenarios, in order of their names; a scenario's [`ScenarioId`] is its index.
    pub scenarios: Vec<Scenario>,
    /// The part of the whole test that this process runs.
    pub segment: Segment,
    /// Thresholds, in order of their selectors.
    pub thresholds: Vec<ThresholdSpec>,
    /// Start and end of the script's life.
    pub lifecycle: Lifecycle,
    /// How HTTP (and every other protocol) behaves.
    pub http: HttpOptions,
    /// Name resolution and address rules.
    pub network: NetworkOptions,
    /// TLS.
    pub tls: TlsOptions,
    /// Tags on every sample.
    pub tags: BTreeMap<String, String>,
    /// System tags to set.
    pub system_tags: SystemTags,
    /// Statistics shown in the summary.
    pub summary: SummaryOptions,
    /// An iteration takes at least this long; the pad is not part of its duration.
    pub min_iteration_duration: Duration,
    /// Requests per second over all VUs, where limited.
    pub rps: Option<u32>,
    /// k6's own numbers even where they mislead.
    pub compat: Compat,
    /// The consolidated options as JSON, in k6's shape (`exec.test.options`, `inspect`).
    pub options_json: String,
}

/// Whose numbers a run reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// Failures are never counted as fast successes, and exceptions fail the run.
    #[default]
    Honest,
    /// As k6 does it.
    Strict,
}

/// One scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: Arc<str>,
    /// The exported function it calls.
    pub exec: Arc<str>,
    /// How it schedules iterations.
    pub executor: Executor,
    /// When it starts, from the start of the scenarios.
    pub start_time: Duration,
    /// How long running iterations may take after its end.
    pub graceful_stop: Duration,
    /// Environment variables of its own.
    pub env: BTreeMap<String, String>,
    /// Tags of its own.
    pub tags: BTreeMap<String, String>,
}

/// A scenario's kind of schedule, with whole-test numbers (before segmentation).
#[derive(Clone, Debug, PartialEq)]
pub enum Executor {
    /// A number of iterations shared by all VUs.
    SharedIterations {
        /// VUs.
        vus: u64,
        /// Iterations in all.
        iterations: u64,
        /// Latest end.
        max_duration: Duration,
    },
    /// A number of iterations for each VU.
    PerVuIterations {
        /// VUs.
        vus: u64,
        /// Iterations per VU.
        iterations: u64,
        /// Latest end.
        max_duration: Duration,
    },
    /// VUs that loop for a time.
    ConstantVus {
        /// VUs.
        vus: u64,
        /// How long.
        duration: Duration,
    },
    /// VUs that loop, their number changing along stages.
    RampingVus {
        /// VUs at the start.
        start_vus: u64,
        /// The stages.
        stages: Vec<Stage>,
        /// How long a VU may finish its iteration when its number goes down.
        graceful_ramp_down: Duration,
    },
    /// Iterations started at a fixed rate.
    ConstantArrivalRate {
        /// Iterations per `time_unit`.
        rate: u64,
        /// The unit of `rate`.
        time_unit: Duration,
        /// How long.
        duration: Duration,
        /// VUs made ready before the start.
        pre_allocated_vus: u64,
        /// VUs at most.
        max_vus: u64,
    },
    /// Iterations started at a rate that changes along stages.
    RampingArrivalRate {
        /// Iterations per `time_unit` at the start.
        start_rate: u64,
        /// The unit of all rates.
        time_unit: Duration,
        /// The stages; targets are rates.
        stages: Vec<Stage>,
        /// VUs made ready before the start.
        pre_allocated_vus: u64,
        /// VUs at most.
        max_vus: u64,
    },
    /// VUs that loop, their number changed from outside while the test runs.
    ExternallyControlled {
        /// VUs at the start.
        vus: u64,
        /// VUs made ready before the start, and at most.
        max_vus: u64,
        /// How long; [`ENDLESS`] for a scenario that runs until it is stopped.
        duration: Duration,
    },
}

/// The length of what ends only when it is stopped: longer than any test, and short enough to be added to.
pub const ENDLESS: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

impl Executor {
    /// k6's name for it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Executor::SharedIterations { .. } => "shared-iterations",
            Executor::PerVuIterations { .. } => "per-vu-iterations",
            Executor::ConstantVus { .. } => "constant-vus",
            Executor::RampingVus { .. } => "ramping-vus",
            Executor::ConstantArrivalRate { .. } => "constant-arrival-rate",
            Executor::RampingArrivalRate { .. } => "ramping-arrival-rate",
            Executor::ExternallyControlled { .. } => "externally-controlled",
        }
    }

    /// Whether iterations start by plan and not when the one before is done.
    pub const fn is_open(&self) -> bool {
        matches!(self, Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. })
    }
}

/// One stage of a ramp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// How long it takes.
    pub duration: Duration,
    /// The value reached at its end.
    pub target: u64,
}

/// A part of the whole test as exact fractions `(numerator, denominator)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The part's exclusive start, from 0.
    pub from: (u64, u64),
    /// The part's inclusive end, up to 1.
    pub to: (u64, u64),
    /// The bounds that cut the whole into parts, from 0/1 to 1/1.
    pub sequence: Vec<(u64, u64)>,
    /// The share of the part that this is.
    pub share: Share,
}

/// One of several equal shares of a part: of its VUs, arrivals and iterations, those with number ≡ `index` (mod `of`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    /// Which one, from 0.
    pub index: u64,
    /// How many there are; at least 1.
    pub of: u64,
}

impl Share {
    /// All of a part.
    pub const WHOLE: Share = Share { index: 0, of: 1 };

    /// Share `index` of the `of` equal shares of this one.
    pub fn split(self, index: u64, of: u64) -> Share {
        Share {
            index: self.index.saturating_add(self.of.saturating_mul(index)),
            of: self.of.saturating_mul(of.max(1)),
        }
    }
}

impl Default for Segment {
    fn default() -> Self {
        Segment { from: (0, 1), to: (1, 1), sequence: vec![(0, 1), (1, 1)], share: Share::WHOLE }
    }
}

/// Thresholds on one selector.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdSpec {
    /// `metric` or `metric{tag:value,…}`, as written.
    pub selector: String,
    /// The conditions; none just makes the sub-metric visible.
    pub conditions: Vec<ThresholdCondition>,
}

/// One condition of a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdCondition {
    /// `p(95)<500`, as written.
    pub source: String,
    /// Whether crossing it ends the run.
    pub abort_on_fail: bool,
    /// How long not to judge it, from the start of the scenarios.
    pub delay_abort_eval: Duration,
}

/// Start and end of the script's life.
#[derive(Clone, Debug, PartialEq)]
pub struct Lifecycle {
    /// Skip `setup()`.
    pub no_setup: bool,
    /// Skip `teardown()`.
    pub no_teardown: bool,
    /// `setup()` may take this long.
    pub setup_timeout: Duration,
    /// `teardown()` may take this long.
    pub teardown_timeout: Duration,
    /// `handleSummary()` may take this long.
    pub handle_summary_timeout: Duration,
    /// Wait for a resume before setup.
    pub paused: bool,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Lifecycle {
            no_setup: false,
            no_teardown: false,
            setup_timeout: Duration::from_secs(60),
            teardown_timeout: Duration::from_secs(60),
            handle_summary_timeout: Duration::from_secs(120),
            paused: false,
        }
    }
}

/// How HTTP behaves.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpOptions {
    /// Hops followed at most.
    pub max_redirects: u32,
    /// Whether the script set `max_redirects` itself (k6 warns at the limit when it did not).
    pub max_redirects_is_default: bool,
    /// The `User-Agent` header; `None` sends none.
    pub user_agent: Option<Arc<str>>,
    /// Parallel requests of `http.batch`.
    pub batch: u32,
    /// Parallel requests of `http.batch` to one host.
    pub batch_per_host: u32,
    /// Transport failures throw.
    pub throw: bool,
    /// Bodies are not kept unless asked for.
    pub discard_response_bodies: bool,
    /// Every request opens a connection.
    pub no_connection_reuse: bool,
    /// Connections are closed after each iteration.
    pub no_vu_connection_reuse: bool,
    /// Cookies survive iterations.
    pub no_cookies_reset: bool,
    /// Print requests and responses; `Some(true)` with bodies.
    pub debug: Option<bool>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions {
            max_redirects: 10,
            max_redirects_is_default: true,
            user_agent: None,
            batch: 20,
            batch_per_host: 6,
            throw: false,
            discard_response_bodies: false,
            no_connection_reuse: false,
            no_vu_connection_reuse: false,
            no_cookies_reset: false,
            debug: None,
        }
    }
}

/// Name resolution and address rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkOptions {
    /// How names are resolved.
    pub dns: DnsOptions,
    /// `host[:port]` (a leading `*.` matches sub-domains) → `ip[:port]`, as written.
    pub hosts: Vec<(String, String)>,
    /// Networks never connected to, in CIDR form.
    pub blacklist_ips: Vec<String>,
    /// Names never connected to; a leading `*.` matches sub-domains.
    pub block_hostnames: Vec<String>,
    /// The only hosts that may be connected to, where they are limited: names, `*.name`, addresses and networks in CIDR form.
    pub allowed_hosts: Option<Vec<String>>,
    /// Local addresses to bind: VU *i* takes number (*i* − 1) mod length.
    pub local_ips: Vec<IpAddr>,
}

/// How names are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DnsOptions {
    /// How long an answer is used: `None` for ever, zero never.
    pub ttl: Option<Duration>,
    /// Which address of several.
    pub select: DnsSelect,
    /// Which address family.
    pub policy: DnsPolicy,
}

impl Default for DnsOptions {
    fn default() -> Self {
        DnsOptions {
            ttl: Some(Duration::from_secs(300)),
            select: DnsSelect::Random,
            policy: DnsPolicy::PreferIpv4,
        }
    }
}

/// Which address of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsSelect {
    /// Always the first.
    First,
    /// Any.
    Random,
    /// One after the other.
    RoundRobin,
}

/// Which address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsPolicy {
    /// IPv4 where there is one.
    PreferIpv4,
    /// IPv6 where there is one.
    PreferIpv6,
    /// IPv4 or nothing.
    OnlyIpv4,
    /// IPv6 or nothing.
    OnlyIpv6,
    /// Either.
    Any,
}

/// TLS.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TlsOptions {
    /// Accept any certificate.
    pub insecure_skip_verify: bool,
    /// Lowest and highest version, as k6 spells them (`tls1.2`).
    pub versions: Option<(String, String)>,
    /// Cipher suites by their IANA names; empty for all.
    pub cipher_suites: Vec<String>,
    /// Client certificates.
    pub client_certificates: Vec<ClientCertificate>,
}

/// A client certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// PEM.
    pub cert: String,
    /// PEM.
    pub key: String,
    /// Of the key, where it is encrypted.
    pub password: Option<String>,
    /// Hosts it is for (a leading `*.` matches sub-domains); empty for all.
    pub domains: Vec<String>,
}

/// Settings of the summary.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryOptions {
    /// Columns of trends, as written: `avg`, `med`, `p(99.9)`, `count`, …
    pub trend_stats: Vec<String>,
    /// One unit for all times; `None` chooses by value.
    pub time_unit: Option<TimeUnit>,
}

impl Default for SummaryOptions {
    fn default() -> Self {
        let trend_stats = ["avg", "min", "med", "max", "p(90)", "p(95)"];
        SummaryOptions { trend_stats: trend_stats.map(String::from).to_vec(), time_unit: None }
    }
}

/// A unit for times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// `s`
    Seconds,
    /// `ms`
    Milliseconds,
    /// `us`
    Microseconds,
}
