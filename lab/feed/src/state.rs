//! The state of the backend, and the parts of it that can be switched.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use labkit::{Log, Metrics, Tracer};

use crate::cache::Cache;
use crate::door::Door;
use crate::downstream::Downstream;
use crate::keys::Keys;
use crate::link::Link;
use crate::sessions::Sessions;
use crate::worker::Worker;

/// All that requests share.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) worker: Worker,
    pub(crate) door: Door,
    pub(crate) link: Link,
    pub(crate) keys: Keys,
    pub(crate) downstream: Downstream,
    pub(crate) sessions: Sessions,
    /// There in the variant that has one.
    pub(crate) cache: Option<Cache>,
    /// Whether each connection is closed after one request.
    pub(crate) is_churning: AtomicBool,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) tracer: Tracer,
    pub(crate) log: Log,
}
