//! Windows read back, a minute at a time.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use model::{Aggregate, Instant, MetricId, SeriesKey, Window};
use rusqlite::params;

use crate::format::{MINUTE, chunk};
use crate::reader::{Reader, WINDOW_INDEX_MAX};
use crate::{LoadRow, ReadError};

/// Windows, in order of their indexes.
#[derive(Debug)]
pub struct Windows<'a> {
    reader: &'a Reader,
    rest: Range<u32>,
    /// Of which metrics; `None` is all of them.
    metrics: Option<Vec<MetricId>>,
    ready: VecDeque<Window>,
}

impl Iterator for Windows<'_> {
    type Item = Result<Window, ReadError>;

    fn next(&mut self) -> Option<Result<Window, ReadError>> {
        while self.ready.is_empty() && !self.rest.is_empty() {
            if let Err(error) = self.read_minute() {
                // What follows a damaged minute would look like all there is.
                self.rest = 0..0;
                return Some(Err(error));
            }
        }
        self.ready.pop_front().map(Ok)
    }
}

impl Windows<'_> {
    fn read_minute(&mut self) -> Result<(), ReadError> {
        let next: Option<u32> = self
            .reader
            .connection
            .query_row(
                "SELECT min(id) FROM windows WHERE id >= ? AND id < ?",
                params![self.rest.start, self.rest.end],
                |row| row.get(0),
            )
            .map_err(|error| self.reader.error(error))?;
        let Some(first) = next else {
            self.rest = 0..0;
            return Ok(());
        };
        let end = self.rest.end.min((first / MINUTE + 1) * MINUTE);
        self.ready = self.reader.minute(first..end, self.metrics.as_deref())?.into_values().collect();
        self.rest.start = end;
        Ok(())
    }
}

/// A range of windows cut where minutes end, as [`Reader::cells`] takes it.
pub fn minutes(range: Range<u32>) -> impl Iterator<Item = Range<u32>> {
    let mut start = range.start;
    std::iter::from_fn(move || {
        let end = range.end.min((start / MINUTE).saturating_add(1).saturating_mul(MINUTE));
        let minute = start..end;
        start = end;
        (!minute.is_empty()).then_some(minute)
    })
}

impl Reader {
    /// The first and the last instant of each window of a range, in order; windows that were lost are not there.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn spans(&self, range: Range<u32>) -> Result<Vec<(u32, Range<Instant>)>, ReadError> {
        let windows = self.bare_windows(&range)?;
        Ok(windows.into_iter().map(|(index, window)| (index, window.start..window.end)).collect())
    }

    /// Gives every cell of the windows of a range within one minute to `each`, in no order: the index of its window, its
    /// series and what was measured. Where [`Reader::windows`] is too slow, since it sorts them and reads the rest too.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn cells(
        &self,
        minute: Range<u32>,
        each: impl FnMut(u32, SeriesKey, Aggregate),
    ) -> Result<(), ReadError> {
        self.seconds(minute, |_| true, each)
    }

    /// The windows of a range of indexes, whole: series, load, exemplars and errors. A minute's are in memory at a time.
    pub fn windows(&self, range: Range<u32>) -> Windows<'_> {
        let rest = range.start..range.end.min(WINDOW_INDEX_MAX + 1);
        Windows { reader: self, rest, metrics: None, ready: VecDeque::new() }
    }

    /// The same with the series of these metrics alone, and without exemplars: what is left out is not even decoded.
    pub fn windows_of(&self, range: Range<u32>, metrics: &[MetricId]) -> Windows<'_> {
        Windows { metrics: Some(metrics.to_vec()), ..self.windows(range) }
    }

    /// The windows of a range that lies within one minute.
    fn minute(
        &self,
        range: Range<u32>,
        metrics: Option<&[MetricId]>,
    ) -> Result<BTreeMap<u32, Window>, ReadError> {
        let mut windows = self.bare_windows(&range)?;
        let mut cells: Vec<(u32, SeriesKey, Aggregate)> = Vec::new();
        let is_wanted = |key: SeriesKey| metrics.is_none_or(|metrics| metrics.contains(&key.metric));
        self.seconds(range.clone(), is_wanted, |index, key, aggregate| cells.push((index, key, aggregate)))?;
        cells.sort_by_key(|cell| (cell.0, cell.1));
        for (index, key, aggregate) in cells {
            let window = windows.get_mut(&index).ok_or_else(|| self.corrupt("a cell has no window"))?;
            match window.series.last_mut() {
                // Two numbers of one series: the file was edited, and its numbers still add up.
                Some((last, sum)) if *last == key => sum.merge(&aggregate),
                _ => window.series.push((key, aggregate)),
            }
        }
        for row in self.load(range.clone())? {
            if let Some(window) = windows.get_mut(&row.window) {
                window.load.push(load_of(row));
            }
        }
        for (index, error) in self.errors_of(range.clone())? {
            if let Some(window) = windows.get_mut(&index) {
                window.errors.push(error);
            }
        }
        if metrics.is_some() {
            return Ok(windows);
        }
        for (index, exemplar) in self.exemplars_of(range)? {
            if let Some(window) = windows.get_mut(&index) {
                window.exemplars.push(exemplar);
            }
        }
        Ok(windows)
    }

    fn bare_windows(&self, range: &Range<u32>) -> Result<BTreeMap<u32, Window>, ReadError> {
        let sql = "SELECT id, start_ns, end_ns FROM windows WHERE id >= ? AND id < ? ORDER BY id";
        let rows = self.rows(sql, params![range.start, range.end], |row| {
            let window = Window {
                index: row.get(0)?,
                start: Instant::from_ns(row.get(1)?),
                end: Instant::from_ns(row.get(2)?),
                ..Window::default()
            };
            Ok((window.index, window))
        })?;
        Ok(rows.into_iter().collect())
    }

    /// Gives every wanted cell of the windows of a range within one minute to `each`, from the chunks and from the tail.
    pub(crate) fn seconds(
        &self,
        range: Range<u32>,
        is_wanted: impl Fn(SeriesKey) -> bool,
        mut each: impl FnMut(u32, SeriesKey, Aggregate),
    ) -> Result<(), ReadError> {
        let minute = range.start / MINUTE;
        let index_of = |second: u32| minute * MINUTE + second.min(MINUTE);
        self.chunk_cells(
            (minute, 1),
            &is_wanted,
            |second| second < MINUTE && range.contains(&index_of(second)),
            |second, key, aggregate| each(index_of(second), key, aggregate),
        )?;
        let sql = "SELECT window, cells FROM tail WHERE window >= ? AND window < ? ORDER BY window, part";
        self.rows(sql, params![range.start, range.end], |row| {
            let index = row.get(0)?;
            let bytes = self.unpack(row, 1)?;
            chunk::decode(
                &bytes,
                |series| {
                    let (key, kind) = self.series(series)?;
                    Ok((kind, is_wanted(key)))
                },
                |series, aggregate| {
                    each(index, self.series(series)?.0, aggregate);
                    Ok(())
                },
            )
        })?;
        Ok(())
    }
}

fn load_of(row: LoadRow) -> model::Load {
    let LoadRow { scenario, work, started, finished, in_flight_ns, .. } = row;
    model::Load { scenario, work, started, finished, in_flight_ns }
}
