//! Blocks added up on several threads: each has series of its own, so that no two add to the same sum.

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use model::{MetricKind, SeriesKey};

use super::{Sums, add};
use crate::ReadError;
use crate::brief::Want;
use crate::cells::{Blocks, Places, SeriesOf};
use crate::format::SERIES_PER_BLOCK;
use crate::format::blob::Unpacker;
use crate::reader::{Reader, RowError};

/// Threads of a sum; more would wait for the reader of the file.
const THREADS_MAX: usize = 4;

/// Blocks that wait for a thread.
const WAITING_MAX: usize = 4;

/// How many cores there are for a sum.
pub(super) fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES
        .get_or_init(|| std::thread::available_parallelism().map_or(1, |cores| cores.get().min(THREADS_MAX)))
}

/// A block on its way to the thread that adds it up.
struct Job {
    /// Counts the blocks in the order in which they are read.
    number: usize,
    /// Its first series.
    first: u32,
    places: Places,
    bytes: Vec<u8>,
}

/// The sums of a thread, and the block that it could not read.
type Added = (Sums, Option<(usize, RowError)>);

/// A thread that adds up.
struct Helper<'scope> {
    jobs: SyncSender<Job>,
    thread: ScopedJoinHandle<'scope, Added>,
}

impl Reader {
    /// Adds up the cells at these places of these blocks.
    pub(super) fn add_blocks(
        &self,
        threads: usize,
        pieces: impl Iterator<Item = (Blocks, Places)>,
    ) -> Result<Sums, ReadError> {
        let blocks = self.all_series().len().div_ceil(SERIES_PER_BLOCK as usize);
        let threads = if threads.min(blocks) < 2 { 0 } else { threads.min(blocks) };
        std::thread::scope(|scope| {
            let helpers: Vec<Helper<'_>> =
                (0..threads).map_while(|_| Helper::start(scope, self.all_series())).collect();
            let mut own = Adder::new(self.all_series());
            let mut number = 0;
            let mut read = Ok(());
            for (blocks, places) in pieces {
                read = self.block_rows(blocks, |first, bytes| {
                    number += 1;
                    let block = (first / SERIES_PER_BLOCK) as usize;
                    let Some(helper) = block.checked_rem(helpers.len()).and_then(|at| helpers.get(at)) else {
                        return own.add(first, places, bytes);
                    };
                    // One that has failed takes no more, and says why in the end.
                    let _ = helper.jobs.send(Job { number, first, places, bytes: bytes.to_vec() });
                    Ok(())
                });
                if read.is_err() {
                    break;
                }
            }
            let added = helpers.into_iter().map(Helper::finish).collect::<Vec<_>>();
            self.gathered(own.sums, added, read)
        })
    }

    /// Returns the sum over all threads, or the error: one found by a thread precedes the one that ended the reading.
    fn gathered(
        &self,
        mut sums: Sums,
        added: Vec<Added>,
        read: Result<(), ReadError>,
    ) -> Result<Sums, ReadError> {
        let mut failed: Option<(usize, RowError)> = None;
        for (others, failure) in added {
            for (key, aggregate) in others {
                add(&mut sums, key, crate::brief::Cell::Whole(aggregate));
            }
            failed = [failed, failure].into_iter().flatten().min_by_key(|failure| failure.0);
        }
        if let Some((_, error)) = failed {
            return Err(self.row_error(error));
        }
        read.map(|()| sums)
    }
}

impl<'scope> Helper<'scope> {
    /// `None` where the system has no threads left.
    fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        series: &'env [(SeriesKey, MetricKind)],
    ) -> Option<Helper<'scope>> {
        let (jobs, queue) = sync_channel(WAITING_MAX);
        let thread = Builder::new().name("sum".into()).spawn_scoped(scope, move || add_all(series, &queue));
        Some(Helper { jobs, thread: thread.ok()? })
    }

    fn finish(self) -> Added {
        drop(self.jobs);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn add_all(series: &[(SeriesKey, MetricKind)], queue: &Receiver<Job>) -> Added {
    let mut adder = Adder::new(series);
    for job in queue {
        if let Err(error) = adder.add(job.first, job.places, &job.bytes) {
            return (adder.sums, Some((job.number, error)));
        }
    }
    (adder.sums, None)
}

/// State of one thread that adds blocks up.
struct Adder<'a> {
    series: &'a [(SeriesKey, MetricKind)],
    unpacker: Unpacker,
    sums: Sums,
}

impl<'a> Adder<'a> {
    fn new(series: &'a [(SeriesKey, MetricKind)]) -> Adder<'a> {
        Adder { series, unpacker: Unpacker::new(), sums: Sums::default() }
    }

    fn add(&mut self, first: u32, places: Places, bytes: &[u8]) -> Result<(), RowError> {
        let sums = &mut self.sums;
        SeriesOf::new(self.series, first, |_| Want::Whole).cells(
            bytes,
            &mut self.unpacker,
            |position| places.contains(position),
            |_, key, cell| add(sums, key, cell),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use model::metric::builtin::HTTP_REQ_DURATION;
    use model::{Aggregate, Instant, Mark, TagInterner, TagSet, Window};

    use crate::store::Store;
    use crate::{Header, Reader};

    use super::*;

    /// More series than three blocks have.
    const SERIES: u32 = 3 * SERIES_PER_BLOCK + 1;
    const WINDOWS: u32 = 130;

    fn write(path: &Path) {
        let tags = Arc::new(TagInterner::default());
        let mut store =
            Store::create(path, &Header::default(), Arc::default(), tags.clone(), false).expect("create");
        let at = |second: u32| Instant::from_ns(u64::from(second) * 1_000_000_000);
        for index in 0..WINDOWS {
            let series = (0..SERIES).map(|number| {
                let set = tags.intern(TagSet::new([("url".into(), number.to_string().into())]));
                let mut aggregate = Aggregate::empty(MetricKind::Trend);
                aggregate.record(f64::from(number * WINDOWS + index), Mark::Measured, at(index));
                (SeriesKey { metric: HTTP_REQ_DURATION, tags: set }, aggregate)
            });
            let series = series.collect();
            let window =
                Arc::new(Window { index, start: at(index), end: at(index + 1), series, ..Window::default() });
            store.transaction(|store| store.put_window(&window)).expect("write");
        }
        store.compact(true).expect("write");
        store.close().expect("write");
    }

    #[test]
    fn threads_add_up_what_one_does_and_find_what_one_finds() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.plimsoll");
        write(&path);
        let sum = |threads, range| Reader::open(&path).expect("open").sum_on(threads, range);
        for range in [0..WINDOWS, 1..WINDOWS - 1, 7..115, 61..62, 65..95] {
            let alone = sum(1, range.clone()).expect("readable");
            assert_eq!(alone.series.len(), SERIES as usize);
            for threads in [2, 3, 9] {
                assert_eq!(sum(threads, range.clone()).expect("readable"), alone, "{range:?} on {threads}");
            }
        }
        // Of several damaged blocks the first is reported.
        let connection = rusqlite::Connection::open(&path).expect("open");
        let damaged = [(3u32, vec![1u8, 0]), (2, vec![9]), (1, vec![1])];
        for (block, bytes) in damaged {
            let sql = "UPDATE rollup SET cells = ? WHERE block = ?";
            assert!(connection.execute(sql, rusqlite::params![bytes, block]).expect("changed") > 0);
            let error = |threads| sum(threads, 0..WINDOWS).expect_err("damaged").to_string();
            for threads in [2, 3, 9] {
                assert_eq!(error(threads), error(1), "block {block} on {threads}");
            }
        }
    }
}
