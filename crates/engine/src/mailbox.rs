//! A queue between tasks of one thread.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Poll, Waker};

/// A queue with one reader. It holds at most one item per scenario and one per arrival for which its VU was idle, so it
/// needs no limit of its own.
#[derive(Debug)]
pub(crate) struct Mailbox<T> {
    items: RefCell<VecDeque<T>>,
    reader: RefCell<Option<Waker>>,
    closed: Cell<bool>,
}

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        Mailbox { items: RefCell::default(), reader: RefCell::default(), closed: Cell::new(false) }
    }
}

impl<T> Mailbox<T> {
    pub(crate) fn push(&self, item: T) {
        self.items.borrow_mut().push_back(item);
        self.wake();
    }

    /// Closes the queue: the reader gets the remaining items and then `None`.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        self.wake();
    }

    pub(crate) async fn receive(&self) -> Option<T> {
        poll_fn(|context| {
            if let Some(item) = self.items.borrow_mut().pop_front() {
                return Poll::Ready(Some(item));
            }
            if self.closed.get() {
                return Poll::Ready(None);
            }
            *self.reader.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    fn wake(&self) {
        let reader = self.reader.borrow_mut().take();
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}
