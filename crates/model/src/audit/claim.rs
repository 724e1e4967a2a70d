//! Claims of the auditor's rules, with the numbers of their sentences.

use super::{AuditRule, ConnectStatistic};
use crate::finding::FigureValue;

/// A claim of the auditor. It is true if its numbers are.
#[derive(Clone, Debug, PartialEq)]
pub enum AuditClaim {
    /// The analysed window is not that of the run.
    WindowDiffers {
        /// How long after the run's start the window begins, seconds; negative before it.
        begins_late_s: f64,
        /// How long after the run's end the window ends, seconds; negative before it.
        ends_late_s: f64,
        /// The length of the window, seconds.
        analysed_s: f64,
        /// Rates over the window as a share of the run's, percent.
        rates_percent: f64,
    },
    /// A timestamp is in another time zone than its label says.
    ZoneMislabelled {
        /// The event.
        event: String,
        /// The time as shown.
        shown: String,
        /// The zone as shown.
        zone: String,
        /// The offset from UTC that fits, hours.
        actual_h: f64,
        /// The difference between label and time, hours.
        off_h: f64,
    },
    /// More is used than the limit allows.
    UsageAboveLimit {
        /// The resource.
        resource: String,
        /// Its usage.
        used: FigureValue,
        /// Its limit.
        limit: FigureValue,
        /// Half of the usage and its share of the limit, where half would be possible.
        half: Option<(FigureValue, FigureValue)>,
    },
    /// A value was read outside the run.
    SnapshotOutside {
        /// The value that was read.
        reading: String,
        /// The distance from the run, seconds.
        off_s: f64,
        /// Whether that was after the run's end; else before its start.
        is_after: bool,
    },
    /// Too few points for a peak or a trend.
    TooFewPoints {
        /// The series.
        series: String,
        /// Its points.
        points: f64,
        /// Their time range, seconds.
        span_s: f64,
        /// The scrape interval, seconds.
        step_s: f64,
        /// The longest scrape interval that would do, seconds.
        step_max_s: f64,
    },
    /// Data points were not recorded.
    PointsLost {
        /// The kind of data points.
        kind: String,
        /// Their number.
        lost: f64,
        /// The number that was sent.
        sent: f64,
    },
    /// More data points were recorded than sent.
    PointsGained {
        /// The kind of data points.
        kind: String,
        /// The number beyond those sent.
        gained: f64,
    },
    /// A queue length includes messages in service.
    QueueInService {
        /// The queue.
        queue: String,
        /// Messages that may have been in service at the peak.
        in_service: f64,
        /// The peak length.
        peak: f64,
    },
    /// A percentile is one of means.
    PercentileOfMeans {
        /// The metric.
        metric: String,
        /// The percentile: 95.
        quantile: f64,
        /// The samples it is computed from.
        source: String,
        /// The samples it is presented as being computed from.
        presented_as: String,
    },
    /// A percentile lacks samples.
    QuantileUnsupported {
        /// The metric.
        metric: String,
        /// The percentile: 95.
        quantile: f64,
        /// Independent samples that it needs.
        needed: f64,
        /// Independent samples that there are.
        independent: f64,
    },
    /// Response times are compared at different loads.
    LoadsDiffer {
        /// The lowest load, per second.
        least_per_s: f64,
        /// The highest, per second.
        most_per_s: f64,
    },
    /// A success criterion was not measured.
    CriterionUnmeasured {
        /// The statistic.
        statistic: String,
        /// The metric.
        metric: String,
        /// The limit.
        limit: FigureValue,
        /// Criteria that were measured.
        measured: usize,
        /// All criteria.
        criteria: usize,
    },
    /// One statistic has two limits.
    LimitsConflict {
        /// The statistic.
        statistic: String,
        /// The metric.
        metric: String,
        /// The limit that is given first.
        first: FigureValue,
        /// The other.
        second: FigureValue,
    },
    /// Throughput and latency are one result.
    OneResult {
        /// The run.
        run: String,
        /// Throughput × latency.
        in_flight: f64,
        /// Threads.
        threads: f64,
    },
    /// Failed requests lower the median.
    FailuresLowerMedian {
        /// The metric.
        metric: String,
        /// Failed requests.
        failed: f64,
        /// The median of successful requests, seconds.
        successful_s: f64,
        /// The median of all, seconds.
        all_s: f64,
    },
    /// Failed requests count as zero.
    FailuresAsZero {
        /// The metric.
        metric: String,
        /// Failed requests.
        failed: f64,
    },
    /// The maximum is the timeout.
    MaximumIsTimeout {
        /// The metric.
        metric: String,
        /// The timeout, seconds.
        timeout_s: f64,
    },
    /// Connect times fit lost SYNs.
    LostSyns {
        /// The metric.
        metric: String,
        /// The statistic that fits.
        statistic: ConnectStatistic,
        /// Its value, seconds.
        value_s: f64,
        /// SYNs that were lost.
        lost: u32,
    },
    /// The business outcome never occurs.
    OutcomeZero {
        /// The business outcome.
        business: String,
        /// The technical outcome.
        technical: String,
        /// Its share, percent.
        technical_percent: f64,
    },
    /// Two sources report different values.
    SourcesDisagree {
        /// The fact.
        fact: String,
        /// The lowest value.
        low: FigureValue,
        /// Its source.
        low_source: String,
        /// The highest value.
        high: FigureValue,
        /// Its source.
        high_source: String,
    },
    /// A change is reported without a baseline.
    ChangeWithoutBaseline {
        /// The metric.
        metric: String,
        /// The reported change.
        change: FigureValue,
    },
    /// A value has no baseline.
    ValueWithoutBaseline {
        /// The metric.
        metric: String,
        /// The value.
        after: FigureValue,
    },
    /// A reported change does not follow from its figures.
    ChangeWrong {
        /// The metric.
        metric: String,
        /// The baseline.
        before: FigureValue,
        /// The new value.
        after: FigureValue,
        /// The actual change, percent.
        actual_percent: f64,
        /// The reported change, percent.
        reported_percent: f64,
    },
    /// A change is marked good where it is bad, or the reverse.
    ChangeMismarked {
        /// The metric.
        metric: String,
        /// The baseline.
        before: FigureValue,
        /// The new value.
        after: FigureValue,
        /// Whether it is marked as good; else as bad.
        is_marked_good: bool,
        /// Whether higher values are better; else lower ones.
        is_higher_better: bool,
    },
}

impl AuditClaim {
    /// The rule that makes it.
    pub const fn rule(&self) -> AuditRule {
        match self {
            AuditClaim::WindowDiffers { .. } => AuditRule::WrongWindow,
            AuditClaim::ZoneMislabelled { .. } => AuditRule::TimeZone,
            AuditClaim::UsageAboveLimit { .. } => AuditRule::UsageAboveLimit,
            AuditClaim::SnapshotOutside { .. } => AuditRule::SnapshotOutside,
            AuditClaim::TooFewPoints { .. } => AuditRule::TooFewPoints,
            AuditClaim::PointsLost { .. } | AuditClaim::PointsGained { .. } => AuditRule::LostPoints,
            AuditClaim::QueueInService { .. } => AuditRule::QueueInService,
            AuditClaim::PercentileOfMeans { .. } => AuditRule::PercentileOfMeans,
            AuditClaim::QuantileUnsupported { .. } => AuditRule::UnsupportedQuantile,
            AuditClaim::LoadsDiffer { .. } => AuditRule::UnequalLoad,
            AuditClaim::CriterionUnmeasured { .. } => AuditRule::UnmeasuredCriterion,
            AuditClaim::LimitsConflict { .. } => AuditRule::ConflictingSlos,
            AuditClaim::OneResult { .. } => AuditRule::ClosedLoop,
            AuditClaim::FailuresLowerMedian { .. } | AuditClaim::FailuresAsZero { .. } => {
                AuditRule::FailedAsFast
            }
            AuditClaim::MaximumIsTimeout { .. } => AuditRule::CensoredTimeout,
            AuditClaim::LostSyns { .. } => AuditRule::SynRetransmission,
            AuditClaim::OutcomeZero { .. } => AuditRule::BusinessZero,
            AuditClaim::SourcesDisagree { .. } => AuditRule::SourcesDisagree,
            AuditClaim::ChangeWithoutBaseline { .. } | AuditClaim::ValueWithoutBaseline { .. } => {
                AuditRule::BeforeMissing
            }
            AuditClaim::ChangeWrong { .. } | AuditClaim::ChangeMismarked { .. } => {
                AuditRule::ChangeArithmetic
            }
        }
    }
}
