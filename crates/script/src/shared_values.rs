//! Counters, queues and maps of all VUs of a run, bounded.
//!
//! Values are kept as JSON texts, so that nothing of one VU's engine reaches another's. Every operation is atomic.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::pin::pin;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Counters, queues and maps of one script. A script that names more makes names of values.
pub(crate) const NAMES_MAX: usize = 1_000;

/// Entries of a queue or a map unless the script says otherwise, and at most.
pub(crate) const ENTRIES_DEFAULT: usize = 100_000;
/// See [`ENTRIES_DEFAULT`].
pub(crate) const ENTRIES_MAX: usize = 10_000_000;

/// Bytes of all values and keys of a process.
const BYTES_MAX: usize = 256 << 20;

/// Bytes that an entry takes besides its value and its key.
const ENTRY_BYTES: usize = 64;

/// The shared values of a script.
#[derive(Default)]
pub(crate) struct SharedValues {
    named: Mutex<HashMap<(Kind, String), Arc<Shared>>>,
    bytes: Arc<AtomicUsize>,
}

impl SharedValues {
    /// The counter, queue or map of a name; `None` when there are too many names.
    pub(crate) fn named(&self, kind: Kind, name: String, entries_max: usize) -> Option<Arc<Shared>> {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let count = named.len();
        match named.entry((kind, name.clone())) {
            Entry::Occupied(known) => Some(known.get().clone()),
            Entry::Vacant(_) if count >= NAMES_MAX => None,
            Entry::Vacant(place) => {
                let content = match kind {
                    Kind::Counter => Content::Counter(0.0),
                    Kind::Queue => Content::Queue(VecDeque::new()),
                    Kind::Map => Content::Map(BTreeMap::new()),
                };
                let bytes = self.bytes.clone();
                let made =
                    Shared { name, entries_max, bytes, came: Notify::new(), content: Mutex::new(content) };
                Some(place.insert(Arc::new(made)).clone())
            }
        }
    }
}

/// A kind of shared value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Counter,
    Queue,
    Map,
}

impl Kind {
    pub(crate) const NAMES: [(&str, Kind); 3] =
        [("counter", Kind::Counter), ("queue", Kind::Queue), ("map", Kind::Map)];
}

/// One counter, queue or map.
pub(crate) struct Shared {
    name: String,
    entries_max: usize,
    bytes: Arc<AtomicUsize>,
    /// Wakes who waits for an entry of a queue, in the order in which they came.
    came: Notify,
    content: Mutex<Content>,
}

/// The content of a shared value.
pub(crate) enum Content {
    Counter(f64),
    Queue(VecDeque<Box<str>>),
    Map(BTreeMap<Box<str>, Box<str>>),
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes bytes of the budget.
    ///
    /// # Errors
    /// A text for the user: it is exhausted.
    fn take_bytes(&self, bytes: usize) -> Result<(), String> {
        if self.bytes.fetch_add(bytes, Relaxed) + bytes <= BYTES_MAX {
            return Ok(());
        }
        self.bytes.fetch_sub(bytes, Relaxed);
        Err(format!(
            "shared values exceed the limit of {} MiB; take entries out, or share ids instead of what they stand for",
            BYTES_MAX >> 20
        ))
    }

    fn give_bytes(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Relaxed);
    }

    /// Appends a value; false when the queue is full.
    pub(crate) fn push(&self, value: Box<str>) -> Result<bool, String> {
        let mut content = self.lock();
        let Content::Queue(queue) = &mut *content else { return Ok(false) };
        if queue.len() >= self.entries_max {
            return Ok(false);
        }
        self.take_bytes(value.len() + ENTRY_BYTES)?;
        queue.push_back(value);
        drop(content);
        self.came.notify_one();
        Ok(true)
    }

    pub(crate) fn pop(&self) -> Option<Box<str>> {
        let mut content = self.lock();
        let Content::Queue(queue) = &mut *content else { return None };
        let value = queue.pop_front()?;
        self.give_bytes(value.len() + ENTRY_BYTES);
        Some(value)
    }

    /// Waits for a value.
    pub(crate) async fn popped(&self) -> Box<str> {
        loop {
            let mut came = pin!(self.came.notified());
            // Before the look, so that what comes in between wakes it.
            came.as_mut().enable();
            if let Some(value) = self.pop() {
                return value;
            }
            came.await;
        }
    }

    /// Replaces the value of a key, or removes it; the value before. `only_new` leaves a key that is there as it is.
    pub(crate) fn replace(
        &self,
        key: Box<str>,
        value: Option<Box<str>>,
        only_new: bool,
    ) -> Result<Option<Box<str>>, String> {
        let mut content = self.lock();
        let Content::Map(map) = &mut *content else { return Ok(None) };
        let key_bytes = key.len() + ENTRY_BYTES;
        let Some(value) = value else {
            let before = map.remove(&key);
            if let Some(before) = &before {
                self.give_bytes(before.len() + key_bytes);
            }
            return Ok(before);
        };
        let before = map.get(&key);
        if let Some(before) = before.filter(|_| only_new) {
            return Ok(Some(before.clone()));
        }
        if before.is_none() && map.len() >= self.entries_max {
            return Err(format!(
                "the map \"{}\" is full: it has {} entries; remove some, or set max",
                self.name, self.entries_max
            ));
        }
        self.take_bytes(value.len() + key_bytes)?;
        let before = map.insert(key, value);
        if let Some(before) = &before {
            self.give_bytes(before.len() + key_bytes);
        }
        Ok(before)
    }

    pub(crate) fn clear(&self) {
        match &mut *self.lock() {
            Content::Counter(value) => *value = 0.0,
            Content::Queue(queue) => {
                self.give_bytes(queue.iter().map(|value| value.len() + ENTRY_BYTES).sum());
                queue.clear();
            }
            Content::Map(map) => {
                self.give_bytes(map.iter().map(|(key, value)| key.len() + value.len() + ENTRY_BYTES).sum());
                map.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(content: Content, entries_max: usize) -> Shared {
        Shared {
            name: "m".into(),
            entries_max,
            bytes: Arc::default(),
            came: Notify::new(),
            content: Mutex::new(content),
        }
    }

    #[test]
    fn bytes_are_given_back() {
        let map = shared(Content::Map(BTreeMap::new()), 2);
        let held = || map.bytes.load(Relaxed);
        let set = |key: &str, value: Option<&str>| map.replace(key.into(), value.map(Into::into), false);
        assert_eq!(set("a", Some("1")), Ok(None));
        assert_eq!(set("a", Some("22")), Ok(Some("1".into())));
        assert_eq!(held(), 2 + 1 + ENTRY_BYTES);
        set("b", Some("3")).expect("it has capacity");
        assert!(set("c", Some("4")).is_err_and(|text| text.contains("\"m\" is full: it has 2 entries")));
        assert_eq!(map.replace("b".into(), Some("5".into()), true), Ok(Some("3".into())));
        assert_eq!(set("b", None), Ok(Some("3".into())));
        map.clear();
        assert_eq!(held(), 0);

        let queue = shared(Content::Queue(VecDeque::new()), 2);
        let held = || queue.bytes.load(Relaxed);
        assert_eq!(
            [queue.push("1".into()), queue.push("2".into()), queue.push("3".into())],
            [Ok(true), Ok(true), Ok(false)]
        );
        assert_eq!(held(), 2 * (1 + ENTRY_BYTES));
        assert_eq!(
            (queue.pop(), queue.pop(), queue.pop(), held()),
            (Some("1".into()), Some("2".into()), None, 0)
        );
        let large: Box<str> = "x".repeat(BYTES_MAX).into();
        assert!(queue.push(large).is_err_and(|text| text.contains("256 MiB")));
        assert_eq!(held(), 0);
    }

    #[test]
    fn who_waits_for_a_value_gets_one_each() {
        let queue = Arc::new(shared(Content::Queue(VecDeque::new()), 100));
        let waiting: Vec<_> = (0..8)
            .map(|_| {
                let queue = queue.clone();
                std::thread::spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
                    runtime.block_on(queue.popped()).parse::<u32>().expect("a number")
                })
            })
            .collect();
        for n in 0..8 {
            assert_eq!(queue.push(n.to_string().into()), Ok(true));
        }
        let mut got: Vec<u32> = waiting.into_iter().map(|thread| thread.join().expect("it ends")).collect();
        got.sort_unstable();
        assert_eq!(got, (0..8).collect::<Vec<u32>>());
    }
}
