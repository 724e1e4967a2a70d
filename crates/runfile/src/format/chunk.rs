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

/// Cells read one after the other.
pub(crate) struct Cells<'a> {
    bytes: &'a [u8],
    left: u64,
    /// Of the next cell.
    position: Option<u32>,
}

impl Cells<'_> {
    pub(crate) fn new(mut bytes: &[u8]) -> Result<Cells<'_>, Flaw> {
        let left = cell::read_varint(&mut bytes)?;
        let mut cells = Cells { bytes, left, position: None };
        cells.advance()?;
        Ok(cells)
    }

    /// Where the next cell is; `None` after the last one.
    pub(crate) fn position(&self) -> Option<u32> {
        self.position
    }

    /// Takes the next cell, which is of this kind.
    pub(crate) fn take(&mut self, kind: MetricKind) -> Result<Aggregate, Flaw> {
        let aggregate = cell::decode(kind, &mut self.bytes)?;
        self.advance()?;
        Ok(aggregate)
    }

    /// Goes past the next cell, which is of this kind, without looking into it.
    pub(crate) fn skip(&mut self, kind: MetricKind) -> Result<(), Flaw> {
        cell::skip(kind, &mut self.bytes)?;
        self.advance()
    }

    fn advance(&mut self) -> Result<(), Flaw> {
        let previous = self.position.take();
        if self.left == 0 {
            return if self.bytes.is_empty() { Ok(()) } else { Err("bytes are left over after the cells") };
        }
        self.left -= 1;
        let position = cell::read_varint(&mut self.bytes)?;
        let position = u32::try_from(position).map_err(|_| "a position is out of range")?;
        if previous >= Some(position) {
            return Err("cells are out of order");
        }
        self.position = Some(position);
        Ok(())
    }
}

/// Gives each cell to `each`. `kind_at` is asked first: of which kind the cell at a position is, and whether it is wanted;
/// what is not wanted is not looked into.
pub(crate) fn decode<Error: From<Flaw>>(
    bytes: &[u8],
    kind_at: impl Fn(u32) -> Result<(MetricKind, bool), Error>,
    mut each: impl FnMut(u32, Aggregate) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut cells = Cells::new(bytes)?;
    while let Some(position) = cells.position() {
        match kind_at(position)? {
            (kind, true) => each(position, cells.take(kind)?)?,
            (kind, false) => cells.skip(kind)?,
        }
    }
    Ok(())
}
