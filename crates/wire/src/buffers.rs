//! Buffers for requests, which a thread uses again.

use std::cell::RefCell;

use crate::limits::{SPARE_BUFFER_BYTES_MAX, SPARE_BUFFERS_MAX};

thread_local! {
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// An empty buffer to write a request into.
pub(crate) fn take_buffer() -> Vec<u8> {
    SPARE.with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Gives a buffer back.
pub(crate) fn put_buffer(mut buffer: Vec<u8>) {
    buffer.clear();
    SPARE.with_borrow_mut(|spare| {
        if spare.len() < SPARE_BUFFERS_MAX && (1..=SPARE_BUFFER_BYTES_MAX).contains(&buffer.capacity()) {
            spare.push(buffer);
        }
    });
}
