//! Lines of a source, each bounded, wherever they end and whatever is in them.

use std::io::{BufRead, ErrorKind};

use crate::ImportError;
use crate::kind::BOM;

/// Bytes of a line at most: the longest of k6's is a sample with a long URL in two tags. What is longer is no sample.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// The lines of a source.
pub(crate) struct Lines<'a> {
    input: &'a mut dyn BufRead,
    buffer: Vec<u8>,
    number: u64,
    is_over: bool,
}

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// Its text.
    Text(u64, &'a str),
    /// It cannot be read, and why.
    Flawed(u64, &'static str),
}

impl<'a> Lines<'a> {
    pub(crate) fn new(input: &'a mut dyn BufRead) -> Lines<'a> {
        Lines { input, buffer: Vec::new(), number: 0, is_over: false }
    }

    /// The next line that is not empty; `None` after the last.
    ///
    /// # Errors
    /// The file cannot be read. One whose compressed end is missing can: it is a flaw, since a killed process leaves such a one.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, ImportError> {
        while !self.is_over {
            self.number += 1;
            match self.read_line() {
                Ok(false) => self.is_over = true,
                Ok(true) if self.buffer.len() > LINE_BYTES_MAX => {
                    return Ok(Some(Line::Flawed(self.number, "it is longer than 1 MiB")));
                }
                Ok(true) if self.text_range().is_empty() => {}
                Ok(true) => break,
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    self.is_over = true;
                    return Ok(Some(Line::Flawed(
                        self.number,
                        "the file ends in the middle of its compressed data",
                    )));
                }
                Err(error) => return Err(error.into()),
            }
        }
        if self.is_over {
            return Ok(None);
        }
        let range = self.text_range();
        Ok(Some(match std::str::from_utf8(&self.buffer[range]) {
            Ok(text) => Line::Text(self.number, text),
            Err(_) => Line::Flawed(self.number, "it is no UTF-8"),
        }))
    }

    /// Reads up to the end of a line, and keeps no more than a byte over the limit; false at the end of the file.
    fn read_line(&mut self) -> std::io::Result<bool> {
        self.buffer.clear();
        let mut is_any = false;
        loop {
            let bytes = match self.input.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if bytes.is_empty() {
                return Ok(is_any);
            }
            is_any = true;
            let end = memchr::memchr(b'\n', bytes);
            let part = &bytes[..end.unwrap_or(bytes.len())];
            let room = (LINE_BYTES_MAX + 1).saturating_sub(self.buffer.len());
            self.buffer.extend_from_slice(&part[..part.len().min(room)]);
            let used = end.map_or(bytes.len(), |end| end + 1);
            self.input.consume(used);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// The line without the mark before the first and without blanks around it.
    fn text_range(&self) -> std::ops::Range<usize> {
        let start = if self.number == 1 && self.buffer.starts_with(BOM.as_bytes()) { BOM.len() } else { 0 };
        let text = &self.buffer[start..];
        let trimmed = text.trim_ascii_start();
        let from = start + text.len() - trimmed.len();
        from..from + trimmed.trim_ascii_end().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expect: &[Line<'_>]) {
        let mut input = std::io::BufReader::with_capacity(7, bytes);
        let mut lines = Lines::new(&mut input);
        for expect in expect {
            assert_eq!(lines.next().expect("readable").as_ref(), Some(expect));
        }
        assert_eq!(lines.next().expect("readable"), None);
    }

    #[test]
    fn lines_end_as_they_like() {
        check(b"", &[]);
        check(b"\n\r\n", &[]);
        check(b"a", &[Line::Text(1, "a")]);
        check(b"\xef\xbb\xbfa\r\n\r\n b \n", &[Line::Text(1, "a"), Line::Text(3, "b")]);
        check(b"a\n\xff\nb", &[Line::Text(1, "a"), Line::Flawed(2, "it is no UTF-8"), Line::Text(3, "b")]);
    }

    #[test]
    fn long_lines_take_no_memory() {
        let long = [vec![b'x'; 3 * LINE_BYTES_MAX], b"\nshort\n".to_vec()].concat();
        let mut input = &long[..];
        let mut lines = Lines::new(&mut input);
        assert_eq!(lines.next().expect("readable"), Some(Line::Flawed(1, "it is longer than 1 MiB")));
        assert!(lines.buffer.capacity() <= 2 * LINE_BYTES_MAX + 2);
        assert_eq!(lines.next().expect("readable"), Some(Line::Text(2, "short")));
    }
}
