//! Values with shorter floats: most are whole nanoseconds in milliseconds, and ascend.
//!
//! ```text
//! values  n (varint) | n bytes: those of histo's Values, in which each float is one of
//!           2 · d (varint)    d nanoseconds more than the float before it, in milliseconds; the first counts from 0
//!           1 | f64, LE       any other
//! ```

use histo::{EXACT_MAX, Values};

use super::cell::{Flaw, read_byte, read_bytes, read_varint, write_bytes, write_varint};

/// Nanoseconds in a millisecond.
const SCALE: f64 = 1e6;
/// Larger numbers of nanoseconds are no longer exact when divided.
const NS_MAX: f64 = (1u64 << 51) as f64;
const PLAIN: u64 = 1;
const SUM_BYTES: usize = 24;

/// Appends values.
pub(crate) fn write(values: &Values, out: &mut Vec<u8>) {
    let bytes = values.to_bytes();
    let mut shorter = Vec::with_capacity(bytes.len());
    let mut previous_ns = 0;
    let done = transfer(&mut &bytes[..], &mut shorter, |from, to| shorten(from, to, &mut previous_ns));
    debug_assert!(done.is_ok(), "histo wrote what this file knows: {done:?}");
    write_bytes(out, &shorter);
}

/// Takes values off the front.
pub(crate) fn read(bytes: &mut &[u8]) -> Result<Values, Flaw> {
    let mut shorter = read_bytes(bytes)?;
    let mut whole = Vec::with_capacity(shorter.len() * 2);
    let mut previous_ns = 0;
    transfer(&mut shorter, &mut whole, |from, to| lengthen(from, to, &mut previous_ns))?;
    Values::from_bytes(&whole).map_err(|_| "values are not readable")
}

/// Copies values as histo lays them out, its floats through `float`.
fn transfer(
    from: &mut &[u8],
    to: &mut Vec<u8>,
    mut float: impl FnMut(&mut &[u8], &mut Vec<u8>) -> Result<(), Flaw>,
) -> Result<(), Flaw> {
    // Version, non-finite values, and whether the values are raw (0) or a histogram (1).
    copy(from, to, 1)?;
    copy_varint(from, to)?;
    let kind = read_byte(from)?;
    to.push(kind);
    let floats = if kind == 0 {
        copy_varint(from, to)?
    } else {
        copy(from, to, SUM_BYTES)?;
        copy_varint(from, to)?;
        copy_varint(from, to)?;
        copy_varint(from, to)?;
        if copy_varint(from, to)? > 0 { 2 } else { 0 }
    };
    if floats > EXACT_MAX as u64 {
        return Err("more raw values than are ever kept");
    }
    for _ in 0..floats {
        float(from, to)?;
    }
    copy(from, to, from.len())
}

fn shorten(from: &mut &[u8], to: &mut Vec<u8>, previous_ns: &mut i64) -> Result<(), Flaw> {
    let bytes = take::<8>(from)?;
    let value = f64::from_le_bytes(bytes);
    let ns = (value * SCALE).round();
    let is_whole = ns.abs() < NS_MAX && (ns / SCALE).to_bits() == value.to_bits();
    match u64::try_from(ns as i64 - *previous_ns) {
        Ok(delta) if is_whole => {
            *previous_ns = ns as i64;
            write_varint(to, delta << 1);
        }
        _ => {
            write_varint(to, PLAIN);
            to.extend_from_slice(&bytes);
        }
    }
    Ok(())
}

fn lengthen(from: &mut &[u8], to: &mut Vec<u8>, previous_ns: &mut i64) -> Result<(), Flaw> {
    let head = read_varint(from)?;
    if head == PLAIN {
        return copy(from, to, 8);
    }
    let delta = i64::try_from(head >> 1).map_err(|_| "a float is out of range")?;
    *previous_ns = previous_ns
        .checked_add(delta)
        .filter(|ns| head & 1 == 0 && (*ns as f64).abs() < NS_MAX)
        .ok_or("a float is out of range")?;
    to.extend_from_slice(&(*previous_ns as f64 / SCALE).to_le_bytes());
    Ok(())
}

fn copy(from: &mut &[u8], to: &mut Vec<u8>, length: usize) -> Result<(), Flaw> {
    let (taken, rest) = from.split_at_checked(length).ok_or("a cell ends too early")?;
    *from = rest;
    to.extend_from_slice(taken);
    Ok(())
}

fn copy_varint(from: &mut &[u8], to: &mut Vec<u8>) -> Result<u64, Flaw> {
    let value = read_varint(from)?;
    write_varint(to, value);
    Ok(value)
}

fn take<const N: usize>(from: &mut &[u8]) -> Result<[u8; N], Flaw> {
    let (taken, rest) = from.split_first_chunk::<N>().ok_or("a cell ends too early")?;
    *from = rest;
    Ok(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[f64], expect_bytes: usize) {
        let mut kept = Values::default();
        values.iter().for_each(|value| kept.record(*value));
        let mut bytes = Vec::new();
        write(&kept, &mut bytes);
        assert_eq!(bytes.len(), expect_bytes, "{values:?}");
        let mut rest = &bytes[..];
        assert_eq!(read(&mut rest), Ok(kept));
        assert!(rest.is_empty());
    }

    #[test]
    fn whole_nanoseconds_are_short_and_others_are_exact() {
        check(&[], 5);
        check(&[0.0], 6);
        check(&[12.345678], 9);
        check(&[12.345678, 12.345679], 10);
        check(&[-1.0], 14);
        check(&[0.1 + 0.2, 1e300, f64::MIN_POSITIVE], 32);
        check(&[-5.0, 1.0, 1e12], 26);
    }
}
