//! Bodies of requests: one copy for all VUs of a thread that send the same, as load tests mostly do.

use std::cell::RefCell;

use bytes::Bytes;

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

/// A body to send: that of an earlier request if it is the same, else a copy.
///
/// Comparing reads what a copy would read, but a copy also writes as much to new memory, for every VU its own.
pub(super) fn shared(body: &[u8]) -> Bytes {
    if !(SHARED_BYTES_MIN..=SHARED_BYTES_MAX).contains(&body.len()) {
        return Bytes::copy_from_slice(body);
    }
    KEPT.with_borrow_mut(|kept| {
        if let Some(known) = kept.iter().find(|known| known[..] == *body) {
            return known.clone();
        }
        let copy = Bytes::copy_from_slice(body);
        if kept.len() == KEPT_MAX {
            kept.remove(0);
        }
        kept.push(copy.clone());
        copy
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_bodies_that_are_the_same_are_one() {
        let (first, second, third) = (vec![b'1'; 20_000], vec![b'2'; 20_000], vec![b'3'; 20_000]);
        let is_same = |one: &Bytes, other: &Bytes| one == other && one.as_ptr() == other.as_ptr();
        let sent = shared(&first);
        assert!(is_same(&sent, &shared(&first.clone())));
        let mut changed = first.clone();
        changed[19_999] = b'x';
        assert_eq!(shared(&changed), changed);
        assert!(is_same(&sent, &shared(&first)));
        for body in [&second, &third] {
            assert_eq!(shared(body), body);
        }
        let again = shared(&first);
        assert!(again == first && !is_same(&sent, &again), "it was forgotten, and its owner has it still");
        assert_eq!(KEPT.with_borrow(Vec::len), KEPT_MAX);
    }

    #[test]
    fn small_and_huge_bodies_are_not_kept() {
        for bytes in [0, 1, SHARED_BYTES_MIN - 1, SHARED_BYTES_MAX + 1] {
            let body = vec![b'x'; bytes];
            assert_eq!(shared(&body), body);
        }
        assert!(KEPT.with_borrow(Vec::is_empty));
    }
}
