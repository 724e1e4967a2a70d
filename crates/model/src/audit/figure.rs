//! Figures of the auditor.

use crate::finding::{FigureValue, Unit};

/// A figure with its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its label.
    pub label: FigureLabel,
    /// The figure.
    pub value: FigureValue,
}

impl Figure {
    /// A number.
    pub fn new(label: FigureLabel, value: f64, unit: Unit) -> Figure {
        Figure { label, value: FigureValue::number(value, unit) }
    }

    /// A text figure.
    pub fn text(label: FigureLabel, text: impl Into<String>) -> Figure {
        Figure { label, value: FigureValue::Text(text.into()) }
    }
}

/// A statistic of connect times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectStatistic {
    /// The 90th percentile.
    P90,
    /// The 95th percentile.
    P95,
    /// The maximum.
    Largest,
}

/// The label of a figure. Its texts are in the crate `words`.
#[derive(Clone, Debug, PartialEq)]
pub enum FigureLabel {
    /// A name from the input: an outcome, a source.
    Named(String),
    /// The limit at a place of the input.
    LimitIn(String),
    /// The offered load of a version.
    OfferedTo(String),
    /// The 95th percentile of a version.
    P95Of(String),
    /// Throughput ÷ time at a number of VUs, per minute and second.
    PowerAt(f64),
    /// A statistic of connect times.
    ConnectTime(ConnectStatistic),
    /// Actual change.
    ActualChange,
    /// Actual offset.
    ActualOffset,
    /// Actual time.
    ActualTime,
    /// After.
    After,
    /// Analysis end.
    AnalysisEnd,
    /// Analysis start.
    AnalysisStart,
    /// The load of the throughput beside it.
    AtLoad,
    /// Lag-1 autocorrelation.
    Autocorrelation,
    /// Lag-1 autocorrelation after.
    AutocorrelationAfter,
    /// Lag-1 autocorrelation before.
    AutocorrelationBefore,
    /// Before.
    Before,
    /// Best throughput.
    BestThroughput,
    /// Busy share.
    BusyShare,
    /// Busy slots.
    BusySlots,
    /// Ceiling.
    Ceiling,
    /// Ceiling from above.
    CeilingFromAbove,
    /// Ceiling from below.
    CeilingFromBelow,
    /// Difference in change.
    ChangeDifference,
    /// Computed from.
    ComputedFrom,
    /// Consumers.
    Consumers,
    /// Counter.
    Counter,
    /// Criteria.
    Criteria,
    /// Criteria with a measured value.
    CriteriaMeasured,
    /// Demand per request.
    DemandPerRequest,
    /// Difference.
    Difference,
    /// Effective sample size.
    EffectiveSampleSize,
    /// Effective sample size after.
    EffectiveSampleSizeAfter,
    /// Effective sample size before.
    EffectiveSampleSizeBefore,
    /// Errors after.
    ErrorsAfter,
    /// Errors before.
    ErrorsBefore,
    /// Failed requests.
    FailedRequests,
    /// Fallen throughput.
    FallenThroughput,
    /// Half of the usage.
    HalfOfUsage,
    /// Knee from.
    KneeFrom,
    /// Knee to.
    KneeTo,
    /// Labelled offset.
    LabelledOffset,
    /// Limit.
    Limit,
    /// Lost SYNs.
    LostSyns,
    /// The share of throughput that was lost.
    LostThroughput,
    /// Matching changes.
    MatchingChanges,
    /// Maximum plateau throughput.
    MaximumPlateauThroughput,
    /// Maximum time.
    MaximumTime,
    /// Mean after.
    MeanAfter,
    /// Mean before.
    MeanBefore,
    /// Mean latency.
    MeanLatency,
    /// Mean time.
    MeanTime,
    /// Means.
    Means,
    /// Measured.
    Measured,
    /// Median connect time.
    MedianConnectTime,
    /// Median of all requests.
    MedianOfAll,
    /// Median of successful requests.
    MedianOfSuccessful,
    /// Messages that may be in service.
    MessagesInService,
    /// Minimum plateau throughput.
    MinimumPlateauThroughput,
    /// Minimum time.
    MinimumTime,
    /// Peak.
    Peak,
    /// Points.
    Points,
    /// Difference in points.
    PointsDifference,
    /// Points needed for 90 %.
    PointsNeeded,
    /// Presented as.
    PresentedAs,
    /// Processors.
    Processors,
    /// Read at.
    ReadAt,
    /// Recorded.
    Recorded,
    /// Reported change.
    ReportedChange,
    /// Requests after.
    RequestsAfter,
    /// Requests before.
    RequestsBefore,
    /// Cumulative retransmission timeout.
    RetransmissionTimeout,
    /// Rounding tolerance.
    RoundingTolerance,
    /// Run duration.
    RunDuration,
    /// Run end.
    RunEnd,
    /// Run start.
    RunStart,
    /// Samples needed for a 95 % upper bound.
    SamplesNeeded,
    /// Sent.
    Sent,
    /// Service time.
    ServiceTime,
    /// Share of the run below the largest point (95 % confidence).
    ShareBelowLargest,
    /// Share of all requests.
    ShareOfRequests,
    /// Share of the window outside the run.
    ShareOutsideRun,
    /// Share of time outside service.
    ShareOutsideService,
    /// SLO.
    Slo,
    /// Slots.
    Slots,
    /// Slots per consumer.
    SlotsPerConsumer,
    /// Standard deviations.
    StandardDeviations,
    /// Standard error.
    StandardError,
    /// Difference in standard errors.
    StandardErrors,
    /// Step.
    Step,
    /// Threads.
    Threads,
    /// Throughput.
    Throughput,
    /// Throughput × latency.
    ThroughputTimesLatency,
    /// Throughput × time.
    ThroughputTimesTime,
    /// Time outside service.
    TimeOutsideService,
    /// Time outside the run.
    TimeOutsideTheRun,
    /// Timeout.
    Timeout,
    /// Timestamp.
    Timestamp,
    /// Unexplained time per request.
    UnexplainedTime,
    /// Usage.
    Usage,
    /// Usage relative to the limit.
    UsageOfLimit,
    /// Utilisation.
    Utilisation,
    /// Values.
    Values,
    /// Verifiable changes.
    VerifiableChanges,
    /// VUs at the limit.
    VusAtLimit,
}
