//! The CommonJS files that one VU has run.

use std::cell::RefCell;
use std::collections::HashMap;

use rquickjs::{Ctx, Object, Persistent};

/// CommonJS files that have run, by URL, and the files that run now.
#[derive(Default)]
pub(crate) struct CommonJsFiles {
    modules: RefCell<HashMap<String, Persistent<Object<'static>>>>,
    running: RefCell<Vec<String>>,
}

impl CommonJsFiles {
    /// Drops everything that holds JavaScript values.
    pub(crate) fn clear(&self) {
        self.modules.borrow_mut().clear();
    }

    /// The `module` object of a file that has begun to run.
    pub(crate) fn module(&self, url: &str) -> Option<Persistent<Object<'static>>> {
        self.modules.borrow().get(url).cloned()
    }

    /// Keeps the `module` object of a file.
    pub(crate) fn add<'js>(&self, ctx: &Ctx<'js>, url: &str, module: Object<'js>) {
        self.modules.borrow_mut().insert(url.to_owned(), Persistent::save(ctx, module));
    }

    /// Runs something on behalf of a required file.
    pub(crate) fn during<T>(&self, url: &str, body: impl FnOnce() -> T) -> T {
        self.running.borrow_mut().push(url.to_owned());
        let value = body();
        self.running.borrow_mut().pop();
        value
    }

    /// The required file that runs now.
    pub(crate) fn running(&self) -> Option<String> {
        self.running.borrow().last().cloned()
    }
}
