//! Windows as points, and points as rows of columns: the curves over time of stored and live runs.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use api::Number;
use api::page::{Column, ErrorSeries, NoteKind, Series, StatusSeries};
use model::metric::builtin::{
    DATA_RECEIVED, DATA_SENT, DROPPED_ITERATIONS, HTTP_REQ_FAILED, HTTP_REQS, VUS, VUS_MAX,
};
use model::{Aggregate, CounterTotal, GaugeTotal, Load, MetricId, Quantile, Trend, Work};

use super::packed::Packed;
use super::values::{is_supported, number_of};
use super::{add, total};

/// Metrics of every point, besides the selected trend.
pub(super) const METRICS: [MetricId; 7] =
    [DATA_RECEIVED, DATA_SENT, DROPPED_ITERATIONS, HTTP_REQ_FAILED, HTTP_REQS, VUS, VUS_MAX];

/// Shorter points have no rates, seconds: in the fraction of a second before a run ends, the requests that are cut then would
/// look like a peak.
pub(super) const RATED_MIN_S: f64 = 0.5;

/// Shortest time that errors are divided by, seconds: a short last point must not multiply them.
const ERRORS_OVER_MIN_S: f64 = 1.0;

/// One point of all columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    /// Seconds that the point covers.
    pub(super) width_s: f64,
    /// Iterations due by plan; `None` without a planned rate.
    pub(super) offered: Option<f64>,
    /// The selected trend.
    pub(super) trend: Trend,
    started: u64,
    finished: u64,
    in_flight_ns: u64,
    dropped: CounterTotal,
    requests: u64,
    failed: u64,
    vus: GaugeTotal,
    vus_max: GaugeTotal,
    sent: CounterTotal,
    received: CounterTotal,
    statuses: BTreeMap<u16, u64>,
}

impl Point {
    /// Returns an empty point of `width_s` seconds in which `offered` iterations were due.
    pub(super) fn new(width_s: f64, offered: Option<f64>) -> Point {
        Point { width_s, offered, ..Point::default() }
    }

    /// Adds a cell of one of [`METRICS`] or of the selected trend; `fits` is true if the question selects its tags.
    pub(super) fn add(&mut self, metric: MetricId, latency: MetricId, fits: bool, aggregate: &Aggregate) {
        match aggregate {
            Aggregate::Trend(trend) if metric == latency && fits => self.trend.merge(trend),
            Aggregate::Counter(counter) => match metric {
                HTTP_REQS if fits => add(&mut self.requests, counter.count),
                DROPPED_ITERATIONS => merge(&mut self.dropped, counter),
                DATA_SENT => merge(&mut self.sent, counter),
                DATA_RECEIVED => merge(&mut self.received, counter),
                _ => {}
            },
            Aggregate::Rate(rate) if metric == HTTP_REQ_FAILED && fits => add(&mut self.failed, rate.passes),
            Aggregate::Gauge(gauge) if metric == VUS => keep_latest(&mut self.vus, gauge),
            Aggregate::Gauge(gauge) if metric == VUS_MAX => keep_latest(&mut self.vus_max, gauge),
            _ => {}
        }
    }

    /// Adds responses with a status code; 0 without a response.
    pub(super) fn add_status(&mut self, status: u16, responses: u64) {
        add(self.statuses.entry(status).or_default(), responses);
    }

    /// Adds the work in progress.
    pub(super) fn add_load(&mut self, load: &Load) {
        match load.work {
            // setup() and teardown() are not part of a plan.
            Work::Iterations if load.scenario.is_some() => {
                add(&mut self.started, load.started);
                add(&mut self.finished, load.finished);
            }
            Work::Iterations => {}
            Work::Requests => add(&mut self.in_flight_ns, load.in_flight_ns),
        }
    }
}

fn merge(sum: &mut CounterTotal, part: &CounterTotal) {
    sum.sum.merge(&part.sum);
    add(&mut sum.count, part.count);
}

fn keep_latest(sum: &mut GaugeTotal, part: &GaugeTotal) {
    let mut merged = Aggregate::Gauge(sum.clone());
    merged.merge(&Aggregate::Gauge(part.clone()));
    if let Aggregate::Gauge(gauge) = merged {
        *sum = gauge;
    }
}

/// The drawn values of a point, and reasons for missing ones.
#[derive(Clone, Debug)]
pub(super) struct Row {
    width_s: f64,
    /// Cells in the order of [`columns`].
    cells: [(Option<f64>, Option<NoteKind>); COLUMNS],
    /// Number of values of the selected trend.
    count: u64,
    /// Responses by status code.
    statuses: Box<[(u16, u64)]>,
    /// The selected trend.
    trend: Arc<Packed>,
}

impl Row {
    /// Returns the selected trend.
    pub(super) fn trend(&self) -> Trend {
        self.trend.unpack()
    }

    /// Returns the bytes that the row takes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Row>() + size_of_val(&*self.statuses) + size_of::<Packed>() + self.trend.bytes()
    }

    /// Returns responses by status code.
    pub(super) fn statuses(&self) -> &[(u16, u64)] {
        &self.statuses
    }
}

/// Number of columns that have reasons besides their values.
const COLUMNS: usize = 16;

/// Columns per second.
const RATES: [usize; 9] = [0, 1, 2, 3, 4, 5, 8, 9, 10];

/// Returns the columns of a series, in the order of the cells.
fn columns(series: &mut Series) -> [&mut Column; COLUMNS] {
    let latency = &mut series.latency;
    [
        &mut series.offered,
        &mut series.started,
        &mut series.finished,
        &mut series.dropped,
        &mut series.requests,
        &mut series.failed,
        &mut series.vus,
        &mut series.vus_max,
        &mut series.in_flight,
        &mut series.sent,
        &mut series.received,
        &mut latency.p50,
        &mut latency.p95,
        &mut latency.p99,
        &mut latency.max,
        &mut latency.mean,
    ]
}

impl Row {
    /// Computes the row of a complete point.
    pub(super) fn from_point(point: &Point) -> Row {
        let rate = |of: f64| (point.width_s > 0.0).then(|| of / point.width_s);
        let gauge = |gauge: &GaugeTotal| (!gauge.is_empty()).then_some(gauge.last);
        let offered = point.offered.and_then(rate);
        let counted = |value: Option<f64>| (value, value.is_none().then_some(NoteKind::NoSamples));
        let trend = &point.trend;
        let bound = |value: Option<f64>| match value {
            None => (None, Some(NoteKind::NoSamples)),
            value => (value, trend.failures.is_some().then_some(NoteKind::AtLeast)),
        };
        Row {
            width_s: point.width_s,
            cells: [
                (offered, offered.is_none().then_some(NoteKind::Unplanned)),
                counted(rate(point.started as f64)),
                counted(rate(point.finished as f64)),
                counted(rate(point.dropped.sum.value())),
                counted(rate(point.requests as f64)),
                counted(rate(point.failed as f64)),
                counted(gauge(&point.vus)),
                counted(gauge(&point.vus_max)),
                counted(rate(point.in_flight_ns as f64 / 1e9)),
                counted(rate(point.sent.sum.value())),
                counted(rate(point.received.sum.value())),
                quantile(trend, 0.5),
                quantile(trend, 0.95),
                quantile(trend, 0.99),
                bound(trend.max()),
                bound(trend.avg()),
            ],
            count: trend.population(),
            statuses: point.statuses.iter().map(|(status, count)| (*status, *count)).collect(),
            trend: Arc::new(Packed::new(trend)),
        }
    }
}

/// Arranges rows as columns; `t` is the start of each row.
pub(super) fn series<'a>(step: u32, rows: impl IntoIterator<Item = (u32, &'a Row)>) -> Series {
    let mut series = Series { step, ..Series::default() };
    for (t, row) in rows {
        series.t.push(Number(t.into()));
        series.width.push(Number(row.width_s));
        // A run that is shorter than that has this one point.
        let is_partial = row.width_s < RATED_MIN_S && t > 0;
        for (at, (column, (value, why))) in columns(&mut series).into_iter().zip(row.cells).enumerate() {
            match is_partial && RATES.contains(&at) {
                true => column.push(None, Some(NoteKind::Partial)),
                false => column.push(value, why),
            }
        }
        series.latency.count.push(row.count);
    }
    series
}

/// Returns a quantile, or the reason why it is missing or only a bound.
pub(super) fn quantile(trend: &Trend, q: f64) -> (Option<f64>, Option<NoteKind>) {
    let population = trend.population();
    if population == 0 {
        return (None, Some(NoteKind::NoSamples));
    }
    if !is_supported(population, q) {
        return (None, Some(NoteKind::FewSamples));
    }
    let quantile = trend.quantile(q);
    let why = match quantile {
        Quantile::Value(_) => None,
        Quantile::AtLeast { .. } => Some(NoteKind::AtLeast),
        Quantile::Failed => Some(NoteKind::Failed),
        Quantile::None => Some(NoteKind::NoSamples),
    };
    (number_of(quantile), why)
}

/// Maximum number of error kinds with a column of their own.
const ERROR_KINDS_MAX: usize = 8;

/// Returns the columns of errors over points of these widths; each error comes with its point and count. The most frequent kinds
/// have columns of their own.
pub(super) fn errors(
    widths_s: &[Number],
    found: impl IntoIterator<Item = (usize, u16, String, u64)>,
) -> Vec<ErrorSeries> {
    let mut kinds: BTreeMap<(u16, String), Vec<(usize, u64)>> = Default::default();
    for (point, code, message, count) in found {
        kinds.entry((code, message)).or_default().push((point, count));
    }
    let total = |cells: &[(usize, u64)]| total(cells.iter().map(|cell| cell.1));
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, cells)| std::cmp::Reverse(total(cells)));
    let rest = kinds.split_off(kinds.len().min(ERROR_KINDS_MAX));
    let column = |kind: String, code: u16, cells: &[(usize, u64)]| {
        let mut values = vec![0u64; widths_s.len()];
        for (point, count) in cells {
            if let Some(value) = values.get_mut(*point) {
                add(value, *count);
            }
        }
        let rate =
            |(count, width_s): (&u64, &Number)| Number(*count as f64 / width_s.0.max(ERRORS_OVER_MIN_S));
        let values = values.iter().zip(widths_s).map(rate).collect();
        ErrorSeries { kind, code, values, total: total(cells) }
    };
    let mut columns: Vec<ErrorSeries> =
        kinds.into_iter().map(|((code, message), cells)| column(message, code, &cells)).collect();
    if !rest.is_empty() {
        let cells: Vec<_> = rest.into_iter().flat_map(|(_, cells)| cells).collect();
        columns.push(column("other".to_owned(), 0, &cells));
    }
    columns
}

/// Maximum number of status codes with a column of their own.
const STATUSES_MAX: usize = 7;

/// Returns the columns of status codes over rows of these widths, sorted by code. The most frequent codes have columns of
/// their own.
pub(super) fn statuses<'a>(
    widths_s: &[Number],
    rows: impl Iterator<Item = &'a Row> + Clone,
) -> Vec<StatusSeries> {
    let mut totals: BTreeMap<u16, u64> = BTreeMap::new();
    for (status, count) in rows.clone().flat_map(Row::statuses) {
        add(totals.entry(*status).or_default(), *count);
    }
    let mut codes: Vec<(u16, u64)> = totals.into_iter().collect();
    codes.sort_by_key(|(_, total)| std::cmp::Reverse(*total));
    let rest = codes.split_off(codes.len().min(STATUSES_MAX));
    codes.sort_unstable();
    let column = |status: String, of: &[(u16, u64)]| {
        let count = |row: &Row| {
            total(
                row.statuses.iter().filter(|(code, _)| of.iter().any(|one| one.0 == *code)).map(|one| one.1),
            )
        };
        let rate =
            |(row, width_s): (&Row, &Number)| Number(count(row) as f64 / width_s.0.max(ERRORS_OVER_MIN_S));
        let values = rows.clone().zip(widths_s).map(rate).collect();
        StatusSeries { status, values, total: total(of.iter().map(|one| one.1)) }
    };
    let mut columns: Vec<StatusSeries> =
        codes.iter().map(|code| column(code.0.to_string(), std::slice::from_ref(code))).collect();
    if !rest.is_empty() {
        columns.push(column("other".to_owned(), &rest));
    }
    columns
}

/// Returns the smallest step of a file that divides a range into at most `points_max` points.
pub(super) fn step_of(range: &Range<u32>, points_max: u32) -> u32 {
    let fits = |step: &&u32| (range.len() as u32).div_ceil(**step) <= points_max;
    let known = runfile::STEPS.iter().find(fits).copied();
    known.unwrap_or_else(|| {
        // Runs of weeks need multiples of the coarsest step.
        let coarsest = runfile::STEPS[runfile::STEPS.len() - 1];
        coarsest * (range.len() as u32).div_ceil(coarsest.saturating_mul(points_max).max(1)).max(1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_as_fine_as_points_allow() {
        let check =
            |windows: u32, expect: u32| assert_eq!(step_of(&(7..7 + windows), 1500), expect, "{windows}");
        check(0, 1);
        check(1500, 1);
        check(1501, 10);
        check(15_000, 10);
        check(15_001, 60);
        check(900_000, 600);
        check(900_001, 1200);
    }

    #[test]
    fn rare_kinds_of_errors_are_one() {
        let found =
            (0..10u16).map(|code| (usize::from(code % 2), code, format!("e{code}"), u64::from(code) + 1));
        let columns = errors(&[Number(1.0), Number(2.0)], found);
        assert_eq!(columns.len(), ERROR_KINDS_MAX + 1);
        assert_eq!(
            (columns[0].kind.as_str(), columns[0].total, columns[0].values[1]),
            ("e9", 10, Number(5.0))
        );
        let last = &columns[ERROR_KINDS_MAX];
        assert_eq!((last.kind.as_str(), last.total, last.values[0]), ("other", 3, Number(1.0)));
    }

    #[test]
    fn a_partial_last_second_is_no_peak() {
        let mut point = Point { width_s: 1.0, requests: 100, vus: GaugeTotal::default(), ..Point::default() };
        point.add_status(200, 100);
        let whole = Row::from_point(&point);
        // 208 requests are cut in the 73 ms after the last whole second.
        let mut cut = Point { width_s: 0.073, requests: 208, in_flight_ns: 1, ..Point::default() };
        cut.add_status(0, 208);
        let cut = Row::from_point(&cut);
        let made = series(1, [(0, &whole), (1, &cut)]);
        assert_eq!(made.requests.values, [Some(Number(100.0)), None]);
        assert_eq!(made.requests.notes, [api::page::Note { from: 1, to: 2, why: NoteKind::Partial }]);
        assert_eq!(made.in_flight.values[1], None);
        let cuts = errors(&made.width, [(1, 1050, "cut".to_owned(), 208)]);
        assert_eq!((cuts[0].values[1], cuts[0].total), (Number(208.0), 208));
        let codes = statuses(&made.width, [&whole, &cut].into_iter());
        let values = |at: usize| (codes[at].status.as_str(), codes[at].values.clone(), codes[at].total);
        assert_eq!(values(0), ("0", vec![Number(0.0), Number(208.0)], 208));
        assert_eq!(values(1), ("200", vec![Number(100.0), Number(0.0)], 100));
        // A run of one short second shows what there is.
        assert!(series(1, [(0, &cut)]).requests.values[0].is_some());
    }

    #[test]
    fn a_point_says_what_it_lacks() {
        let row = Row::from_point(&Point { width_s: 1.0, ..Point::default() });
        let made = series(1, [(3, &row)]);
        assert_eq!(made.offered.notes[0].why, NoteKind::Unplanned);
        assert_eq!(made.latency.p99.notes[0].why, NoteKind::NoSamples);
        assert_eq!(made.requests.values, [Some(Number(0.0))]);
        assert_eq!(made.vus.values, [None]);
    }
}
