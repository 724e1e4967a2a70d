//! The open WebSockets and streams of gRPC of one VU.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Maximum number of sockets open at once in one VU. A script that opens more leaks them.
const SOCKETS_MAX: usize = 10_000;

/// A socket or a stream that the end of the iteration closes.
pub(crate) trait OpenSocket: Any {
    /// Closes the socket because the iteration is over.
    fn cut_off(&self);
}

/// Open sockets of one VU, by their numbers in JavaScript.
#[derive(Default)]
pub(crate) struct WebSockets {
    open: RefCell<Vec<(u32, Rc<dyn OpenSocket>)>>,
    last_id: Cell<u32>,
}

impl WebSockets {
    /// Adds a socket and returns its number for JavaScript; `None` when there are too many.
    pub(crate) fn add(&self, socket: Rc<dyn OpenSocket>) -> Option<u32> {
        let mut open = self.open.borrow_mut();
        if open.len() >= SOCKETS_MAX {
            return None;
        }
        self.last_id.set(self.last_id.get().wrapping_add(1));
        open.push((self.last_id.get(), socket));
        Some(self.last_id.get())
    }

    /// The open socket with this number.
    pub(crate) fn get<S: OpenSocket>(&self, id: u32) -> Option<Rc<S>> {
        let socket =
            self.open.borrow().iter().find(|(known, _)| *known == id).map(|(_, open)| open.clone())?;
        let socket: Rc<dyn Any> = socket;
        socket.downcast().ok()
    }

    /// Whether a socket with this number is open.
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.open.borrow().iter().any(|(known, _)| *known == id)
    }

    /// Removes a socket that is over.
    pub(crate) fn remove(&self, id: u32) {
        self.open.borrow_mut().retain(|(known, _)| *known != id);
    }

    /// Closes every open socket: the iteration is over.
    pub(crate) fn end_all(&self) {
        let open = std::mem::take(&mut *self.open.borrow_mut());
        for (_, socket) in open {
            socket.cut_off();
        }
    }
}
