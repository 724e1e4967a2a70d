//! Floats and sums in columns: most are whole nanoseconds in milliseconds, or sums of such.

use histo::FixedSum;

use super::column::{unzigzag, zigzag};
use super::{Column, Columns, ReadColumns};
use crate::format::cell::Flaw;

/// Nanoseconds in a millisecond.
const NS_PER_MS: i64 = 1_000_000;
/// Larger numbers of nanoseconds are no longer exact when divided.
const NS_MAX: i64 = 1 << 51;
/// Says that a float or a sum is written out.
const PLAIN: u64 = 0;

/// Bits of a sum after the binary point.
const FRACTION_BITS: u32 = 96;
/// Bits of sums that are dropped where a sum is stored in nanoseconds, so that the multiplication cannot overflow.
const COARSE_BITS: u32 = 20;
/// The place of the lowest bit of a sum that is a whole number.
const WHOLE: u64 = FRACTION_BITS as u64;
/// Stands where that place is, for a sum that is written out.
const PLAIN_SUM: u64 = WHOLE + 1;

/// Writes a float as its distance from the one before it, which is not larger.
pub(super) fn write_ascending(columns: &mut Columns, column: Column, value: f64, before_ns: &mut i64) {
    let delta = whole_ns(value).and_then(|ns| u64::try_from(ns - *before_ns).ok());
    write_delta(columns, column, value, before_ns, delta);
}

/// Writes a float as its distance from another, in either direction.
pub(super) fn write_near(columns: &mut Columns, column: Column, value: f64, near_ns: &mut i64) {
    let delta = whole_ns(value).map(|ns| zigzag(ns - *near_ns));
    write_delta(columns, column, value, near_ns, delta);
}

fn write_delta(columns: &mut Columns, column: Column, value: f64, base_ns: &mut i64, delta: Option<u64>) {
    match (delta, whole_ns(value)) {
        (Some(delta), Some(ns)) => {
            columns.push(column, delta + 1);
            *base_ns = ns;
        }
        _ => {
            columns.push(column, PLAIN);
            columns.push(Column::Plain, value.to_bits());
        }
    }
}

/// Reads what [`write_ascending`] wrote.
pub(super) fn read_ascending(
    columns: &mut ReadColumns<'_>,
    column: Column,
    before_ns: &mut i64,
) -> Result<f64, Flaw> {
    read_delta(columns, column, before_ns, |delta| i64::try_from(delta).ok())
}

/// Reads what [`write_near`] wrote.
pub(super) fn read_near(
    columns: &mut ReadColumns<'_>,
    column: Column,
    near_ns: &mut i64,
) -> Result<f64, Flaw> {
    read_delta(columns, column, near_ns, |delta| Some(unzigzag(delta)))
}

fn read_delta(
    columns: &mut ReadColumns<'_>,
    column: Column,
    base_ns: &mut i64,
    signed: impl Fn(u64) -> Option<i64>,
) -> Result<f64, Flaw> {
    let code = columns.next(column)?;
    if code == PLAIN {
        return Ok(f64::from_bits(columns.next(Column::Plain)?));
    }
    let ns = signed(code - 1).and_then(|delta| base_ns.checked_add(delta));
    *base_ns = ns.filter(|ns| ns.abs() < NS_MAX).ok_or("a float is out of range")?;
    Ok(*base_ns as f64 / NS_PER_MS as f64)
}

/// Goes past what [`write_ascending`] or [`write_near`] wrote so many times.
pub(super) fn skip_floats(columns: &mut ReadColumns<'_>, column: Column, count: u64) -> Result<(), Flaw> {
    let plain = columns.skip(column, count)?;
    columns.skip(Column::Plain, plain).map(drop)
}

/// The nanoseconds of a float that says milliseconds, if they are whole and give the same float back.
fn whole_ns(value: f64) -> Option<i64> {
    let ns = (value * NS_PER_MS as f64).round();
    if ns.abs() >= NS_MAX as f64 {
        return None;
    }
    let ns = ns as i64;
    ((ns as f64 / NS_PER_MS as f64).to_bits() == value.to_bits()).then_some(ns)
}

/// Writes a sum of milliseconds or of anything else, given what it may be near. The non-finite values are not written.
///
/// A whole number is stored as its distance from the guess; another sum as its nanoseconds' distance from the guess, and how
/// far it is from those nanoseconds: no more than what rounding each of its values to a float made of it.
pub(super) fn write_sum(columns: &mut Columns, sum: &FixedSum, guess_ns: i64) {
    let words = sum.words();
    if let Some(whole) = whole_of(words) {
        columns.push(Column::Grids, WHOLE);
        columns.push(Column::Sums, zigzag(whole.wrapping_sub(guess_ns / NS_PER_MS)));
        return;
    }
    if let Some((grid, ns, rest)) = parts_of(words) {
        columns.push(Column::Grids, grid.into());
        columns.push(Column::Sums, zigzag(ns.wrapping_sub(guess_ns)));
        columns.push(Column::Rests, zigzag(rest));
        return;
    }
    columns.push(Column::Grids, PLAIN_SUM);
    words.iter().for_each(|word| columns.push(Column::Plain, *word));
}

/// Reads what [`write_sum`] wrote: the words of the sum.
pub(super) fn read_sum(columns: &mut ReadColumns<'_>, guess_ns: i64) -> Result<[u64; 3], Flaw> {
    let words = match columns.next(Column::Grids)? {
        PLAIN_SUM => {
            [columns.next(Column::Plain)?, columns.next(Column::Plain)?, columns.next(Column::Plain)?]
        }
        WHOLE => {
            let distance = unzigzag(columns.next(Column::Sums)?);
            let whole = (guess_ns / NS_PER_MS).wrapping_add(distance);
            let (high, low) = (whole >> (u64::BITS - 32), (whole as u64) << 32);
            [0, low, high as u64]
        }
        grid if grid < WHOLE => {
            let ns = unzigzag(columns.next(Column::Sums)?).wrapping_add(guess_ns);
            let rest = unzigzag(columns.next(Column::Rests)?);
            let sum = (0..NS_MAX)
                .contains(&ns)
                .then(|| on_grid(ns, grid as u32))
                .and_then(|base| i128::from(rest).checked_mul(1 << grid)?.checked_add_unsigned(base))
                .filter(|sum| *sum >= 0)
                .ok_or("a sum is out of range")?;
            [sum as u64, (sum >> u64::BITS) as u64, 0]
        }
        _ => return Err("a sum is of an unknown kind"),
    };
    Ok(words)
}

/// Goes past what [`write_sum`] wrote.
pub(super) fn skip_sum(columns: &mut ReadColumns<'_>) -> Result<(), Flaw> {
    match columns.next(Column::Grids)? {
        PLAIN_SUM => columns.skip(Column::Plain, 3)?,
        WHOLE => columns.skip(Column::Sums, 1)?,
        grid if grid < WHOLE => {
            columns.skip(Column::Sums, 1)?;
            columns.skip(Column::Rests, 1)?
        }
        _ => return Err("a sum is of an unknown kind"),
    };
    Ok(())
}

/// The sum as a whole number, if it is one of 64 bits.
fn whole_of(words: [u64; 3]) -> Option<i64> {
    let [low, middle, high] = words;
    let has_fraction = low != 0 || middle << 32 != 0;
    let whole = (i128::from(high as i64) << 32) | i128::from(middle >> 32);
    i64::try_from(whole).ok().filter(|_| !has_fraction)
}

/// The place of the sum's lowest bit, its nanoseconds, and how far it is from those in units of that bit.
fn parts_of(words: [u64; 3]) -> Option<(u32, i64, i64)> {
    let sum = u128::from(words[0]) | u128::from(words[1]) << u64::BITS;
    if words[2] != 0 || sum >> 127 != 0 {
        return None;
    }
    let grid = sum.trailing_zeros();
    let coarse_bits = FRACTION_BITS - COARSE_BITS;
    let ns = (((sum >> COARSE_BITS) * NS_PER_MS as u128 + (1 << (coarse_bits - 1))) >> coarse_bits) as i64;
    if ns >= NS_MAX || u64::from(grid) >= WHOLE {
        return None;
    }
    let rest = (sum as i128 - i128::try_from(on_grid(ns, grid)).ok()?) >> grid;
    Some((grid, ns, i64::try_from(rest).ok()?))
}

/// So many nanoseconds as a sum of milliseconds without bits below `grid`.
fn on_grid(ns: i64, grid: u32) -> u128 {
    let coarse = ((ns as u128) << (FRACTION_BITS - COARSE_BITS)) / NS_PER_MS as u128;
    coarse << COARSE_BITS >> grid << grid
}
