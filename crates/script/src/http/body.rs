//! Bodies of requests: one copy for all VUs of a thread that send the same, as load tests mostly do.

use std::cell::RefCell;

use bytes::Bytes;
use rquickjs::{Persistent, Value};

use crate::js::{self, Args};

/// A smaller body is copied sooner than compared.
const SHARED_BYTES_MIN: usize = 16 << 10;

/// A larger body is copied each time, so that a thread keeps 2 MiB at most.
const SHARED_BYTES_MAX: usize = 1 << 20;

/// Bodies that a thread keeps.
const KEPT_MAX: usize = 2;

thread_local! {
    /// The large bodies that were sent last, oldest first.
    static KEPT: RefCell<Vec<Bytes>> = const { RefCell::new(Vec::new()) };
}

/// The large text that a VU sent last, once requests send it again. The same string of the engine need not be read a second time.
pub(crate) struct SentText {
    address: usize,
    /// Keeps the string, and so its address.
    _text: Persistent<Value<'static>>,
    bytes: Bytes,
}

/// A text as a body to send.
pub(super) fn of_text<'js>(args: &Args<'_, 'js>, text: &Value<'js>) -> rquickjs::Result<Bytes> {
    let sent = &args.vu.http.sent_text;
    let address = js::address_of(text);
    if let Some(sent) = sent.borrow().as_ref().filter(|sent| sent.address == address) {
        return Ok(sent.bytes.clone());
    }
    let (bytes, is_known) = js::with_text(args.ctx, text, |text| shared(text.as_bytes()))?;
    if is_known {
        let text = Persistent::save(args.ctx, text.clone());
        sent.replace(Some(SentText { address, _text: text, bytes: bytes.clone() }));
    }
    Ok(bytes)
}

/// Bytes as a body to send.
pub(super) fn of_bytes(bytes: &[u8]) -> Bytes {
    shared(bytes).0
}

/// The body of an earlier request if it is the same, and true; else a copy.
///
/// Comparing reads what a copy would read, but a copy also writes as much to new memory, for every VU its own.
fn shared(body: &[u8]) -> (Bytes, bool) {
    if !(SHARED_BYTES_MIN..=SHARED_BYTES_MAX).contains(&body.len()) {
        return (Bytes::copy_from_slice(body), false);
    }
    KEPT.with_borrow_mut(|kept| {
        if let Some(known) = kept.iter().find(|known| known[..] == *body) {
            return (known.clone(), true);
        }
        let copy = Bytes::copy_from_slice(body);
        if kept.len() == KEPT_MAX {
            kept.remove(0);
        }
        kept.push(copy.clone());
        (copy, false)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_bodies_that_are_the_same_are_one() {
        let (first, second, third) = (vec![b'1'; 20_000], vec![b'2'; 20_000], vec![b'3'; 20_000]);
        let is_same = |one: &Bytes, other: &Bytes| one == other && one.as_ptr() == other.as_ptr();
        let sent = of_bytes(&first);
        assert!(is_same(&sent, &of_bytes(&first.clone())));
        let mut changed = first.clone();
        changed[19_999] = b'x';
        assert_eq!(of_bytes(&changed), changed);
        assert!(is_same(&sent, &of_bytes(&first)));
        for body in [&second, &third] {
            assert_eq!(of_bytes(body), body);
        }
        let again = of_bytes(&first);
        assert!(again == first && !is_same(&sent, &again), "it was forgotten, and its owner has it still");
        assert_eq!(KEPT.with_borrow(Vec::len), KEPT_MAX);
    }

    #[test]
    fn small_and_huge_bodies_are_not_kept() {
        for bytes in [0, 1, SHARED_BYTES_MIN - 1, SHARED_BYTES_MAX + 1] {
            let body = vec![b'x'; bytes];
            assert_eq!(shared(&body), (Bytes::from(body), false));
        }
        assert!(KEPT.with_borrow(Vec::is_empty));
    }
}
