//! A cache of answers, each valid while the files it was made from are unchanged.

use std::collections::{HashMap, VecDeque};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use model::{Instant, SystemClock};

/// Minimum age of an answer about a growing file before it is computed again.
const FRESH: Duration = Duration::from_secs(1);

/// The size in bytes and modification time of a run file and its log, to detect changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp([(u64, (i64, i64)); 2]);

impl Stamp {
    /// Reads the stamp of a file; all zeros if the file is missing.
    pub(super) fn read(path: &Path) -> Stamp {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let one = |path: &Path| {
            let Ok(metadata) = std::fs::metadata(path) else { return Default::default() };
            (metadata.len(), (metadata.mtime(), metadata.mtime_nsec()))
        };
        Stamp([one(path), one(Path::new(&log))])
    }
}

struct Kept {
    stamp: Stamp,
    made: Instant,
    text: Arc<str>,
}

/// Answers by their question.
pub(super) struct Cache {
    bytes_max: usize,
    bytes: usize,
    answers: HashMap<String, Kept>,
    /// Questions, the oldest first.
    order: VecDeque<String>,
}

impl Cache {
    /// Returns an empty cache of `bytes_max` bytes.
    pub(super) fn new(bytes_max: usize) -> Cache {
        Cache { bytes_max, bytes: 0, answers: HashMap::new(), order: VecDeque::new() }
    }

    /// Returns the cached answer to a question if its files are unchanged.
    pub(super) fn get(&self, asked: &str, stamp: Stamp) -> Option<Arc<str>> {
        let kept = self.answers.get(asked)?;
        let holds = kept.stamp == stamp || SystemClock::now().since(kept.made) < FRESH;
        holds.then(|| kept.text.clone())
    }

    /// Stores an answer.
    pub(super) fn put(&mut self, asked: &str, stamp: Stamp, text: Arc<str>) {
        let bytes = Cache::bytes(asked, &text);
        if bytes > self.bytes_max / 2 {
            return;
        }
        self.forget(asked);
        self.bytes += bytes;
        self.answers.insert(asked.to_owned(), Kept { stamp, made: SystemClock::now(), text });
        self.order.push_back(asked.to_owned());
        while self.bytes > self.bytes_max
            && let Some(oldest) = self.order.pop_front()
        {
            self.remove(&oldest);
        }
    }

    /// Removes all answers.
    pub(super) fn forget_all(&mut self) {
        *self = Cache::new(self.bytes_max);
    }

    fn forget(&mut self, asked: &str) {
        if self.answers.contains_key(asked) {
            self.order.retain(|known| known != asked);
            self.remove(asked);
        }
    }

    fn remove(&mut self, asked: &str) {
        if let Some(kept) = self.answers.remove(asked) {
            self.bytes -= Cache::bytes(asked, &kept.text);
        }
    }

    /// Returns the bytes that an answer occupies; the question is stored twice.
    fn bytes(asked: &str, text: &str) -> usize {
        2 * asked.len() + text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_answers_are_removed_first() {
        let mut cache = Cache::new(14);
        let stamp = Stamp::default();
        for asked in ["a", "b", "c"] {
            cache.put(asked, stamp, "1234".into());
        }
        let held = |cache: &Cache| ["a", "b", "c"].map(|asked| cache.get(asked, stamp).is_some());
        assert_eq!(held(&cache), [false, true, true]);
        cache.put("b", stamp, "12".into());
        assert_eq!((cache.bytes, cache.order.len()), (10, 2));
        for (asked, text) in [("huge", ""), ("d", "123456")] {
            cache.put(asked, stamp, text.into());
            assert!(cache.get(asked, stamp).is_none(), "{asked}");
        }
        cache.forget_all();
        assert_eq!((held(&cache), cache.bytes), ([false; 3], 0));
    }
}
