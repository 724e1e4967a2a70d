//! The rules of the auditor.

use crate::diagnosis::codes;

codes! {
    /// A rule of the auditor: a mistake that arithmetic can find.
    AuditRule {
        /// The analysed window does not match the run.
        WrongWindow = "wrong-window",
        /// A timestamp is labelled with the wrong time zone.
        TimeZone = "time-zone",
        /// Usage exceeds the resource's limit.
        UsageAboveLimit = "usage-above-limit",
        /// A snapshot was taken outside the run.
        SnapshotOutside = "snapshot-outside",
        /// A peak or a trend is based on too few points.
        TooFewPoints = "too-few-points",
        /// The numbers of sent and recorded data points differ.
        LostPoints = "lost-points",
        /// A queue length includes messages in service.
        QueueInService = "queue-in-service",
        /// A percentile of means is presented as one of requests.
        PercentileOfMeans = "percentile-of-means",
        /// A percentile needs more samples than there are.
        UnsupportedQuantile = "unsupported-quantile",
        /// Versions are compared at different loads.
        UnequalLoad = "unequal-load",
        /// A success criterion was not measured.
        UnmeasuredCriterion = "unmeasured-criterion",
        /// One metric has two different limits.
        ConflictingSlos = "conflicting-slos",
        /// Throughput and latency of a closed loop are reported as independent results.
        ClosedLoop = "closed-loop",
        /// Failed requests are counted as zero or as fast responses.
        FailedAsFast = "failed-as-fast",
        /// Timed-out requests are counted with the timeout as their duration.
        CensoredTimeout = "censored-timeout",
        /// Connect times are at the delays of SYN retransmissions.
        SynRetransmission = "syn-retransmission",
        /// The business outcome is zero although all requests succeed.
        BusinessZero = "business-zero",
        /// Two sources report different values for the same fact.
        SourcesDisagree = "sources-disagree",
        /// A comparison has no baseline.
        BeforeMissing = "before-missing",
        /// A reported change does not match its own figures.
        ChangeArithmetic = "change-arithmetic",
    }
}
