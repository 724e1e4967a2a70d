//! The names of numbers, and the notes beside them.

/// The name of a number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FigureName {
    /// Throughput.
    Throughput,
    /// Mean response time.
    MeanTime,
    /// Throughput ceiling.
    Ceiling,
    /// Use.
    Used,
    /// Limit.
    Limit,
    /// Time at the limit.
    AtLimitTime,
    /// Demand of a request.
    RequestDemand,
    /// Ceiling, limit / demand.
    DemandCeiling,
    /// Throttled scheduling periods.
    ThrottledPeriods,
    /// Throttled time.
    ThrottledTime,
    /// Stalls per second.
    StallRate,
    /// Stalled time.
    StalledTime,
    /// Time in the garbage collector.
    CollectorTime,
    /// Length of a pause.
    PauseLength,
    /// Pauses per second.
    PauseRate,
    /// Share of response time.
    RequestTimeShare,
    /// Share of the time.
    TimeShare,
    /// Evicted keys.
    EvictionRate,
    /// Cache misses.
    MissRatio,
    /// Memory in use.
    MemoryUsed,
    /// Memory limit.
    MemoryLimit,
    /// Peak memory.
    MemoryPeak,
    /// Wait for a connection.
    ConnectionWait,
    /// Requests that wait.
    PendingRequests,
    /// Connections in use.
    ConnectionsInUse,
    /// Connection limit.
    ConnectionsMax,
    /// Sessions that wait.
    WaitingSessions,
    /// Longest wait.
    LongestWait,
    /// Requests that took as long as a retransmission of a SYN.
    LateRequests,
    /// Refused requests.
    RefusedRequests,
    /// Packets dropped or sent again.
    DroppedPackets,
    /// Accepted connections.
    AcceptedConnections,
    /// Connections of the test.
    OwnConnections,
    /// Connections per request.
    ConnectionsPerRequest,
    /// Share of queueing.
    QueueingShare,
    /// Executions per request.
    ExecutionsPerRequest,
    /// Requests with the statement.
    RequestsWithStatement,
    /// Calls per request.
    CallsPerRequest,
    /// Share of database time.
    DatabaseTimeShare,
    /// Time per call.
    CallTime,
    /// Blocks per call.
    BlocksPerCall,
    /// Rows that a statement looks at per call.
    RowsExaminedPerCall,
    /// Rows per call.
    RowsPerCall,
    /// Statements on the same tables.
    SameTablesShare,
    /// Calls.
    Calls,
    /// Sessions that execute it.
    BusySessions,
    /// Period.
    Period,
    /// Autocorrelation.
    Correlation,
    /// Response time between.
    QuietTime,
    /// At the same time.
    Concurrent,
    /// Expected by chance.
    ConcurrentByChance,
    /// Requests that load.
    RequestsThatLoad,
    /// Share of service time.
    ServiceWorkShare,
    /// Queueing for workers.
    WorkerWaitShare,
    /// Calls queued by a rate limit.
    CallsHeldBack,
    /// Delay of a call.
    HeldBackTime,
    /// Completed.
    DoneRate,
    /// Service time.
    ServiceTime,
    /// Utilisation.
    BusyShare,
    /// Mean time.
    MeanOfAll,
    /// Queueing time.
    QueueWait,
    /// Processed at once.
    AtOnce,
    /// Requests in flight.
    InFlight,
    /// Operation time.
    OperationTime,
    /// Prefetch.
    Prefetch,
    /// Unacknowledged messages.
    MessagesHeld,
    /// Ready messages.
    MessagesReady,
    /// Share of queueing time.
    QueueWaitShare,
    /// Consumers.
    Consumers,
    /// Running workers.
    Workers,
    /// Replicas.
    Replicas,
    /// Time at the maximum.
    AtMaximumTime,
    /// Repeated work.
    RepeatedWork,
    /// Traced deliveries.
    TracedWork,
    /// Wait before the first call.
    FirstCallWait,
    /// Processing time.
    WorkTime,
    /// Wait at the end.
    EndWait,
    /// Utilisation of one thread.
    ThreadBusy,
    /// CPU time of a request.
    RequestCpu,
    /// Response size.
    ResponseSize,
    /// Share of the service itself.
    ServiceShare,
    /// Share outside the service.
    OutsideShare,
    /// Data rate.
    DataRate,
    /// Variation of the data rate.
    DataRateVariation,
    /// Time outside the service.
    OutsideTime,
    /// Share of receiving.
    ReceivingShare,
    /// Tasks.
    Tasks,
    /// Upper bound of the share.
    UpperBound,
    /// The requests of a replica.
    Replica(String),
    /// Tasks with an outcome.
    TasksEndedAs(String),
}

/// A note beside a number: its sample, or a value to compare it with.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// Mean of the run.
    MeanOfRun,
    /// Of the time.
    OfTime,
    /// Of response time.
    OfRequestTime,
    /// Of task time.
    OfTaskTime,
    /// Of the requests.
    OfRequests,
    /// Mean of the requests that wait.
    OfWaiting,
    /// Mean of all calls.
    OfAllCalls,
    /// Mean of ten samples per second.
    Sampled,
    /// The same in every second.
    EachSecond,
    /// A lower bound.
    LowerBound,
    /// In pauses, or behind them.
    InPauses,
    /// Mean of the requests with it.
    OfRequestsWithIt,
    /// Entries evicted to free memory for others.
    MadeRoom,
    /// Without queueing.
    WithoutQueueing,
    /// Mean of those.
    OfThose,
    /// Rate × service time, for one at a time.
    RateTimesService,
    /// Time of all work, per second.
    WorkPerSecond,
    /// Messages that wait.
    WaitingMessages,
    /// Messages that wait, in all queues.
    AllQueues,
    /// The configured maximum.
    MaximumReplicas,
    /// Mean.
    Mean,
    /// In total.
    AllOfIt,
    /// Mean of all requests.
    OfAllRequests,
    /// Mean of the seconds.
    OfSeconds,
    /// Median of the seconds.
    MedianOfSeconds,
    /// None of them in the trace of a request.
    NotInTraces,
    /// Mean over the requests that load.
    OfLoaders,
    /// 1 + rate × length.
    OnePlusRate,
    /// 95 % confidence.
    Confidence95,
    /// Mean of the run over so many series.
    MeanOfSeries(usize),
    /// Mean of so many.
    MeanOf(u64),
    /// Mean of so many calls.
    MeanOfCalls(f64),
    /// This share of all requests.
    ShareOfRequests(f64),
    /// Of the database time, of so many statements.
    OfStatements(usize),
    /// At the lowest load, a count.
    CountAtLow(f64),
    /// At the lowest load, a rate.
    RateAtLow(f64),
    /// At the lowest load, seconds.
    SecondsAtLow(f64),
    /// Of so many consumers.
    Consumers(f64),
    /// Of a queue.
    Queue(String),
}
