//! Tag sets of checks, remembered per VU.

use std::cell::RefCell;

use model::TagSetId;
use rquickjs::{Object, Persistent};
use rustc_hash::FxHashMap;

/// Tag sets with the tag `check`. A script runs the same few checks again and again, so the sets are remembered by the
/// engine's number of the name, and the names are kept alive for it.
#[derive(Default)]
pub(crate) struct CheckTags {
    pub(crate) known: RefCell<FxHashMap<(u32, TagSetId), TagSetId>>,
    pub(crate) names: RefCell<Option<Persistent<Object<'static>>>>,
}

impl CheckTags {
    /// Drops all sets and the names behind them.
    pub(crate) fn forget(&self) {
        self.known.borrow_mut().clear();
        self.names.borrow_mut().take();
    }
}
