//! Every threshold of the diagnosis, in one table: its value, unit, source and meaning.
//!
//! A threshold that is not from a law, a standard or a cited document was chosen on the lab's training cases.

/// The source of a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg(test)]
enum Source {
    /// Chosen on the lab's training cases.
    Lab,
    /// The utilisation law (Denning and Buzen, 1978).
    Law,
    /// Precision of arithmetic.
    Arithmetic,
    /// A customary level of confidence or significance.
    Convention,
    /// RFC 6298.
    Rfc6298,
    /// Linux, CFS bandwidth control.
    Kernel,
    /// Grafana Sift.
    Sift,
}

/// Declares the table: one module per detector or part, one line per threshold.
macro_rules! thresholds {
    ($(
        $(#[doc = $title:literal])+
        $module:ident {
            $($name:ident: $type:ty = $value:literal, $unit:literal, $source:ident, $meaning:literal;)*
        }
    )*) => {
        $(
            $(#[doc = $title])+
            pub(super) mod $module {
                $(
                    #[doc = concat!($meaning, " (", $unit, ").")]
                    pub(in super::super) const $name: $type = $value;
                )*
            }
        )*

        /// Every threshold: module, name, value, unit, source, meaning.
        #[cfg(test)]
        const ALL: &[(&str, &str, f64, &str, Source, &str)] = &[
            $($((stringify!($module), stringify!($name), $value as f64, $unit, Source::$source, $meaning),)*)*
        ];
    };
}

thresholds! {
    /// Shares and growth of a case.
    case_view {
        GROWTH_MIN: f64 = 1.2, "ratio", Lab, "Response time grows with load from this ratio of the highest to the lowest load";
        RELATIVE_MIN: f64 = 0.1, "share of the estimate", Lab, "Smallest half-width of the interval of a share, since all traces come from one run";
        WAITS_MIN: f64 = 0.15, "share of response time", Lab, "Queueing from which on a resource counts as fully used";
        CONFIDENCE: f64 = 0.9, "probability", Convention, "Confidence of predicted intervals";
    }
    /// Predictions.
    prediction {
        FREED_MIN: f64 = 0.05, "share of work", Lab, "Freed work below which only the time itself is taken away";
        FREED_MAX: f64 = 0.95, "share of work", Law, "Largest share of work that a remedy frees by an estimate, since 1 / (1 - share) diverges (utilisation law)";
        FREED_COUNTED_MAX: f64 = 0.999, "share of work", Law, "The same by the resource's own counters";
        BETWEEN_RUNS: f64 = 0.05, "share of a rate", Lab, "Variation of throughput between runs";
        STEADY_TIMES: f64 = 1.25, "times", Law, "Requests in flight of the second half of a steady load against the first, or the reverse";
        OF_CEILING: f64 = 0.1, "share of a rate", Lab, "Uncertainty of a ceiling";
        SLOTS_TIMES: f64 = 4.0, "ratio", Convention, "Raised limit of concurrency over the present one, for which an effect is predicted";
        PROMISED_MAX: f64 = 2.0, "ratio", Lab, "Largest promised gain where no resource reports a limit";
        WIDTH_MAX: f64 = 10.0, "ratio", Convention, "Upper bound over lower bound from which on only the lower bound is predicted";
        CEILING_MAX: f64 = 10.0, "ratio", Convention, "Ceiling over predicted throughput from which on the ceiling is too far from any measurement to be named";
    }
    /// The outcome of a diagnosis and the order of findings.
    outcome {
        CYCLE_MIN: f64 = 0.1, "share of a user's cycle", Convention, "Part of a closed loop's cycle that limits throughput however short it is: without it, throughput grows by a tenth (N = X·(R + Z))";
        EXPLAINS_S_MIN: f64 = 0.01, "seconds", Convention, "Explained time below which a finding does not limit: a tenth of what feels immediate (Nielsen, 1993)";
        EXPLAINS_UNKNOWN: f64 = 0.3, "share of response time", Lab, "Share that a finding of unknown size counts for in the order";
        TRACED_MIN: f64 = 0.4, "share of response time", Lab, "Part that spans must cover, or the time outside of them is unexplained";
        UNTRACED_S_MIN: f64 = 0.02, "seconds", Lab, "Time outside of spans, or of queueing, below which nothing needs an explanation";
        WAITS_MIN: f64 = 0.5, "share of response time", Lab, "Queueing from which on there must be a bottleneck";
        HELD_S_MIN: f64 = 0.1, "seconds", Convention, "Time without CPU and without a wait below which a response feels immediate (Nielsen, 1993)";
        OVERLAP_MIN: f64 = 2.0, "requests", Convention, "Requests in flight from which on they may wait for each other";
        ROOM_MAX: f64 = 0.7, "share of the limit", Convention, "Use of a server's threads up to which a request finds a free one at once";
        SERVED_MIN: f64 = 0.5, "share of response time", Convention, "Time inside servers, by their own clocks, from which on waits of the load generator do not decide the result";
        UNACCOUNTED_MIN: f64 = 0.5, "share of response time", Lab, "Time inside services without CPU and without a wait, from which on the cause is unknown";
    }
    /// Resources at their limit.
    ceilings {
        FIRM_MIN: f64 = 0.5, "share of the limit", Convention, "Use from which on at least half of it is that of requests, so that a ceiling is more than a lower bound";
        FULL: f64 = 0.9, "share of the limit", Lab, "Use from which on a resource is at its limit: schedulers and scrapes leave a little";
        NEIGHBOURS_MIN: f64 = 0.5, "share of CPU use", Convention, "Use by other programs from which on a machine's processors give no ceiling: they may yield them";
        LITTLE_MAX: f64 = 0.1, "cores", Convention, "CPU use of a program below which a machine that others use up does not limit it, unless its threads wait for a core";
        FREE_MIN: f64 = 0.25, "cores", Convention, "Idle CPU of a machine from which on it is not the machine that holds a program to one core";
        ONE_THREAD_MOST: f64 = 1.25, "cores", Convention, "Largest mean CPU use of a program whose threads compute one at a time: the kernel's work for it comes on top";
        ONE_THREAD_BUSIEST_MAX: f64 = 0.8, "cores", Convention, "CPU use from which on a program's busiest thread is at its limit itself";
        ONE_THREAD_WAITING_MIN: f64 = 2.5, "requests", Arithmetic, "Requests inside of services, beside calls, from which on some wait although only one core is in use";
        ONE_THREAD_CONSTANT_MAX: f64 = 0.5, "ratio", Convention, "Variation of a program's CPU use over that of as many requests by chance, up to which a limit holds it";
        ONE_THREAD_POINTS_MIN: usize = 10, "seconds", Convention, "Fewest points that show whether a use is constant";
        QUEUED_FULL: f64 = 0.75, "share of the limit", Convention, "Use from which on a program whose threads wait for a core is at its limit: cores are idle for moments while locks are handed on";
        WAITING_MIN: f64 = 1.0, "threads", Convention, "Mean number of a program's threads that wait for a core, from which on it is at its limit";
        SATURATED_MIN: f64 = 0.9, "share of the time", Lab, "Time at the limit from which on the present throughput is the ceiling";
    }
    /// Fitted demands.
    demand {
        POINTS_MIN: usize = 8, "points", Lab, "Fewest points of a fitted line";
        SPREAD_MIN: f64 = 0.1, "standard deviation over the mean", Lab, "Smallest variation of throughput; below it a slope is that of noise";
    }
    /// Stalls of services in traces.
    stalls {
        STALL_NS_MIN: i64 = 45_000_000, "nanoseconds", Lab, "Shortest stall";
        TIMES_USUAL: i64 = 15, "ratio", Lab, "Length of a stall over the usual time between events";
        TIMES_ANSWER: i64 = 3, "ratio", Lab, "Length of a stall over the median request";
        STALLS_MIN: usize = 5, "stalls", Lab, "Fewest stalls that show regularity";
        EDGES_MIN: usize = 100, "events", Lab, "Fewest events that show the usual time between them";
        BY_CHANCE_MAX: f64 = 0.01, "expected gaps", Convention, "Largest expected number of such gaps by chance (1 % level)";
        WAITING_MIN: f64 = 0.4, "share of the expected wait", Lab, "Wait outside of spans that a stall without open requests must explain";
    }
    /// The parts of the time.
    times {
        ASKED_MIN: u64 = 10, "traces", Lab, "Fewest traces with a client span that stand for all requests, where there are others";
        TOLD_S_MIN: f64 = 1e-6, "seconds", Arithmetic, "Smallest difference of sums that is no rounding error";
        APART_MAX: f64 = 0.1, "share of the longest", Lab, "Largest difference of wait estimates without a caveat";
    }
    /// Accept queues.
    accept {
        OVERFLOWS_MIN: f64 = 0.2, "per second", Lab, "Overflows from which on a finding is reported";
        LATE_MIN: f64 = 0.01, "share of requests", Lab, "Requests that took a step of the SYN retransmission sequence, where no drops are counted";
        STEPS_MIN: f64 = 0.05, "share of response time", Convention, "Time of requests that took such a step, from which on counted drops are the run's";
        DROPS_MIN: f64 = 0.5, "drops per late request", Arithmetic, "Fewest counted drops: each late request follows one, and retransmissions share some";
        LIMITS_MIN: f64 = 0.1, "share of response time", Lab, "Share from which on it is the bottleneck";
        AGAIN_S: f64 = 1.0, "seconds", Rfc6298, "Time until a SYN is sent again (RFC 6298, section 2)";
    }
    /// Calls of other services.
    calls {
        SHARE_MIN: f64 = 0.25, "share of response time", Lab, "Share, queueing for workers included, from which on a call is reported";
        DEMAND_MIN: f64 = 0.3, "share of service time", Lab, "Share of a service's work without queueing";
        HELD_MIN: f64 = 0.1, "share of calls", Lab, "Minimum share of delayed calls for a rate limit";
        HELD_SHARE_MIN: f64 = 0.1, "share of response time", Lab, "Minimum time of delayed calls for a rate limit";
        INNER_MIN: f64 = 0.5, "share of the outer call", Convention, "Time of a callee's own call from which on it is named in place of the call that waits for it";
        DECIDES_MIN: f64 = 0.5, "share of response time", Convention, "Own share of a call that decides response time";
        NOTICED_S: f64 = 0.1, "seconds", Convention, "Length of a call that users notice (Nielsen, 1993)";
        QUICK_MAX: f64 = 0.1, "share of the mean", Lab, "Fastest twentieth of calls under a rate limit";
        EVEN_MAX: f64 = 0.25, "standard deviation over the mean", Lab, "Variation of calls per second under a rate limit";
        LIMITED_S_MIN: f64 = 0.02, "seconds", Lab, "Shortest mean call under a rate limit";
    }
    /// New connections.
    churn {
        PER_REQUEST_MIN: f64 = 0.5, "connections per request", Lab, "New connections from which on a finding is reported";
        PER_S_MIN: f64 = 10.0, "per second", Lab, "New connections from which on a finding is reported";
        WAITS_MIN: f64 = 0.15, "share of response time", Lab, "Queueing from which on it is the bottleneck";
        WAITING_MIN: f64 = 1.0, "requests", Arithmetic, "Mean number of requests that wait, from which on they queue";
    }
    /// Queue consumers.
    consumers {
        SHARE_MIN: f64 = 0.1, "share of task time", Lab, "Queueing from which on a finding is reported";
        PREFETCH_SMALL: f64 = 4.0, "messages per consumer", Lab, "Largest prefetch that work in progress uses up";
        HELD_MIN: f64 = 0.8, "share of the prefetch", Lab, "Unacknowledged messages of a prefetch that is used up";
        CONSUMING_MAX: f64 = 0.8, "share of the workers", Lab, "Consumers below which workers are idle";
        READY_MIN: f64 = 0.5, "messages", Lab, "Ready messages from which on messages wait";
        IDLE_HOLDERS_MIN: f64 = 2.0, "consumers", Arithmetic, "Fewest consumers of which one can be idle while another holds messages";
        HELD_WAITING_MIN: f64 = 1.0, "messages", Convention, "Messages that consumers hold and do not process, from which on messages wait in consumers";
        SLOTS_BUSY_MIN: f64 = 0.8, "share of the slots", Lab, "Busy slots from which on full slots are not ruled out";
    }
    /// Processors.
    cpu {
        AT_LIMIT_MIN: f64 = 0.5, "share of the time", Lab, "Time at the limit from which on a finding is reported";
        IMPOSSIBLE: f64 = 1.2, "share of the limit", Lab, "Use above which the measurement is wrong";
        QUEUED_MIN: f64 = 0.3, "share of response time", Convention, "Waiting of a program's threads for a core from which on processors limit it, whichever programs use them";
        PROGRAM_MIN: f64 = 0.4, "share of the machine's cores", Convention, "CPU use from which on a program is what saturates its machine";
        WANTED_MIN: f64 = 0.8, "cores", Lab, "Cores that the target demands, where a core does not report whose work it does";
    }
    /// Disk waits of a database.
    disk {
        SHARE_MIN: f64 = 0.1, "share of response time", Lab, "Waits from which on a finding is reported";
        LIMITS_MIN: f64 = 0.25, "share of response time", Lab, "Share from which on it is the bottleneck";
    }
    /// Uneven replicas.
    imbalance {
        TIMES_MIN: f64 = 1.5, "ratio", Lab, "Requests of the busiest replica over its fair share";
        REQUESTS_MIN: f64 = 50.0, "requests", Lab, "Fewest requests that are compared";
        LONGER_MIN: f64 = 1.2, "ratio", Convention, "Time of a request at the busiest replica over that at the others, from which on it is overloaded";
        WAITS_MIN: f64 = 0.15, "share of response time", Convention, "Queueing in front of replicas, from which on the busiest may be overloaded";
        WAIT_S_MIN: f64 = 0.02, "seconds", Convention, "Shortest queueing time in front of replicas";
    }
    /// Row locks.
    locks {
        SHARE_MIN: f64 = 0.05, "share of response time", Lab, "Waits from which on a finding is reported";
        LIMITS_MIN: f64 = 0.15, "share of response time", Lab, "Share from which on it is the bottleneck";
    }
    /// Waits at the end of requests.
    logging {
        SHARE_MIN: f64 = 0.1, "share of response time", Lab, "Share from which on a finding is reported";
        LIMITS_MIN: f64 = 0.15, "share of response time", Lab, "Share from which on it is the bottleneck";
        END_S_MIN: f64 = 0.002, "seconds", Lab, "Shortest wait at the end of a request";
        BUSY_MIN: f64 = 0.75, "utilisation", Law, "Smallest utilisation of one busy thread (utilisation law, with measurement error)";
        BUSY_MAX: f64 = 1.25, "utilisation", Law, "Largest utilisation of one busy thread (utilisation law, with measurement error)";
        COMPUTED_MAX: f64 = 0.5, "share of the wait", Lab, "Largest CPU time of a request that is a wait";
    }
    /// Memory limits.
    memory {
        EVICTED_MIN: f64 = 0.5, "per second", Lab, "Evictions from which on a finding is reported";
        FULL: f64 = 0.85, "share of the limit", Lab, "Memory use of a full cache";
        MISSES_MIN: f64 = 0.1, "share of reads", Lab, "Cache misses from which on a finding is reported";
        CONTAINER_FULL: f64 = 0.95, "share of the limit", Lab, "Peak use of a container about to be killed";
        IMPOSSIBLE: f64 = 1.1, "share of the limit", Lab, "Use above which the measurement is wrong";
    }
    /// Outcomes that never occur.
    missing_outcome {
        TASKS_MIN: u64 = 50, "tasks", Lab, "Fewest tasks that show that an outcome never occurs";
    }
    /// Limits of concurrency.
    concurrency {
        SPANS_MIN: usize = 50, "spans", Convention, "Fewest spans that show a limit";
        BUSY_MIN: f64 = 0.75, "utilisation", Law, "Smallest utilisation of a limit with a queue in front (utilisation law, with measurement error)";
        BUSY_MAX: f64 = 1.15, "utilisation", Law, "Largest utilisation of a limit (utilisation law, with measurement error)";
        EXPECTED_MIN: f64 = 10.0, "spans", Convention, "Fewest expected starts beyond the limit that decide";
        CROWDED_MAX: f64 = 0.1, "share of the expected", Convention, "Starts beyond the limit over those expected of independent spans";
        FOLLOWS_WITHIN: f64 = 0.15, "share of the service time per slot", Convention, "Distance of an end and the next start in a queue";
        CLOSE: f64 = 0.6, "intervals", Convention, "Distance of two starts that are close";
        IN_LINE_MIN: f64 = 2.0, "ratio", Convention, "Open calls over those that are served at a time, from which on calls wait inside their spans";
        QUICKEST_MAX: f64 = 1.5, "ratio", Convention, "Longest quickest call over the service time of calls in line: the first ones find no line";
        AT_ONCE_MAX: usize = 64, "calls", Convention, "Largest limit that ends of calls are compared with: of more, the distances are like those of independent ends";
        FOLLOWS_MIN: f64 = 0.5, "share of the starts", Convention, "Starts that follow an end, of those whose predecessor is traced";
    }
    /// Event loop delay.
    event_loop {
        RESOLUTION_S: f64 = 0.01, "seconds", Convention, "Delay of an idle loop: the default resolution of monitorEventLoopDelay in Node.js";
        SHARE_MIN: f64 = 0.2, "share of response time", Convention, "Wait for the event loop from which on a finding is reported";
    }
    /// Stop-the-world pauses.
    pauses {
        SHARE_MIN: f64 = 0.1, "share of the time", Lab, "Time in the garbage collector from which on a finding is reported";
        STALLS_PER_S_MAX: f64 = 5.0, "per second", Lab, "Most stalls of a garbage collector; a CPU quota stalls more often";
        STALLED_MIN: f64 = 0.04, "share of the time", Lab, "Stalled time from which on a finding is reported";
        VARIATION_MAX: f64 = 0.4, "standard deviation over the mean", Lab, "Variation of the length of pauses";
        OWN_MIN: f64 = 0.05, "share of response time", Convention, "Own work of a service below which its callees stall it";
        CALLED_MIN: f64 = 0.8, "share of response time", Convention, "Calls from which on the callees stall a service";
        COLLECTED_MIN: f64 = 0.25, "share of the stalled time", Lab, "Collector time, where a runtime reports it, that explains stalls in traces";
    }
    /// Response size and bandwidth.
    payload {
        BYTES_MIN: f64 = 30_000.0, "bytes", Lab, "Size of a large response";
        OWN_MIN: f64 = 0.2, "share of response time", Lab, "Share of the service and the network from which on a large response is reported";
        LIMITS_MIN: f64 = 0.3, "share of response time", Lab, "Share from which on large responses are the bottleneck";
        WRITE_S_PER_BYTE_MAX: f64 = 200e-9, "seconds per byte", Convention, "CPU time per byte of a response above which its size does not account for it: an interpreter's JSON takes 20 to 50 ns";
        OUTSIDE_MIN: f64 = 0.4, "share of response time", Lab, "Share outside the service of a saturated link";
        RECEIVING_MIN: f64 = 0.2, "share of response time", Lab, "Receiving of a saturated link";
        RECEIVING_MOST: f64 = 0.7, "share of response time", Lab, "Receiving from which on the data rate may vary";
        EVEN_MAX: f64 = 1.25, "ratio", Lab, "90th percentile of the data rate over its median on a saturated link";
        BYTES_PER_S_MIN: f64 = 500_000.0, "bytes per second", Lab, "Smallest data rate of a saturated link";
        OUTSIDE_S_MIN: f64 = 0.005, "seconds", Lab, "Shortest time outside the service";
        LATE_MAX: f64 = 0.01, "share of requests", Lab, "Requests with SYN retransmissions above which the link is not judged";
    }
    /// Periodic jobs.
    periodic {
        SHARE_MIN: f64 = 0.15, "share of database time", Lab, "Share from which on a job is reported";
        WAITED_MIN: f64 = 0.05, "share of response time", Lab, "Time that the run's statements waited for a job, from which on it is reported";
        WAITED_LIMITS_MIN: f64 = 0.15, "share of response time", Lab, "Time that the run's statements waited for a job, from which on it is the bottleneck";
        LIMITS_MIN: f64 = 0.3, "share of response time", Lab, "Periodic part from which on it is the bottleneck";
        CALLS_PER_REQUEST_MAX: f64 = 0.2, "calls per request", Lab, "Most calls of a job";
        PERIOD_MIN_S: usize = 5, "seconds", Lab, "Shortest period that windows of a second show";
        PERIODS_MIN: usize = 3, "periods", Lab, "Fewest periods of a run";
        CORRELATION_MIN: f64 = 0.5, "autocorrelation", Lab, "Autocorrelation of periodic response times";
        PERIOD_SHARE_MIN: f64 = 0.1, "share of response time", Lab, "Periodic part from which on a period is reported";
    }
    /// Connection pools.
    pool {
        SHARE_MIN: f64 = 0.1, "share of response time", Lab, "Waits from which on a finding is reported";
        LIMITS_MIN: f64 = 0.2, "share of response time", Lab, "Share from which on it is the bottleneck";
        BEFORE_MIN: f64 = 0.2, "share of response time", Convention, "Time before the first call from which on a limit of concurrent statements is a pool";
        CALLS_MIN: f64 = 2.0, "calls", Convention, "Calls of another service at a time from which on their limit is a pool and not a lock";
        STEADY_MAX: f64 = 0.15, "connections", Convention, "Distance of the mean number of connections from an integer, up to which it is a constant number";
        UNUSED_MAX: f64 = 0.2, "share of connections", Convention, "Idle connections, or connections that wait for locks, up to which all are in use";
        CROWD_MIN: f64 = 2.0, "ratio", Convention, "Requests in flight over connections from which on requests wait for one";
        OUTER_MAX: f64 = 0.1, "share of spans", Convention, "Spans of an operation with further spans below them, up to which the operation is the innermost one";
        STRAYS_MIN: f64 = 0.1, "share of calls", Convention, "Calls below requests that have ended, from which on requests without a call are taken to wait for theirs";
    }
    /// Redelivered messages.
    redelivery {
        AGAIN_MIN: f64 = 0.05, "share of deliveries", Lab, "Repeated deliveries from which on a finding is reported";
        LIMITS_MIN: f64 = 0.1, "share of deliveries", Lab, "Share from which on it is the bottleneck";
    }
    /// Repeated statements.
    repeats {
        SHARE_MIN: f64 = 0.05, "share of response time", Lab, "Share from which on a finding is reported";
        LIMITS_MIN: f64 = 0.2, "share of response or database time", Lab, "Share from which on it is the bottleneck";
        ALIKE_MIN: f64 = 0.8, "share of the executions", Convention, "Executions of another statement from which on it belongs to the same loop";
        CALLS_MIN: f64 = 5.0, "calls per request", Lab, "Calls of one statement from which on it repeats, without traces";
    }
    /// Refused requests.
    refusals {
        SHARE_MIN: f64 = 0.02, "share of requests", Convention, "Refused requests from which on a finding is reported";
        LIMITS_MIN: f64 = 0.1, "share of requests", Convention, "Share from which on it is the bottleneck";
        CLOSED_MIN: f64 = 0.999, "share of requests", Convention, "Connections refused from which on nothing takes them, and the target is not reached";
        UNANSWERED_MIN: f64 = 0.8, "share of errors", Convention, "Errors without a span of a service from which on they are refusals in front of it";
        COUNTED_MIN: f64 = 0.8, "share of requests", Arithmetic, "Requests that a proxy counts, from which on it counts all of them";
    }
    /// Autoscalers.
    scaler {
        AT_LIMIT_MIN: f64 = 0.5, "share of the time", Lab, "Time at the maximum from which on a finding is reported";
        WAITS_MIN: f64 = 0.1, "share of task time", Lab, "Queueing without which a maximum does not limit";
    }
    /// Serialised work.
    serialisation {
        BEFORE_MIN: f64 = 0.2, "share of response time", Convention, "Time before the first call from which on calls in turn are the bottleneck";
        SPANS_MIN: u64 = 50, "spans", Lab, "Fewest spans that show a rule";
        BUSY_MIN: f64 = 0.75, "utilisation", Law, "Smallest utilisation of one at a time (utilisation law, with measurement error)";
        BUSY_MAX: f64 = 1.2, "utilisation", Law, "Largest utilisation of one at a time (utilisation law, with measurement error)";
        CLOSE: f64 = 0.6, "share of the service time", Lab, "Distance of two ends that are close";
        CLOSE_MAX: f64 = 0.25, "share of the expected", Lab, "Close ends of serialised work over those expected by chance";
        EXPECTED_MIN: f64 = 10.0, "ends", Lab, "Fewest expected close ends that decide";
        QUEUED_MIN: f64 = 3.0, "ratio", Lab, "Mean time over the service time of queued work";
        TURN_S_MIN: f64 = 0.003, "seconds", Lab, "Shortest service time that clocks resolve";
        LONGER_MIN: f64 = 2.0, "ratio", Lab, "Mean time over the shortest";
        SHARE_MIN: f64 = 0.1, "share of response time", Lab, "Share from which on a finding is reported";
        LIMITS_MIN: f64 = 0.2, "share of response time", Lab, "Share from which on it is the bottleneck";
    }
    /// Cache stampedes.
    stampede {
        TRACES_MAX: f64 = 0.6, "share of traces", Lab, "Most requests that refill a cache";
        SPANS_MIN: u64 = 10, "spans", Lab, "Fewest spans that show a rule";
        PAIRS_MIN: f64 = 6.0, "pairs", Lab, "Fewest concurrent pairs that show a rule";
        TOGETHER_MIN: f64 = 1.3, "concurrent spans", Lab, "Concurrency from which on a finding is reported";
        BY_CHANCE_TIMES_MIN: f64 = 3.0, "ratio", Lab, "Concurrency over that of independent arrivals";
        SHARE_MIN: f64 = 0.05, "share of response time", Lab, "Share from which on a finding is reported";
        LIMITS_MIN: f64 = 0.15, "share of response time", Lab, "Share from which on it is the bottleneck";
    }
    /// Slow statements and missing indexes.
    statements {
        SHARE_MIN: f64 = 0.1, "share of response time", Lab, "Share from which on a statement is reported";
        LIMITS_MIN: f64 = 0.3, "share of response time", Lab, "Share from which on it is the bottleneck";
        DATABASE_SHARE_MIN: f64 = 0.3, "share of database time", Lab, "Share from which on a statement is slow";
        LACKING_SHARE_MIN: f64 = 0.4, "share of database time", Lab, "Share from which on large reads show a missing index";
        LACKING_LIMITS_MIN: f64 = 0.5, "share of database time", Lab, "Share from which on a missing index is the bottleneck";
        BLOCKS_MIN: f64 = 40.0, "blocks per call", Lab, "Blocks read where an index is missing";
        BLOCKS_PER_ROW_MIN: f64 = 40.0, "blocks per row", Lab, "Blocks read per returned row where an index is missing";
        ROWS_OF_SCAN_MIN: f64 = 4_000.0, "rows", Lab, "Rows of a table that is large enough for an index";
        SCANS_PER_CALL_MIN: f64 = 0.4, "scans per call", Lab, "Sequential scans per call of the statement that causes them";
        SCANNING_SHARE_MIN: f64 = 0.1, "share of database time", Lab, "Share of a statement whose table is scanned";
        CUT_BYTES_MIN: f64 = 60.0, "bytes", Convention, "Length from which on a text that an exporter cut identifies a statement";
        WORKING_MIN: f64 = 0.5, "share of the sessions' time", Convention, "Use of CPU, disk and buffers below which statements mostly sleep";
    }
    /// CPU quotas.
    throttling {
        THROTTLED_MIN: f64 = 0.25, "share of scheduling periods", Sift, "Throttled periods from which on a finding is reported (Grafana Sift, check of resource contention)";
        STALLS_PER_S_MIN: f64 = 5.0, "per second", Kernel, "Stalls of a CPU quota: half of its ten periods per second (Linux, CFS bandwidth control)";
        STALLED_MIN: f64 = 0.2, "share of the time", Lab, "Stalled time from which on a quota is suspected";
        VARIATION_MAX: f64 = 0.2, "standard deviation over the mean", Lab, "Variation of the CPU use of a process at its quota";
        CORE: f64 = 0.9, "cores", Lab, "CPU use above which one core is the limit, not a quota";
    }
    /// Calls without an answer.
    unanswered {
        CONFIDENCE: f64 = 0.9, "share of intervals", Convention, "Confidence level of the number of calls without an answer";
        POINTS_MIN: f64 = 8.0, "readings", Convention, "Readings from which on their mean counts";
    }
    /// Waits inside workers.
    worker_memory {
        SHARE_MIN: f64 = 0.05, "share of task time", Lab, "Wait from which on a finding is reported";
        LIMITS_MIN: f64 = 0.1, "share of task time", Lab, "Share from which on it is the bottleneck";
        WAIT_S_MIN: f64 = 0.02, "seconds", Lab, "Shortest wait that is no start-up cost";
        STEADY_MAX: f64 = 0.1, "share of the time", Convention, "Difference of the middle nine tenths of times that are own work and no wait";
    }
    /// Worker slots.
    workers {
        COUNTED_MIN: f64 = 0.3, "share of response time", Convention, "Waiting that a server counts itself, from which on a finding is reported";
        SHARE_MIN: f64 = 0.5, "share of response time", Lab, "Queueing, or growth, that one operation must explain";
        WAIT_S_MIN: f64 = 0.02, "seconds", Lab, "Shortest queueing time";
        GROWTH_MIN: f64 = 1.5, "ratio", Lab, "Requests in flight at the higher load over those at the lower";
        GAIN_MAX: f64 = 0.2, "share of the proportional gain", Lab, "Largest gain of throughput on a plateau";
        BETWEEN_RUNS: f64 = 0.1, "share of a rate", Lab, "Variation of throughput that is to stay the same";
        DEMAND_MIN: f64 = 0.1, "share of service time", Lab, "Minimum demand of a read for the advice to cache it";
        OWN_MAX: f64 = 0.2, "share of response time", Lab, "Largest own work of a proxy";
        TAKEN_MIN: f64 = 0.9, "share of the threads", Convention, "Mean number of busy threads or processes from which on all are taken";
        SEVERAL_MIN: f64 = 2.0, "requests", Convention, "Requests at a time from which on their limit is of workers and not a lock";
        OUTSIDE_MIN: f64 = 0.4, "share of response time", Convention, "Time in front of the first span from which on a limit of concurrency is the bottleneck";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_threshold_has_a_meaning_and_a_positive_value() {
        for (module, name, value, unit, source, meaning) in ALL {
            assert!(*value > 0.0, "{module}::{name}");
            assert!(!unit.is_empty() && meaning.len() > 12, "{module}::{name}");
            let cites = meaning.contains("RFC") || meaning.contains("Sift") || meaning.contains("Linux");
            let is_cited = matches!(source, Source::Rfc6298 | Source::Sift | Source::Kernel);
            assert_eq!(cites, is_cited, "{module}::{name}");
        }
    }
}
