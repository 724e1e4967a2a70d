//! Parts that every service of the lab needs: spans, metrics, a structured log, and an endpoint for faults that can be switched while it
//! runs. It knows nothing of what a service does, nor of how it was started.

mod control;
mod log;
mod metrics;
mod trace;

pub use control::{Control, FaultOrder, Orders};
pub use log::Log;
pub use metrics::{Definition, Kind, Metrics, SPANS, metric};
pub use trace::{Attribute, Below, SpanKind, Timed, Trace, Tracer, of_database};
