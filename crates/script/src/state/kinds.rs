//! Kinds of objects whose values are made when they are read.

use std::cell::{Cell, RefCell};

use rquickjs::{Object, Persistent};

/// Fields that such an object may have.
pub(crate) const FIELDS_MAX: usize = 16;

/// The facts that a VU keeps about a kind of object.
#[derive(Default)]
pub(crate) struct Kind {
    /// The engine's numbers of the names; no name has the number 0.
    pub(crate) atoms: Cell<[u32; FIELDS_MAX]>,
    /// Keeps the names behind the numbers alive.
    pub(crate) names: RefCell<Option<Persistent<Object<'static>>>>,
    /// The prototype, because asking the binding for it costs as much as making an object.
    pub(crate) prototype: RefCell<Option<Persistent<Object<'static>>>>,
    /// Keeps the layout of such objects between iterations (see [`crate::shapes`]).
    pub(crate) specimen: RefCell<Option<Persistent<Object<'static>>>>,
}

impl Kind {
    /// Drops what holds JavaScript values.
    pub(crate) fn forget_values(&self) {
        self.names.borrow_mut().take();
        self.prototype.borrow_mut().take();
        self.specimen.borrow_mut().take();
    }
}
