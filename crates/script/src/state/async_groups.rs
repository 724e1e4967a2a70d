//! The async groups of one VU.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use rquickjs::{Function, Persistent};

/// State of a VU's async groups.
#[derive(Default)]
pub(crate) struct AsyncGroups {
    /// Whether the script has started one.
    pub(crate) is_on: Cell<bool>,
    /// The group of the next job; without it the job belongs to none.
    pub(crate) next: RefCell<Option<Arc<str>>>,
    /// Calls back when a promise is settled.
    pub(crate) when_settled: RefCell<Option<Persistent<Function<'static>>>>,
}

impl AsyncGroups {
    /// Whether the script has started one.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.get()
    }

    /// Drops everything that holds JavaScript values.
    pub(crate) fn forget_values(&self) {
        self.when_settled.borrow_mut().take();
    }

    /// Sets the group of the job that runs next.
    pub(crate) fn set_next(&self, group: Arc<str>) {
        *self.next.borrow_mut() = Some(group);
    }
}
