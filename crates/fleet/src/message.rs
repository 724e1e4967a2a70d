//! The messages between hub and agents. The tags are drawn in `docs/format/fleet.md`; a tag is never given another meaning.

use bytes::Bytes;
use prost::{Message, Oneof};

/// Version of the protocol. Hub and agents of different versions refuse each other.
pub const PROTOCOL: u32 = 2;

/// One frame of a connection. Numbered frames arrive once and in order, whatever the connections do; the others may be lost.
#[derive(Clone, PartialEq, Message)]
pub struct Frame {
    /// Number of the frame in its direction, from 1; 0 for frames without a number.
    #[prost(uint64, tag = "1")]
    pub number: u64,
    /// Highest number that the sender has received.
    #[prost(uint64, tag = "2")]
    pub received: u64,
    /// The content; a frame without one only acknowledges.
    #[prost(
        oneof = "Body",
        tags = "3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30"
    )]
    pub body: Option<Body>,
}

/// The content of a frame. Up to [`Body::TornDown`] agents send it, from [`Body::Welcome`] on the hub.
#[derive(Clone, PartialEq, Oneof)]
pub enum Body {
    /// The first frame of every connection. Not numbered.
    #[prost(message, tag = "3")]
    Hello(Hello),
    /// The agent is alive. Not numbered.
    #[prost(message, tag = "4")]
    Heartbeat(Heartbeat),
    /// The archive is complete: its SHA-256.
    #[prost(bytes = "bytes", tag = "5")]
    Fetched(Bytes),
    /// VUs are being initialised.
    #[prost(message, tag = "6")]
    Preparing(Preparing),
    /// Every VU of the segment with this number of parts is initialised.
    #[prost(uint32, tag = "7")]
    Armed(u32),
    /// The test cannot begin on this agent.
    #[prost(message, tag = "8")]
    Unfit(Failure),
    /// `setup()` has ended.
    #[prost(message, tag = "9")]
    SetUp(FunctionEnd),
    /// The scenarios began: nanoseconds after the agreed instant, by the agent's clock.
    #[prost(sint64, tag = "10")]
    Started(i64),
    /// Names of metrics and tag sets that later frames use by number.
    #[prost(message, tag = "11")]
    Names(Names),
    /// A part of a window.
    #[prost(message, tag = "12")]
    Window(WindowPart),
    /// Raw samples.
    #[prost(message, tag = "13")]
    Samples(Samples),
    /// Log lines.
    #[prost(message, tag = "14")]
    Log(Log),
    /// The script or a signal ends the test, or marks it as failed.
    #[prost(message, tag = "15")]
    Request(Reason),
    /// The scenarios are over.
    #[prost(message, tag = "16")]
    Ended(Ended),
    /// `teardown()` has ended.
    #[prost(message, tag = "17")]
    TornDown(FunctionEnd),
    /// The agent has joined, or joined again. Not numbered.
    #[prost(message, tag = "18")]
    Welcome(Welcome),
    /// The agent may not take part: why. Not numbered.
    #[prost(string, tag = "19")]
    Refused(String),
    /// The answer to a heartbeat. Not numbered.
    #[prost(message, tag = "20")]
    Echo(Echo),
    /// The test, and the size of the archive that follows.
    #[prost(message, tag = "21")]
    Test(Test),
    /// The next bytes of the archive.
    #[prost(bytes = "bytes", tag = "22")]
    Archive(Bytes),
    /// An order.
    #[prost(message, tag = "23")]
    Prepare(Segment),
    /// Run `setup()`.
    #[prost(message, tag = "24")]
    RunSetup(Empty),
    /// Start the scenarios.
    #[prost(message, tag = "25")]
    Start(Start),
    /// Change, stop or finish the test.
    #[prost(message, tag = "26")]
    Order(Order),
    /// The agent was given up as lost: why. It may join again in another session. Not numbered.
    #[prost(string, tag = "27")]
    Lost(String),
    /// Secrets that a script has seen; an agent sends it.
    #[prost(message, tag = "28")]
    Secrets(Secrets),
    /// A reading of the generator on the agent's machine; an agent sends it.
    #[prost(message, tag = "29")]
    Reading(MachineReading),
    /// A scenario's shared iterations are nearly used up; an agent sends how many it runs in the time that an answer takes.
    #[prost(message, tag = "30")]
    Want(Lease),
}

/// Nothing.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Empty {}

/// An agent's first words.
#[derive(Clone, PartialEq, Message)]
pub struct Hello {
    /// [`PROTOCOL`].
    #[prost(uint32, tag = "1")]
    pub protocol: u32,
    /// Version of the program.
    #[prost(string, tag = "2")]
    pub version: String,
    /// The run's token.
    #[prost(bytes = "bytes", tag = "3")]
    pub token: Bytes,
    /// The agent's own random number, the same on all its connections.
    #[prost(fixed64, tag = "4")]
    pub session: u64,
    /// Highest number of a frame received on earlier connections.
    #[prost(uint64, tag = "5")]
    pub received: u64,
    /// Name for people.
    #[prost(string, tag = "6")]
    pub name: String,
    /// Cores that it may use.
    #[prost(uint32, tag = "7")]
    pub cores: u32,
    /// The share of a lost agent's load that the session takes over; 0 for none.
    #[prost(uint32, tag = "8")]
    pub ticket: u32,
}

/// A sign of life with the agent's clock, and its counters.
#[derive(Clone, PartialEq, Message)]
pub struct Heartbeat {
    /// The agent's clock, nanoseconds.
    #[prost(uint64, tag = "1")]
    pub sent_ns: u64,
    /// Round trips measured so far.
    #[prost(uint32, tag = "2")]
    pub rounds: u32,
    /// The hub's clock minus the agent's, nanoseconds.
    #[prost(sint64, tag = "3")]
    pub offset_ns: i64,
    /// Largest error of the offset, nanoseconds.
    #[prost(uint64, tag = "4")]
    pub uncertainty_ns: u64,
    /// Counters of the run.
    #[prost(message, optional, tag = "5")]
    pub counters: Option<Counters>,
}

/// The hub's answer to a heartbeat.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Echo {
    /// The heartbeat's `sent_ns`.
    #[prost(uint64, tag = "1")]
    pub sent_ns: u64,
    /// The hub's clock, nanoseconds.
    #[prost(uint64, tag = "2")]
    pub hub_ns: u64,
}

/// Counters of an agent's part of the run so far.
#[derive(Clone, PartialEq, Message)]
pub struct Counters {
    /// Full iterations.
    #[prost(uint64, tag = "1")]
    pub completed: u64,
    /// Iterations that were interrupted.
    #[prost(uint64, tag = "2")]
    pub interrupted: u64,
    /// Iterations that threw.
    #[prost(uint64, tag = "3")]
    pub failed: u64,
    /// Iterations that were dropped.
    #[prost(uint64, tag = "4")]
    pub dropped: u64,
    /// VUs that run an iteration's scenario.
    #[prost(uint32, tag = "5")]
    pub vus_active: u32,
    /// VUs that are initialised.
    #[prost(uint32, tag = "6")]
    pub vus_initialized: u32,
    /// By scenario.
    #[prost(message, repeated, tag = "7")]
    pub scenarios: Vec<ScenarioCounters>,
}

/// Counters of one scenario.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct ScenarioCounters {
    /// Iterations started.
    #[prost(uint64, tag = "1")]
    pub started: u64,
    /// Full iterations.
    #[prost(uint64, tag = "2")]
    pub completed: u64,
    /// VUs active.
    #[prost(uint32, tag = "3")]
    pub vus_active: u32,
}

/// Progress of the initialisation.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Preparing {
    /// VUs ready.
    #[prost(uint32, tag = "1")]
    pub ready: u32,
    /// VUs planned.
    #[prost(uint32, tag = "2")]
    pub planned: u32,
}

/// A failure of the script or the system, with its kind in [`crate::convert`].
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Failure {
    /// Its kind.
    #[prost(uint32, tag = "1")]
    pub kind: u32,
    /// Its text.
    #[prost(string, tag = "2")]
    pub text: String,
    /// The time limit that it exceeded, nanoseconds.
    #[prost(uint64, tag = "3")]
    pub limit_ns: u64,
}

/// The end of `setup()` or `teardown()`.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct FunctionEnd {
    /// The JSON that it returned.
    #[prost(string, optional, tag = "1")]
    pub data: Option<String>,
    /// Its failure.
    #[prost(message, optional, tag = "2")]
    pub failure: Option<Failure>,
}

/// A reading of the generator.
#[derive(Clone, PartialEq, Message)]
pub struct MachineReading {
    /// Instant, by the hub's clock.
    #[prost(uint64, tag = "1")]
    pub at_ns: u64,
    /// The values.
    #[prost(message, repeated, tag = "2")]
    pub vitals: Vec<VitalRow>,
}

/// One value of a reading.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct VitalRow {
    /// Number of the vital in [`model::Vital::ALL`].
    #[prost(uint32, tag = "1")]
    pub vital: u32,
    /// Number of the worker thread plus one; 0 for the process or the machine.
    #[prost(uint32, tag = "2")]
    pub worker: u32,
    /// The value.
    #[prost(double, tag = "3")]
    pub value: f64,
}

/// Secrets that a script has seen, which the hub hides in what it writes.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Secrets {
    /// The secrets.
    #[prost(string, repeated, tag = "1")]
    pub values: Vec<String>,
}

/// Names that later frames use by number.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Names {
    /// Metrics, numbered on from the last ones.
    #[prost(message, repeated, tag = "1")]
    pub metrics: Vec<MetricName>,
    /// Tag sets, numbered on from the last ones.
    #[prost(message, repeated, tag = "2")]
    pub tag_sets: Vec<Tags>,
}

/// A metric.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct MetricName {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its kind: 0 counter, 1 gauge, 2 rate, 3 trend.
    #[prost(uint32, tag = "2")]
    pub kind: u32,
    /// Its unit: 0 none, 1 milliseconds, 2 bytes.
    #[prost(uint32, tag = "3")]
    pub contains: u32,
}

/// A set of tags: names and values in turn.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Tags {
    /// Name, value, name, value…
    #[prost(string, repeated, tag = "1")]
    pub words: Vec<String>,
}

/// A part of one window of an agent.
#[derive(Clone, PartialEq, Message)]
pub struct WindowPart {
    /// Start, by the hub's clock.
    #[prost(uint64, tag = "1")]
    pub start_ns: u64,
    /// End, by the hub's clock.
    #[prost(uint64, tag = "2")]
    pub end_ns: u64,
    /// Whether it is the window's last part.
    #[prost(bool, tag = "3")]
    pub is_last: bool,
    /// Series.
    #[prost(message, repeated, tag = "4")]
    pub series: Vec<Series>,
    /// Load.
    #[prost(message, repeated, tag = "5")]
    pub load: Vec<LoadRow>,
    /// Requests worth looking at.
    #[prost(message, repeated, tag = "6")]
    pub exemplars: Vec<ExemplarRow>,
    /// Errors.
    #[prost(message, repeated, tag = "7")]
    pub errors: Vec<ErrorRow>,
    /// The agent's active VUs at the end.
    #[prost(uint64, tag = "8")]
    pub vus: u64,
    /// The agent's initialised VUs at the end.
    #[prost(uint64, tag = "9")]
    pub vus_max: u64,
    /// Shared iterations that ended.
    #[prost(message, repeated, tag = "10")]
    pub leased: Vec<Lease>,
}

/// One series of a window.
#[derive(Clone, PartialEq, Message)]
pub struct Series {
    /// Number of the metric.
    #[prost(uint32, tag = "1")]
    pub metric: u32,
    /// Number of the tag set.
    #[prost(uint32, tag = "2")]
    pub tags: u32,
    /// The aggregate.
    #[prost(oneof = "Cell", tags = "3, 4, 5, 6")]
    pub cell: Option<Cell>,
}

/// An aggregate without loss.
#[derive(Clone, PartialEq, Oneof)]
pub enum Cell {
    /// Of a counter.
    #[prost(message, tag = "3")]
    Counter(CounterCell),
    /// Of a gauge.
    #[prost(message, tag = "4")]
    Gauge(GaugeCell),
    /// Of a rate.
    #[prost(message, tag = "5")]
    Rate(RateCell),
    /// Of a trend.
    #[prost(message, tag = "6")]
    Trend(TrendCell),
}

/// Of a counter.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct CounterCell {
    /// Values.
    #[prost(uint64, tag = "1")]
    pub count: u64,
    /// Their sum, in the encoding of the crate `histo`.
    #[prost(bytes = "bytes", tag = "2")]
    pub sum: Bytes,
}

/// Of a gauge.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct GaugeCell {
    /// Latest value.
    #[prost(double, tag = "1")]
    pub last: f64,
    /// Its instant, by the hub's clock.
    #[prost(uint64, tag = "2")]
    pub last_ns: u64,
    /// Smallest value.
    #[prost(double, tag = "3")]
    pub min: f64,
    /// Largest value.
    #[prost(double, tag = "4")]
    pub max: f64,
}

/// Of a rate.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct RateCell {
    /// Values that were not zero.
    #[prost(uint64, tag = "1")]
    pub passes: u64,
    /// All values.
    #[prost(uint64, tag = "2")]
    pub total: u64,
}

/// Of a trend; values are in the encoding of the crate `histo`.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct TrendCell {
    /// Measured values.
    #[prost(bytes = "bytes", tag = "1")]
    pub values: Bytes,
    /// Failures; absent where there are none.
    #[prost(message, optional, tag = "2")]
    pub failures: Option<FailureCell>,
}

/// Failures of a trend.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct FailureCell {
    /// Elapsed times of timeouts.
    #[prost(bytes = "bytes", tag = "1")]
    pub timed_out: Bytes,
    /// Elapsed times of responses that were cut.
    #[prost(bytes = "bytes", tag = "2")]
    pub cut: Bytes,
    /// Never started.
    #[prost(uint64, tag = "3")]
    pub dropped: u64,
    /// Failed without a time.
    #[prost(uint64, tag = "4")]
    pub failed: u64,
}

/// Load of a window.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct LoadRow {
    /// Number of the scenario plus one; 0 for none.
    #[prost(uint32, tag = "1")]
    pub scenario: u32,
    /// 0 iterations, 1 requests.
    #[prost(uint32, tag = "2")]
    pub work: u32,
    /// Started.
    #[prost(uint64, tag = "3")]
    pub started: u64,
    /// Finished.
    #[prost(uint64, tag = "4")]
    pub finished: u64,
    /// Integral of the number under way, nanoseconds × number.
    #[prost(uint64, tag = "5")]
    pub in_flight_ns: u64,
}

/// A request worth looking at.
#[derive(Clone, PartialEq, Message)]
pub struct ExemplarRow {
    /// 0 slowest, 1 failed, 2 bucket.
    #[prost(uint32, tag = "1")]
    pub kind: u32,
    /// Number of the metric.
    #[prost(uint32, tag = "2")]
    pub metric: u32,
    /// Number of the tag set.
    #[prost(uint32, tag = "3")]
    pub tags: u32,
    /// Its end, by the hub's clock.
    #[prost(uint64, tag = "4")]
    pub at_ns: u64,
    /// Its duration in the metric's unit.
    #[prost(double, tag = "5")]
    pub value: f64,
    /// The value's mark in [`crate::convert`].
    #[prost(uint32, tag = "6")]
    pub mark: u32,
    /// The trace: 16 bytes, big-endian; empty without one.
    #[prost(bytes = "bytes", tag = "7")]
    pub trace: Bytes,
    /// Further facts: names and values in turn.
    #[prost(string, repeated, tag = "8")]
    pub metadata: Vec<String>,
}

/// A distinct error.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ErrorRow {
    /// k6's code.
    #[prost(uint32, tag = "1")]
    pub code: u32,
    /// Message.
    #[prost(string, tag = "2")]
    pub message: String,
    /// Number of the tag set.
    #[prost(uint32, tag = "3")]
    pub tags: u32,
    /// How many.
    #[prost(uint64, tag = "4")]
    pub count: u64,
    /// The first one in full.
    #[prost(string, tag = "5")]
    pub example: String,
}

/// Raw samples.
#[derive(Clone, PartialEq, Message)]
pub struct Samples {
    /// The samples.
    #[prost(message, repeated, tag = "1")]
    pub samples: Vec<SampleRow>,
    /// Samples that were dropped since the last batch.
    #[prost(uint64, tag = "2")]
    pub lost: u64,
}

/// A raw sample.
#[derive(Clone, PartialEq, Message)]
pub struct SampleRow {
    /// Number of the metric.
    #[prost(uint32, tag = "1")]
    pub metric: u32,
    /// Number of the tag set.
    #[prost(uint32, tag = "2")]
    pub tags: u32,
    /// Value.
    #[prost(double, tag = "3")]
    pub value: f64,
    /// Instant, by the hub's clock.
    #[prost(uint64, tag = "4")]
    pub at_ns: u64,
    /// The value's mark in [`crate::convert`].
    #[prost(uint32, tag = "5")]
    pub mark: u32,
    /// Metadata: names and values in turn.
    #[prost(string, repeated, tag = "6")]
    pub metadata: Vec<String>,
}

/// Log lines.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Log {
    /// The lines.
    #[prost(message, repeated, tag = "1")]
    pub lines: Vec<LineRow>,
    /// Lines that were dropped since the last batch.
    #[prost(uint64, tag = "2")]
    pub lost: u64,
}

/// A log line.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct LineRow {
    /// Instant, by the hub's clock.
    #[prost(uint64, tag = "1")]
    pub at_ns: u64,
    /// 0 debug, 1 info, 2 warning, 3 error.
    #[prost(uint32, tag = "2")]
    pub level: u32,
    /// Text.
    #[prost(string, tag = "3")]
    pub message: String,
    /// Origin, such as `console`.
    #[prost(string, tag = "4")]
    pub source: String,
}

/// Why a test ends early, with its kind in [`crate::convert`].
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Reason {
    /// Its kind.
    #[prost(uint32, tag = "1")]
    pub kind: u32,
    /// Its text, where there is one.
    #[prost(string, optional, tag = "2")]
    pub text: Option<String>,
}

/// The end of an agent's scenarios.
#[derive(Clone, PartialEq, Message)]
pub struct Ended {
    /// Why they ended before their plan did.
    #[prost(message, optional, tag = "1")]
    pub aborted: Option<Reason>,
    /// Whether the script called `test.fail()`.
    #[prost(bool, tag = "2")]
    pub marked_failed: bool,
    /// Dropped iterations by scenario.
    #[prost(message, repeated, tag = "3")]
    pub drops: Vec<DropRow>,
    /// Raw samples that were lost before they were sent.
    #[prost(uint64, tag = "4")]
    pub samples_lost: u64,
    /// Worker threads that were lost.
    #[prost(uint64, tag = "5")]
    pub workers_lost: u64,
    /// Final counters.
    #[prost(message, optional, tag = "6")]
    pub counters: Option<Counters>,
    /// Validity of the agent's measurement, as a line for people; empty where it is valid.
    #[prost(string, tag = "7")]
    pub doubts: String,
}

/// Dropped iterations of a scenario by cause.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct DropRow {
    /// Every VU was busy and `maxVUs` reached.
    #[prost(uint64, tag = "1")]
    pub vus_exhausted: u64,
    /// A further VU was being initialised.
    #[prost(uint64, tag = "2")]
    pub vu_starting: u64,
    /// The scenario ended before.
    #[prost(uint64, tag = "3")]
    pub time_up: u64,
}

/// The agent takes part.
#[derive(Clone, PartialEq, Message)]
pub struct Welcome {
    /// Highest number of a frame that the hub has received from this agent.
    #[prost(uint64, tag = "1")]
    pub received: u64,
}

/// The test.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Test {
    /// The run's id.
    #[prost(string, tag = "1")]
    pub run: String,
    /// Size of the archive.
    #[prost(uint64, tag = "2")]
    pub archive_bytes: u64,
    /// SHA-256 of the archive.
    #[prost(bytes = "bytes", tag = "3")]
    pub archive_sha256: Bytes,
    /// Settings that the program's session reads.
    #[prost(bytes = "bytes", tag = "4")]
    pub settings: Bytes,
}

/// A part of the test: number `index` of `count` equal ones, or one of several shares of it.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Segment {
    /// Which, from 0.
    #[prost(uint32, tag = "1")]
    pub index: u32,
    /// How many there are.
    #[prost(uint32, tag = "2")]
    pub count: u32,
    /// Which share of the part, from 0.
    #[prost(uint32, tag = "3")]
    pub share: u32,
    /// Shares of the part; 0 and 1 are the whole.
    #[prost(uint32, tag = "4")]
    pub shares: u32,
    /// Whether another agent has run it before.
    #[prost(bool, tag = "5")]
    pub is_continued: bool,
}

impl Segment {
    /// Part `index` of `count`.
    pub fn part(index: u32, count: u32) -> Segment {
        Segment { index, count, share: 0, shares: 1, is_continued: false }
    }

    /// Share `index` of `of` equal shares of this one.
    pub fn split(self, index: u32, of: u32) -> Segment {
        let shares = self.shares.max(1);
        Segment { share: self.share + shares * index, shares: shares * of.max(1), ..self }
    }
}

/// The start of the scenarios.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Start {
    /// When, by the hub's clock.
    #[prost(uint64, tag = "1")]
    pub at_ns: u64,
    /// The JSON that `setup()` returned.
    #[prost(string, optional, tag = "2")]
    pub setup_data: Option<String>,
    /// The first instant at which this agent starts iterations, by the hub's clock.
    #[prost(uint64, tag = "3")]
    pub from_ns: u64,
    /// By scenario: iterations of VUs that loop which an earlier agent may have numbered.
    #[prost(uint64, repeated, tag = "4")]
    pub numbers: Vec<u64>,
}

/// An order while the test runs.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Order {
    /// The order.
    #[prost(oneof = "Act", tags = "1, 2, 3, 4, 5, 6, 7")]
    pub act: Option<Act>,
}

/// The orders while the test runs.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum Act {
    /// Stop the iterations.
    #[prost(message, tag = "1")]
    Stop(Reason),
    /// Stop everything at once.
    #[prost(message, tag = "2")]
    Kill(Reason),
    /// Change the VUs of an externally-controlled scenario, or pause.
    #[prost(message, tag = "3")]
    Steer(Steer),
    /// Run `teardown()` with the data of `setup()`.
    #[prost(message, tag = "4")]
    RunTeardown(FunctionEnd),
    /// The hub has everything: exit.
    #[prost(message, tag = "5")]
    Finish(Empty),
    /// Join in a further session, with this ticket.
    #[prost(uint32, tag = "6")]
    Enlist(u32),
    /// Run these shared iterations.
    #[prost(message, tag = "7")]
    Lease(Lease),
}

/// Shared iterations of a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Lease {
    /// Number of the scenario.
    #[prost(uint32, tag = "1")]
    pub scenario: u32,
    /// The first number in the whole test.
    #[prost(uint64, tag = "2")]
    pub first: u64,
    /// How many; with 0 there are no more.
    #[prost(uint64, tag = "3")]
    pub count: u64,
}

/// A change of an externally-controlled scenario.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Steer {
    /// Whether the test is paused.
    #[prost(bool, tag = "1")]
    pub is_paused: bool,
    /// VUs of the whole test.
    #[prost(uint64, optional, tag = "2")]
    pub vus: Option<u64>,
}
