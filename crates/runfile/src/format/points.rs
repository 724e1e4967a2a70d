//! The points of a signal.
//!
//! ```text
//! points  how many (varint) | nanoseconds since the point before, the first since 0 (varint) | value (f64, LE) | …
//! ```

use model::Instant;

use super::cell::{Flaw, read_float, read_varint, write_varint};

/// Points in ascending order of time.
pub(crate) fn encode(points: &[(Instant, f64)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(points.len() * 13);
    write_varint(&mut out, points.len() as u64);
    let mut previous_ns = 0;
    for (at, value) in points {
        write_varint(&mut out, at.as_ns().saturating_sub(previous_ns));
        out.extend_from_slice(&value.to_le_bytes());
        previous_ns = previous_ns.max(at.as_ns());
    }
    out
}

pub(crate) fn decode(mut bytes: &[u8]) -> Result<Vec<(Instant, f64)>, Flaw> {
    let count = read_varint(&mut bytes)?;
    let mut points = Vec::new();
    let mut at_ns = 0u64;
    for _ in 0..count {
        at_ns = at_ns.checked_add(read_varint(&mut bytes)?).ok_or("a point's time is out of range")?;
        points.push((Instant::from_ns(at_ns), read_float(&mut bytes)?));
    }
    if bytes.is_empty() { Ok(points) } else { Err("bytes are left over after the points") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_come_back() {
        let at = Instant::from_ns;
        for points in [vec![], vec![(at(0), 0.1)], vec![(at(5), -1.5), (at(5), 2.0), (at(1 << 40), 3.0)]] {
            assert_eq!(decode(&encode(&points)), Ok(points));
        }
    }

    #[test]
    fn hostile_points_are_refused() {
        assert!(decode(&[]).is_err());
        assert!(decode(&[200, 200, 200, 200, 1]).is_err());
        assert!(decode(&[0, 1]).is_err());
        let mut late = encode(&[(Instant::from_ns(u64::MAX), 1.0), (Instant::from_ns(u64::MAX), 1.0)]);
        let second = late.len() - 9;
        late[second] = 1;
        assert!(decode(&late).is_err());
    }
}
