//! Several cells in a row: those of one series over a minute, or those of all series in one second.
//!
//! ```text
//! chunk   how many (varint) | position (varint) cell | position (varint) cell | …
//! ```
//!
//! In a chunk of seconds the position is the window's index within its minute, in one of tens the number of the ten; in the
//! tail it is the series' id. Positions ascend.

use model::{Aggregate, MetricKind};

use super::cell::{self, Flaw};

/// The bytes of cells in ascending order of their positions.
pub(crate) fn encode<'a>(cells: impl ExactSizeIterator<Item = (u32, &'a Aggregate)>) -> Vec<u8> {
    let mut out = Vec::with_capacity(cells.len() * 32);
    cell::write_varint(&mut out, cells.len() as u64);
    for (position, aggregate) in cells {
        cell::write_varint(&mut out, position.into());
        cell::encode(aggregate, &mut out);
    }
    out
}

/// Gives each cell to `each`. `kind_at` is asked first: of which kind the cell at a position is, and whether it is wanted;
/// what is not wanted is not looked into.
pub(crate) fn decode<Error: From<Flaw>>(
    mut bytes: &[u8],
    kind_at: impl Fn(u32) -> Result<(MetricKind, bool), Error>,
    mut each: impl FnMut(u32, Aggregate) -> Result<(), Error>,
) -> Result<(), Error> {
    let count = cell::read_varint(&mut bytes)?;
    let mut previous = None;
    for _ in 0..count {
        let position = cell::read_varint(&mut bytes)?;
        let position = u32::try_from(position).map_err(|_| "a position is out of range")?;
        if previous >= Some(position) {
            return Err(Error::from("cells are out of order"));
        }
        previous = Some(position);
        match kind_at(position)? {
            (kind, true) => each(position, cell::decode(kind, &mut bytes)?)?,
            (kind, false) => cell::skip(kind, &mut bytes)?,
        }
    }
    if bytes.is_empty() { Ok(()) } else { Err(Error::from("bytes are left over after the cells")) }
}
