//! Blocks of any cells come back as they were, and hostile ones are refused.

use model::Mark;
use proptest::prelude::*;

use super::*;
use crate::brief::BriefRoom;

const KINDS: [MetricKind; 4] = [MetricKind::Counter, MetricKind::Gauge, MetricKind::Rate, MetricKind::Trend];
const MARKS: [Mark; 5] = [Mark::Measured, Mark::TimedOut, Mark::Cut, Mark::Dropped, Mark::Failed];

type Cells = Vec<(u32, u32, Aggregate)>;

/// By a series' number: of which kind it is.
fn kind_of(series: u32) -> MetricKind {
    KINDS[series as usize % KINDS.len()]
}

fn written(cells: &Cells) -> Vec<u8> {
    let mut writer = BlockWriter::default();
    cells.iter().for_each(|(series, position, aggregate)| writer.push(*series, *position, aggregate));
    let bytes = writer.take(&mut Packer::new()).expect("small");
    assert!(writer.is_empty());
    bytes
}

fn read(bytes: &[u8], is_wanted: impl Fn(u32) -> bool) -> Result<Cells, Flaw> {
    let mut cells = Vec::new();
    let want_of = |series, position| {
        Ok((kind_of(series), if is_wanted(position) { Want::Whole } else { Want::Nothing }))
    };
    let each = |series, position, cell: Cell<'_>| {
        cells.push((series, position, cell.into_aggregate().ok_or("a cell is brief")?));
        Ok(())
    };
    walk::<Flaw>(bytes, &mut Unpacker::new(), want_of, each)?;
    Ok(cells)
}

/// The sums of each series' cells, as they are read.
fn read_sums(bytes: &[u8]) -> Result<Vec<(u32, Aggregate)>, Flaw> {
    let mut sums: Vec<(u32, Aggregate)> = Vec::new();
    let each = |series, _, cell: Cell<'_>| {
        match sums.last_mut() {
            Some((last, sum)) if *last == series => cell.add_to(sum),
            _ => sums.push((series, cell.into_aggregate().ok_or("a cell is brief")?)),
        }
        Ok(())
    };
    decode::<Flaw>(bytes, &mut Unpacker::new(), |series| Ok(kind_of(series)), each)?;
    Ok(sums)
}

/// The same, made of whole cells.
fn sums_of(cells: &Cells) -> Vec<(u32, Aggregate)> {
    let mut sums: Vec<(u32, Aggregate)> = Vec::new();
    for (series, _, aggregate) in cells {
        match sums.last_mut() {
            Some((last, sum)) if last == series => sum.merge(aggregate),
            _ => sums.push((*series, aggregate.clone())),
        }
    }
    sums
}

/// The numbers of a brief.
type Told = (u32, u32, Vec<(i32, u64)>, u64, f64, u64);

/// The trends of a block in brief; other cells are stepped over.
fn read_briefs(bytes: &[u8]) -> Result<Vec<Told>, Flaw> {
    let mut read_trends = Vec::new();
    let want_of = |series, _| {
        let kind = kind_of(series);
        Ok((kind, if kind == MetricKind::Trend { Want::Brief } else { Want::Nothing }))
    };
    let each = |series, position, cell: Cell<'_>| {
        let Cell::Brief(brief) = cell else { return Err("a trend is not brief") };
        let Brief { buckets, others, sum, failures } = brief;
        read_trends.push((series, position, buckets.to_vec(), others, sum, failures));
        Ok(())
    };
    walk::<Flaw>(bytes, &mut Unpacker::new(), want_of, each)?;
    Ok(read_trends)
}

/// The same, made of whole cells.
fn briefs_of(cells: &Cells) -> Vec<Told> {
    let mut room = BriefRoom::default();
    let trends = cells.iter().filter(|(series, ..)| kind_of(*series) == MetricKind::Trend);
    let read_trends = trends.map(|(series, position, aggregate)| {
        let Cell::Brief(Brief { buckets, others, sum, failures }) = room.cell(aggregate.clone(), Want::Brief)
        else {
            panic!("a trend can be brief")
        };
        (*series, *position, buckets.to_vec(), others, sum, failures)
    });
    read_trends.collect()
}

fn trend(values: &[f64], mark: Mark) -> Aggregate {
    let mut trend = Aggregate::empty(MetricKind::Trend);
    values.iter().for_each(|value| trend.record(*value, mark, Instant::from_ns(9)));
    trend
}

/// One cell of the first series that is of its kind.
#[track_caller]
fn check(aggregate: Aggregate, bytes_max: usize) {
    let series = match &aggregate {
        Aggregate::Counter(_) => 0,
        Aggregate::Gauge(_) => 1,
        Aggregate::Rate(_) => 2,
        Aggregate::Trend(_) => 3,
    };
    let cells = vec![(series, 7, aggregate)];
    let bytes = written(&cells);
    assert_eq!(read(&bytes, |_| true), Ok(cells));
    // Every column costs three bytes, the head two.
    let bytes = bytes.len() - 2 - 3 * COLUMNS;
    assert!(bytes <= bytes_max, "{bytes} bytes");
}

#[test]
fn usual_cells_are_short_and_unusual_ones_are_exact() {
    let counter = |values: &[f64]| {
        let mut counter = Aggregate::empty(MetricKind::Counter);
        values.iter().for_each(|value| counter.record(*value, Mark::Measured, Instant::ZERO));
        counter
    };
    check(counter(&[]), 8);
    check(counter(&[1.0; 10]), 9);
    check(counter(&[-5.0]), 9);
    check(counter(&[2f64.powi(62), 1e-20, f64::NAN]), 40);
    check(counter(&[0.1, 0.2, -0.7]), 40);
    let gauge = |values: &[f64]| {
        let mut gauge = Aggregate::empty(MetricKind::Gauge);
        values.iter().for_each(|value| gauge.record(*value, Mark::Measured, Instant::from_ns(u64::MAX)));
        gauge
    };
    check(gauge(&[]), 40);
    check(gauge(&[10.0; 5]), 12);
    check(gauge(&[-0.0, f64::INFINITY, f64::NEG_INFINITY, 1e-300]), 40);
    check(trend(&[12.345678, 12.345679], Mark::Measured), 11);
    check(trend(&[-5.0, f64::NAN, 0.1 + 0.2, 1e300], Mark::TimedOut), 50);
    check(trend(&[1.0], Mark::Failed), 12);
    // A histogram of one value takes its ends, its count and its sum.
    check(trend(&[5.25; 5000], Mark::Measured), 22);
    check(trend(&[0.0; 5000], Mark::Measured), 20);
    check(trend(&[[1.5, -1.5, 0.0].as_slice(), &[1e9; 5000]].concat(), Mark::Cut), 60);
}

#[test]
fn a_cell_in_a_second_costs_as_much_as_it_says() {
    // Ten requests a second of a series that has had many, at odd times: half of format 1, which took 60 to 100.
    let cells: Cells = (0..60)
        .map(|second| {
            let mut values = histo::Values::inexact();
            (0..10u64).for_each(|i| {
                let odd = (u64::from(second) * 10 + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
                values.record((1e6 + odd as f64).round() / 1e6);
            });
            (3, second, Aggregate::Trend(Trend { values, failures: None }))
        })
        .collect();
    let bytes = written(&cells);
    assert_eq!(read(&bytes, |_| true).as_ref(), Ok(&cells));
    assert!(bytes.len() < 60 * 30, "{} bytes", bytes.len());
}

#[test]
fn what_is_not_wanted_is_stepped_over() {
    let cells: Cells = (0..8)
        .flat_map(|series| (0..60).map(move |position| (series, position)))
        .map(|(series, position)| {
            let mut aggregate = Aggregate::empty(kind_of(series));
            for value in 0..=position {
                let mark = MARKS[value as usize % MARKS.len()];
                aggregate.record(f64::from(series * value), mark, Instant::from_ns(value.into()));
            }
            (series, position, aggregate)
        })
        .collect();
    let expect: Cells = cells.iter().filter(|cell| cell.1 % 7 == 2).cloned().collect();
    assert_eq!(read(&written(&cells), |position| position % 7 == 2), Ok(expect));
    assert_eq!(read_briefs(&written(&cells)), Ok(briefs_of(&cells)));
}

#[test]
fn hostile_blocks_are_refused() {
    let good = written(&vec![(3, 0, trend(&[1.0, 2.0], Mark::Measured))]);
    assert_eq!(read(&[], |_| true), Err("a cell ends too early"));
    assert_eq!(read(&[&[2], &good[1..]].concat(), |_| true), Err("a block is of an unknown kind"));
    assert_eq!(read(&[&good[..], &[0]].concat(), |_| true), Err("bytes are left over after a block"));
    assert_eq!(read(&[&[1, 2], &good[2..]].concat(), |_| true), Err("a column ends too early"));
    assert_eq!(read(&[&[1, 0], &good[2..]].concat(), |_| true), Err("a column is longer than its cells"));
    let columns_of = |place: [u8; 2]| {
        // The first two columns hold one token each.
        let mut bytes = vec![1, 1, 2, 0, place[0], 0, 2, 0, place[1], 0];
        bytes.extend([1, 0, 0].repeat(COLUMNS - 2));
        bytes
    };
    for token in [60, 200, 251] {
        assert!(read(&columns_of([0, token]), |_| true).is_err());
        assert!(read(&columns_of([token, 0]), |_| true).is_err());
    }
    assert_eq!(read(&columns_of([0, 0]), |_| true), Err("a column ends too early"));
    let full = BlockWriter::default();
    assert!(full.is_empty() && !full.is_full());
}

fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (1_000u64..100_000_000_000).prop_map(|ns| ns as f64 / 1e6),
        2 => (0u32..100).prop_map(f64::from),
        1 => any::<f64>(),
    ]
}

fn any_cell() -> impl Strategy<Value = (u32, u32, Vec<(f64, u8, u64)>, usize)> {
    let values = prop::collection::vec((any_value(), 0u8..9, any::<u64>()), 0..20);
    (0u32..8, 0u32..6, values, prop_oneof![6 => Just(1usize), 1 => Just(700)])
}

proptest! {
    #[test]
    fn nothing_is_lost(cells in prop::collection::vec(any_cell(), 0..12)) {
        let mut cells: Cells = cells
            .into_iter()
            .map(|(series, position, values, times)| {
                let mut aggregate = Aggregate::empty(kind_of(series));
                for (value, mark, at_ns) in values.repeat(times) {
                    // Most are measured.
                    let mark = MARKS.get(usize::from(mark)).copied().unwrap_or(Mark::Measured);
                    aggregate.record(value, mark, Instant::from_ns(at_ns));
                }
                (series, position, aggregate)
            })
            .collect();
        cells.sort_by_key(|cell| (cell.0, cell.1));
        cells.dedup_by_key(|cell| (cell.0, cell.1));
        let bytes = written(&cells);
        prop_assert_eq!(read_briefs(&bytes), Ok(briefs_of(&cells)));
        prop_assert_eq!(read_sums(&bytes), Ok(sums_of(&cells)));
        prop_assert_eq!(read(&bytes, |_| false), Ok(Vec::new()));
        prop_assert_eq!(read(&bytes, |_| true), Ok(cells));
        for end in 0..bytes.len().min(200) {
            prop_assert!(read(&bytes[..end], |_| true).is_err());
        }
    }

    #[test]
    fn damaged_blocks_are_no_panic(
        cells in prop::collection::vec(any_cell(), 1..6), damage in prop::collection::vec((any::<u16>(), any::<u8>()), 1..6),
    ) {
        let mut cells: Cells = cells
            .into_iter()
            .map(|(series, position, values, _)| {
                let mut aggregate = Aggregate::empty(kind_of(series));
                values.iter().for_each(|value| aggregate.record(value.0, Mark::Measured, Instant::ZERO));
                (series, position, aggregate)
            })
            .collect();
        cells.sort_by_key(|cell| (cell.0, cell.1));
        cells.dedup_by_key(|cell| (cell.0, cell.1));
        let mut bytes = written(&cells);
        for (at, byte) in damage {
            let at = usize::from(at) % bytes.len();
            bytes[at] = byte;
        }
        let _ = (read(&bytes, |_| true), read(&bytes, |_| false), read_briefs(&bytes));
    }
}
