//! The nouns of Plimsoll as plain data, and the clock.
//!
//! Everything here is a value that several crates pass to each other: a plan, a scenario, an arrival, a metric, a
//! tag set, a sample, a window, an event. The crate does no I/O, knows no serialization format and holds no
//! behaviour of others; what little it does is what a noun must do to itself (merge, compare, look up).

mod agents;
pub mod aggregate;
pub mod arrival;
pub mod audit;
pub mod brief;
pub mod capacity;
pub mod clock;
pub mod diagnosis;
pub mod duration;
pub mod event;
pub mod evidence;
pub mod finding;
pub mod generator;
mod iteration;
pub mod metric;
pub mod plan;
pub mod progress;
pub mod sample;
pub mod signal;
pub mod span;
pub mod table;
pub mod tags;
pub mod threshold;
pub mod validity;
pub mod window;

pub use agents::{AgentFacts, AgentState};
pub use aggregate::{Aggregate, CounterTotal, Failures, GaugeTotal, Quantile, RateTotal, SeriesKey, Trend};
pub use arrival::{Arrival, DropCause};
pub use audit::{AuditRule, Derived, Figure, FigureLabel, Finding};
pub use brief::Brief;
pub use clock::{Clock, Epoch, Instant, SimulatedClock, SystemClock};
pub use diagnosis::Diagnosis;
pub use duration::{GoDuration, LengthError};
pub use event::{LogLevel, LogLine, RunEvent};
pub use evidence::{Datum, Evidence, Gap, Record, RecordKind, Signal};
pub use finding::{FigureValue, Severity, Strength, Unit};
pub use generator::{GeneratorState, Reading, Vital};
pub use iteration::IterationEnd;
pub use metric::{Metric, MetricId, MetricKind, MetricRegistry, ValueKind};
pub use plan::{Plan, Scenario, ScenarioId};
pub use progress::{RunProgress, ScenarioProgress};
pub use sample::{Mark, Metadata, Sample};
pub use signal::{SignalId, SignalName, SignalRole};
pub use span::{Kept, OWN_SERVICE, OperationLoad, Span, SpanKind, SpanStatus, Trace};
pub use table::Table;
pub use tags::{SystemTag, SystemTags, TagInterner, TagSet, TagSetId};
pub use threshold::ThresholdResult;
pub use validity::{Amount, Fault, Grade, Reason, Validity};
pub use window::{ErrorCount, Exemplar, ExemplarCandidate, ExemplarKind, Load, Window, Work};
