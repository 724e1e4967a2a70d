//! Places of some of a file's rows, so that any row is found after a few others.

use super::read::{Place, RowReader, Unusable};

/// Places that are kept; a file with more rows has the place of every second one, every fourth one, and so on.
const PLACES_MAX: usize = 1 << 16;

/// Places of every `stride`-th row.
#[derive(Debug)]
pub(crate) struct Index {
    places: Vec<Place>,
    stride: u64,
    rows: u64,
}

impl Index {
    /// Reads all rows once.
    ///
    /// # Errors
    /// A row is none.
    pub(crate) fn of(reader: &mut RowReader) -> Result<Index, Unusable> {
        let mut index = Index { places: Vec::new(), stride: 1, rows: 0 };
        while let Some((_, place)) = reader.next()? {
            index.push(place, PLACES_MAX);
        }
        Ok(index)
    }

    fn push(&mut self, place: Place, places_max: usize) {
        if self.rows.is_multiple_of(self.stride) {
            if self.places.len() == places_max {
                self.stride *= 2;
                let mut keep = false;
                self.places.retain(|_| {
                    keep = !keep;
                    keep
                });
            }
            if self.rows.is_multiple_of(self.stride) {
                self.places.push(place);
            }
        }
        self.rows += 1;
    }

    /// All rows.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The place from which row `row` is reached, and how many rows are skipped from there.
    pub(crate) fn place_before(&self, row: u64) -> Option<(Place, u64)> {
        let place = *self.places.get(usize::try_from(row / self.stride).ok()?)?;
        Some((place, row % self.stride))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_reached_from_one_of_few_places() {
        for rows in [0, 1, 4, 5, 8, 9, 100, 1000] {
            let mut index = Index { places: Vec::new(), stride: 1, rows: 0 };
            (0..rows).for_each(|row| index.push(Place { byte: row * 10, line: row }, 4));
            assert!(index.places.len() <= 4, "{rows}");
            for row in 0..rows {
                let (place, skipped) = index.place_before(row).expect("it has a place");
                assert_eq!(place.line + skipped, row, "{rows}");
            }
            assert_eq!(index.place_before(rows.next_multiple_of(index.stride)), None);
        }
    }
}
