//! The tasks of `plimsoll/flow` that one VU has under way.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use model::{Instant, TagSetId};

use super::flow_metrics::Metrics;
use crate::trace_context::{TraceContext, TraceOf};

/// The submission, or a poll, that is going on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) is_submission: bool,
    pub(crate) began: Instant,
    pub(crate) answered: Option<Instant>,
}

/// A task under way.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) tags: TagSetId,
    /// Where its turn to be traced came.
    pub(crate) traced: Option<Traced>,
    pub(crate) began: Instant,
    /// Begin of the last poll that said "not yet".
    pub(crate) not_yet: Option<Instant>,
    /// End of the poll that said "done".
    pub(crate) done: Option<Instant>,
    pub(crate) polls: u32,
    pub(crate) step: Option<Step>,
    /// Outcomes whose shares the script wants.
    pub(crate) declared: Box<[Box<str>]>,
}

/// The trace of a task.
#[derive(Debug)]
pub(crate) struct Traced {
    pub(crate) context: TraceContext,
    pub(crate) name: Option<String>,
}

/// Tasks of one VU.
#[derive(Default)]
pub(crate) struct Tasks {
    pub(crate) open: RefCell<BTreeMap<u32, Task>>,
    pub(crate) last_id: Cell<u32>,
    /// Trace of the requests made now.
    pub(crate) trace_of_request: Cell<TraceOf>,
    pub(crate) metrics: Cell<Option<Metrics>>,
}

impl Tasks {
    pub(crate) fn set_metrics(&self, metrics: Metrics) {
        self.metrics.set(Some(metrics));
    }

    /// Trace of the requests made now.
    pub(crate) fn trace_of_request(&self) -> TraceOf {
        self.trace_of_request.get()
    }
}
