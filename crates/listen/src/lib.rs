//! Accepts connections within limits: clients that are silent, slow or too many do not keep others out.
//!
//! A table ([`table`]) decides which connection is overdue and which one gives way to a new one; it takes the time and does no I/O. The
//! stream and the bodies of a connection report its activity. The crate must not know what is served.

mod activity;
mod intake;
mod service;
mod stream;
mod table;

pub use activity::Activity;
pub use intake::{Intake, accept};
pub use service::Reporting;
pub use stream::Watched;
pub use table::{Closed, Limits};
