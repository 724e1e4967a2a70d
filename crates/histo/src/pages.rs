//! Sparse counts by bucket index: pages of neighbouring buckets behind a directory.

use crate::bucket::{INDEX_MAX, INDEX_MIN};

/// Buckets per page. The values of one series usually span a few octaves of 512 buckets with gaps between: small pages
/// keep the memory near the buckets in use, and one page is eight cache lines.
const PAGE_BUCKETS: usize = 64;
const PAGE_SHIFT: u32 = PAGE_BUCKETS.trailing_zeros();

/// The directory's mark for a page without counts.
const ABSENT: u16 = u16::MAX;

const PAGES_MAX: usize = ((INDEX_MAX >> PAGE_SHIFT) - (INDEX_MIN >> PAGE_SHIFT) + 1) as usize;
const _: () = assert!(PAGES_MAX < ABSENT as usize, "page numbers fit the directory");

/// Counts of buckets by index. At most 17,000 pages of 512 bytes even when every float occurs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pages {
    /// The page number (index >> PAGE_SHIFT) of the directory's first entry.
    first: i32,
    /// From page number to position in `pages`.
    directory: Vec<u16>,
    /// In order of first use.
    pages: Vec<[u64; PAGE_BUCKETS]>,
}

impl Pages {
    /// Adds to a bucket's count, which saturates.
    #[inline]
    pub(crate) fn add(&mut self, index: i32, count: u64) {
        let number = index >> PAGE_SHIFT;
        let position = self.position(number);
        let page = match self.pages.get_mut(position) {
            Some(page) => page,
            None => self.new_page(number),
        };
        let bucket = &mut page[index as usize % PAGE_BUCKETS];
        *bucket = bucket.saturating_add(count);
    }

    /// Adds to the counts of buckets, of which neighbours share a page.
    pub(crate) fn add_all(&mut self, buckets: &[(i32, u64)]) {
        for neighbours in buckets.chunk_by(|a, b| a.0 >> PAGE_SHIFT == b.0 >> PAGE_SHIFT) {
            let number = neighbours[0].0 >> PAGE_SHIFT;
            let position = self.position(number);
            let page = match self.pages.get_mut(position) {
                Some(page) => page,
                None => self.new_page(number),
            };
            for (index, count) in neighbours {
                let bucket = &mut page[*index as usize % PAGE_BUCKETS];
                *bucket = bucket.saturating_add(*count);
            }
        }
    }

    pub(crate) fn merge(&mut self, other: &Pages) {
        for (number, theirs) in other.pages_in_order() {
            let position = self.position(number);
            let ours = match self.pages.get_mut(position) {
                Some(page) => page,
                None => self.new_page(number),
            };
            for (our, their) in ours.iter_mut().zip(theirs) {
                *our = our.saturating_add(*their);
            }
        }
    }

    /// The count of a bucket.
    pub(crate) fn count_of(&self, index: i32) -> u64 {
        let position = self.position(index >> PAGE_SHIFT);
        self.pages.get(position).map_or(0, |page| page[index as usize % PAGE_BUCKETS])
    }

    /// The buckets that have counts, from the lowest index.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (i32, u64)> + Clone {
        self.pages_in_order().flat_map(|(number, page)| {
            let start = number << PAGE_SHIFT;
            let indexed = page.iter().enumerate().map(move |(i, &count)| (start + i as i32, count));
            indexed.filter(|&(_, count)| count > 0)
        })
    }

    /// Where a page is stored; out of range when it is absent.
    #[inline]
    fn position(&self, number: i32) -> usize {
        // A number below the first wraps to a huge one, which the directory does not hold either.
        let entry = number.wrapping_sub(self.first) as u32 as usize;
        self.directory.get(entry).map_or(usize::from(ABSENT), |&position| usize::from(position))
    }

    fn pages_in_order(&self) -> impl DoubleEndedIterator<Item = (i32, &[u64; PAGE_BUCKETS])> + Clone {
        let present = self.directory.iter().enumerate().filter(|(_, position)| **position != ABSENT);
        present.map(|(entry, &position)| (self.first + entry as i32, &self.pages[usize::from(position)]))
    }

    #[cold]
    fn new_page(&mut self, number: i32) -> &mut [u64; PAGE_BUCKETS] {
        if self.directory.is_empty() {
            self.first = number;
        }
        if number < self.first {
            let missing = (self.first - number) as usize;
            self.directory.splice(0..0, std::iter::repeat_n(ABSENT, missing));
            self.first = number;
        }
        let entry = (number - self.first) as usize;
        if entry >= self.directory.len() {
            self.directory.resize(entry + 1, ABSENT);
        }
        let position = self.pages.len();
        self.directory[entry] = position as u16;
        self.pages.push([0; PAGE_BUCKETS]);
        &mut self.pages[position]
    }
}

impl PartialEq for Pages {
    fn eq(&self, other: &Pages) -> bool {
        // Pages lie in order of first use, which is not part of the value.
        self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_back_in_order_of_index() {
        let mut pages = Pages::default();
        let added = [(INDEX_MAX, 1), (5, 2), (INDEX_MIN, 3), (-1, 4), (5, 5), (0, 6)];
        for (index, count) in added {
            pages.add(index, count);
        }
        let expect = [(INDEX_MIN, 3), (-1, 4), (0, 6), (5, 7), (INDEX_MAX, 1)];
        assert_eq!(pages.iter().collect::<Vec<_>>(), expect);
        assert_eq!(pages.iter().rev().collect::<Vec<_>>(), expect.into_iter().rev().collect::<Vec<_>>());
        assert_eq!((pages.count_of(5), pages.count_of(6), pages.count_of(i32::MIN)), (7, 0, 0));
    }

    #[test]
    fn counts_saturate() {
        let mut pages = Pages::default();
        pages.add(0, u64::MAX);
        pages.add(0, 1);
        let copy = pages.clone();
        pages.merge(&copy);
        assert_eq!(pages.count_of(0), u64::MAX);
    }
}
