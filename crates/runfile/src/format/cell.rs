//! One aggregate as bytes, without loss. Its kind is that of its series' metric and is not repeated.
//!
//! ```text
//! counter  count (varint) | sum: length (varint), FixedSum
//! gauge    last, min, max (f64, LE) | last_at in nanoseconds (varint)
//! rate     passes (varint) | total (varint)
//! trend    values | 0
//!          values | 1 | values (timed out) | values (cut) | dropped (varint) | failed (varint)
//! ```
//!
//! Integers are LEB128; `FixedSum` is the encoding of the crate `histo`; for values see [`super::values`].

use histo::{FixedSum, Values};
use model::{Aggregate, CounterTotal, Failures, GaugeTotal, Instant, MetricKind, RateTotal, Trend};

use super::values;

/// No cell counts more: a million a second take half a year to get there. Far below what would overflow when merged.
pub(crate) const COUNT_MAX: u64 = 1 << 44;

/// The error in bytes.
pub(crate) type Flaw = &'static str;

/// Appends an aggregate.
pub(crate) fn encode(aggregate: &Aggregate, out: &mut Vec<u8>) {
    match aggregate {
        Aggregate::Counter(counter) => {
            write_varint(out, counter.count);
            write_bytes(out, &counter.sum.to_bytes());
        }
        Aggregate::Gauge(gauge) => {
            for value in [gauge.last, gauge.min, gauge.max] {
                out.extend_from_slice(&value.to_le_bytes());
            }
            write_varint(out, gauge.last_at.as_ns());
        }
        Aggregate::Rate(rate) => {
            write_varint(out, rate.passes);
            write_varint(out, rate.total);
        }
        Aggregate::Trend(trend) => encode_trend(trend, out),
    }
}

/// Takes an aggregate of this kind off the front.
pub(crate) fn decode(kind: MetricKind, bytes: &mut &[u8]) -> Result<Aggregate, Flaw> {
    Ok(match kind {
        MetricKind::Counter => {
            let count = read_count(bytes)?;
            let sum = FixedSum::from_bytes(read_bytes(bytes)?).map_err(|_| "a sum is not readable")?;
            Aggregate::Counter(CounterTotal { sum, count })
        }
        MetricKind::Gauge => {
            let [last, min, max] = [read_float(bytes)?, read_float(bytes)?, read_float(bytes)?];
            Aggregate::Gauge(GaugeTotal { last, last_at: Instant::from_ns(read_varint(bytes)?), min, max })
        }
        MetricKind::Rate => {
            let (passes, total) = (read_count(bytes)?, read_count(bytes)?);
            if passes > total {
                return Err("a rate passes more than there is");
            }
            Aggregate::Rate(RateTotal { passes, total })
        }
        MetricKind::Trend => Aggregate::Trend(decode_trend(bytes)?),
    })
}

/// Takes an aggregate of this kind off the front without looking into it.
pub(crate) fn skip(kind: MetricKind, bytes: &mut &[u8]) -> Result<(), Flaw> {
    match kind {
        MetricKind::Counter => {
            read_varint(bytes)?;
            read_bytes(bytes)?;
        }
        MetricKind::Gauge => {
            *bytes = bytes.get(3 * size_of::<f64>()..).ok_or("a cell ends too early")?;
            read_varint(bytes)?;
        }
        MetricKind::Rate => {
            read_varint(bytes)?;
            read_varint(bytes)?;
        }
        MetricKind::Trend => {
            read_bytes(bytes)?;
            if read_byte(bytes)? != 0 {
                read_bytes(bytes)?;
                read_bytes(bytes)?;
                read_varint(bytes)?;
                read_varint(bytes)?;
            }
        }
    }
    Ok(())
}

fn encode_trend(trend: &Trend, out: &mut Vec<u8>) {
    values::write(&trend.values, out);
    out.push(u8::from(trend.failures.is_some()));
    if let Some(failures) = &trend.failures {
        values::write(&failures.timed_out, out);
        values::write(&failures.cut, out);
        write_varint(out, failures.dropped);
        write_varint(out, failures.failed);
    }
}

fn decode_trend(bytes: &mut &[u8]) -> Result<Trend, Flaw> {
    let values = read_values(bytes)?;
    let failures = match read_byte(bytes)? {
        0 => None,
        1 => Some(Box::new(Failures {
            timed_out: read_values(bytes)?,
            cut: read_values(bytes)?,
            dropped: read_count(bytes)?,
            failed: read_count(bytes)?,
        })),
        _ => return Err("a trend has an unknown part"),
    };
    Ok(Trend { values, failures })
}

fn read_values(bytes: &mut &[u8]) -> Result<Values, Flaw> {
    let values = values::read(bytes)?;
    if values.count() > COUNT_MAX { Err("a count is impossibly large") } else { Ok(values) }
}

pub(crate) fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    write_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

pub(crate) fn read_varint(bytes: &mut &[u8]) -> Result<u64, Flaw> {
    let mut value = 0u64;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = read_byte(bytes)?;
        let part = u64::from(byte & 0x7f);
        if part << shift >> shift != part {
            return Err("an integer is too long");
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err("an integer is too long")
}

pub(crate) fn read_byte(bytes: &mut &[u8]) -> Result<u8, Flaw> {
    let (byte, rest) = bytes.split_first().ok_or("a cell ends too early")?;
    *bytes = rest;
    Ok(*byte)
}

fn read_count(bytes: &mut &[u8]) -> Result<u64, Flaw> {
    let count = read_varint(bytes)?;
    if count > COUNT_MAX { Err("a count is impossibly large") } else { Ok(count) }
}

pub(crate) fn read_float(bytes: &mut &[u8]) -> Result<f64, Flaw> {
    let (float, rest) = bytes.split_first_chunk::<8>().ok_or("a cell ends too early")?;
    *bytes = rest;
    let value = f64::from_le_bytes(*float);
    if value.is_nan() { Err("a gauge is not a number") } else { Ok(value) }
}

pub(crate) fn read_bytes<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], Flaw> {
    let length = usize::try_from(read_varint(bytes)?).map_err(|_| "a cell ends too early")?;
    let (taken, rest) = bytes.split_at_checked(length).ok_or("a cell ends too early")?;
    *bytes = rest;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use model::Mark;
    use proptest::prelude::*;

    use super::*;

    const KINDS: [MetricKind; 4] =
        [MetricKind::Counter, MetricKind::Gauge, MetricKind::Rate, MetricKind::Trend];

    proptest! {
        #[test]
        fn nothing_is_lost(
            kind in 0usize..4, times in prop_oneof![4 => Just(1usize), 1 => Just(700)],
            values in prop::collection::vec((any::<f64>(), 0u8..5, any::<u64>()), 0..20),
        ) {
            let marks = [Mark::Measured, Mark::TimedOut, Mark::Cut, Mark::Dropped, Mark::Failed];
            let mut aggregate = Aggregate::empty(KINDS[kind]);
            for (value, mark, at_ns) in values.repeat(times) {
                aggregate.record(value, marks[usize::from(mark)], Instant::from_ns(at_ns));
            }
            let mut bytes = Vec::new();
            encode(&aggregate, &mut bytes);
            let mut skipped = &bytes[..];
            prop_assert_eq!(skip(KINDS[kind], &mut skipped), Ok(()));
            prop_assert!(skipped.is_empty());
            let mut rest = &bytes[..];
            prop_assert_eq!(decode(KINDS[kind], &mut rest), Ok(aggregate));
            prop_assert!(rest.is_empty());
            for end in 0..bytes.len().min(64) {
                prop_assert!(decode(KINDS[kind], &mut &bytes[..end]).is_err());
            }
        }

        #[test]
        fn no_bytes_are_too_much(kind in 0usize..4, bytes: Vec<u8>) {
            let _ = decode(KINDS[kind], &mut &bytes[..]);
            let _ = skip(KINDS[kind], &mut &bytes[..]);
        }
    }
}
