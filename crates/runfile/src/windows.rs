//! Windows read back, a minute at a time.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use model::{Aggregate, Brief, Instant, MetricId, SeriesKey, Window};
use rusqlite::params;

use crate::brief::{BriefRoom, Cell, Want};
use crate::cells::Places;
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
                // Minutes after a damaged one would look like the whole run.
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
        let minute = first..end;
        let windows = match &self.metrics {
            None => self.reader.whole_minute(minute)?,
            Some(metrics) => {
                let want = |key: SeriesKey| match metrics.contains(&key.metric) {
                    true => Want::Whole,
                    false => Want::Nothing,
                };
                self.reader.minute(minute, want, |_, _, _| {})?
            }
        };
        self.ready = windows.into();
        self.rest.start = end;
        Ok(())
    }
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

    /// The windows of a range of indexes, whole: series, load, exemplars and errors. A minute's are in memory at a time.
    pub fn windows(&self, range: Range<u32>) -> Windows<'_> {
        let rest = range.start..range.end.min(WINDOW_INDEX_MAX + 1);
        Windows { reader: self, rest, metrics: None, ready: VecDeque::new() }
    }

    /// The same with the series of these metrics alone, and without exemplars: what is left out is not even decoded.
    pub fn windows_of(&self, range: Range<u32>, metrics: &[MetricId]) -> Windows<'_> {
        Windows { metrics: Some(metrics.to_vec()), ..self.windows(range) }
    }

    /// The minutes that have windows of a range, each as the range within it that [`Reader::minute`] takes, in order.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn minutes(&self, range: Range<u32>) -> Result<Vec<Range<u32>>, ReadError> {
        let sql = "SELECT DISTINCT id / ?1 FROM windows WHERE id >= ?2 AND id < ?3 ORDER BY 1";
        self.rows(sql, params![MINUTE, range.start, range.end.min(WINDOW_INDEX_MAX + 1)], |row| {
            let start = row.get::<_, u32>(0)?.saturating_mul(MINUTE);
            Ok(start.max(range.start)..start.saturating_add(MINUTE).min(range.end))
        })
    }

    /// The windows of a range that lies within one minute, in order, with load and errors and with the cells that are wanted
    /// whole. Trends that are wanted in brief go to `each` instead, with the index of their window: first all of one series,
    /// in order. Where [`Reader::windows`] is too slow, since it builds all cells and reads the rest too; what is not wanted
    /// is not even decoded.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn minute(
        &self,
        range: Range<u32>,
        want: impl Fn(SeriesKey) -> Want,
        mut each: impl FnMut(u32, SeriesKey, Brief<'_>),
    ) -> Result<Vec<Window>, ReadError> {
        let mut windows = self.bare_windows(&range)?;
        let mut cells: Vec<(u32, SeriesKey, Aggregate)> = Vec::new();
        self.cells(range.clone(), want, |index, key, cell| match cell {
            Cell::Brief(brief) => each(index, key, brief),
            cell => cells.extend(cell.into_aggregate().map(|aggregate| (index, key, aggregate))),
        })?;
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
        for (index, error) in self.errors_of(range)? {
            if let Some(window) = windows.get_mut(&index) {
                window.errors.push(error);
            }
        }
        Ok(windows.into_values().collect())
    }

    /// The windows of a range within one minute with everything.
    fn whole_minute(&self, range: Range<u32>) -> Result<Vec<Window>, ReadError> {
        let mut windows = self.minute(range.clone(), |_| Want::Whole, |_, _, _| {})?;
        for (index, exemplar) in self.exemplars_of(range)? {
            if let Ok(place) = windows.binary_search_by_key(&index, |window| window.index) {
                windows[place].exemplars.push(exemplar);
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

    /// Gives of the cells of the windows of a range within one minute what is wanted of their series to `each`: the index of
    /// the window, the series, and what it measured.
    pub(crate) fn cells(
        &self,
        range: Range<u32>,
        want: impl Fn(SeriesKey) -> Want,
        mut each: impl FnMut(u32, SeriesKey, Cell<'_>),
    ) -> Result<(), ReadError> {
        let minute = range.start / MINUTE;
        let places = Places::from_range(range.start % MINUTE..range.end.saturating_sub(minute * MINUTE));
        let index_of = |second: u32| minute * MINUTE + second.min(MINUTE);
        self.chunk_cells(
            (minute, 1),
            |second| places.contains(second),
            &want,
            |second, key, cell| each(index_of(second), key, cell),
        )?;
        self.tail_cells(minute, places, want, each)
    }

    /// The same for the windows at these places of a minute that are not in chunks yet.
    pub(crate) fn tail_cells(
        &self,
        minute: u32,
        places: Places,
        want: impl Fn(SeriesKey) -> Want,
        mut each: impl FnMut(u32, SeriesKey, Cell<'_>),
    ) -> Result<(), ReadError> {
        let sql = "SELECT window, cells FROM tail WHERE window >= ? AND window < ? ORDER BY window, part";
        let mut room = BriefRoom::default();
        let start = minute * MINUTE;
        self.rows(sql, params![start, start.saturating_add(MINUTE)], |row| {
            let index: u32 = row.get(0)?;
            if !places.contains(index.saturating_sub(start)) {
                return Ok(());
            }
            let bytes = self.unpack(row, 1)?;
            chunk::decode(
                &bytes,
                |series| {
                    let (key, kind) = self.series(series)?;
                    Ok((kind, want(key) != Want::Nothing))
                },
                |series, aggregate| {
                    let key = self.series(series)?.0;
                    each(index, key, room.cell(aggregate, want(key)));
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
