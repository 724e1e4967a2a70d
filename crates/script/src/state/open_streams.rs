//! The open streams of one VU: WebSockets, streams of gRPC and streamed responses.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Maximum number of streams open at once in one VU. A script that opens more leaks them.
const STREAMS_MAX: usize = 10_000;

/// A stream that the end of the iteration closes.
pub(crate) trait OpenStream: Any {
    /// Closes the stream because the iteration is over.
    fn cut_off(&self);
}

/// Open streams of one VU, by their numbers in JavaScript.
#[derive(Default)]
pub(crate) struct OpenStreams {
    open: RefCell<Vec<(u32, Rc<dyn OpenStream>)>>,
    last_id: Cell<u32>,
}

impl OpenStreams {
    /// Adds a stream and returns its number for JavaScript; `None` when there are too many.
    pub(crate) fn add(&self, stream: Rc<dyn OpenStream>) -> Option<u32> {
        let mut open = self.open.borrow_mut();
        if open.len() >= STREAMS_MAX {
            return None;
        }
        self.last_id.set(self.last_id.get().wrapping_add(1));
        open.push((self.last_id.get(), stream));
        Some(self.last_id.get())
    }

    /// The open stream with this number.
    pub(crate) fn get<S: OpenStream>(&self, id: u32) -> Option<Rc<S>> {
        let stream =
            self.open.borrow().iter().find(|(known, _)| *known == id).map(|(_, open)| open.clone())?;
        let stream: Rc<dyn Any> = stream;
        stream.downcast().ok()
    }

    /// Whether a stream with this number is open.
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.open.borrow().iter().any(|(known, _)| *known == id)
    }

    /// Removes a stream that is over.
    pub(crate) fn remove(&self, id: u32) {
        self.open.borrow_mut().retain(|(known, _)| *known != id);
    }

    /// Closes every open stream: the iteration is over.
    pub(crate) fn end_all(&self) {
        let open = std::mem::take(&mut *self.open.borrow_mut());
        for (_, stream) in open {
            stream.cut_off();
        }
    }
}
