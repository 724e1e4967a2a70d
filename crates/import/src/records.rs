//! Rows of comma-separated values (RFC 4180), each bounded, so that a quote that is never closed takes no memory.

use std::io::{BufRead, ErrorKind};

use csv_core::ReadRecordResult;

use crate::ImportError;
use crate::kind::BOM;
use crate::lines::LINE_BYTES_MAX;

/// Columns of a row at most. nGrinder writes a dozen per test of a script.
const COLUMNS_MAX: usize = 4096;

/// The rows of a source.
pub(crate) struct Records<'a> {
    input: &'a mut dyn BufRead,
    parser: csv_core::Reader,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    is_over: bool,
}

/// One row.
pub(crate) enum Record<'a> {
    /// Its cells, and the line that it begins on.
    Cells(u64, Cells<'a>),
    /// It cannot be read, and why.
    Flawed(u64, &'static str),
}

/// The cells of a row.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a> {
    text: &'a str,
    ends: &'a [usize],
}

impl<'a> Cells<'a> {
    /// The cell of a column; `None` where the row is shorter, or broken in the middle of a character.
    pub(crate) fn get(&self, column: usize) -> Option<&'a str> {
        let start = if column == 0 { 0 } else { *self.ends.get(column - 1)? };
        let cell = self.text.get(start..*self.ends.get(column)?)?;
        Some(if column == 0 { cell.trim_start_matches(BOM) } else { cell })
    }

    /// All cells.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'a str> {
        (0..self.ends.len()).map(move |column| self.get(column).unwrap_or_default())
    }
}

/// How reading a row ended.
enum Outcome {
    Row(usize, usize),
    TooLong,
    CutOff,
    End,
}

impl<'a> Records<'a> {
    pub(crate) fn new(input: &'a mut dyn BufRead) -> Records<'a> {
        Records {
            input,
            parser: csv_core::Reader::new(),
            bytes: vec![0; 4096],
            ends: vec![0; 64],
            is_over: false,
        }
    }

    /// The next row; `None` after the last.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>, ImportError> {
        if self.is_over {
            return Ok(None);
        }
        self.skip_breaks()?;
        let line = self.parser.line();
        let (bytes, ends) = match self.read_row()? {
            Outcome::Row(bytes, ends) => (bytes, ends),
            Outcome::TooLong => {
                self.skip_line()?;
                return Ok(Some(Record::Flawed(
                    line,
                    "its row is longer than 1 MiB, or a quote is never closed",
                )));
            }
            Outcome::CutOff => {
                self.is_over = true;
                return Ok(Some(Record::Flawed(line, "the file ends in the middle of its compressed data")));
            }
            Outcome::End => {
                self.is_over = true;
                return Ok(None);
            }
        };
        Ok(Some(match std::str::from_utf8(&self.bytes[..bytes]) {
            Ok(text) => Record::Cells(line, Cells { text, ends: &self.ends[..ends] }),
            Err(_) => Record::Flawed(line, "it is no UTF-8"),
        }))
    }

    fn read_row(&mut self) -> Result<Outcome, ImportError> {
        let (mut bytes, mut ends) = (0, 0);
        loop {
            let input = match self.input.fill_buf() {
                Ok(input) => input,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(Outcome::CutOff),
                Err(error) => return Err(error.into()),
            };
            let (result, read, written, ended) =
                self.parser.read_record(input, &mut self.bytes[bytes..], &mut self.ends[ends..]);
            self.input.consume(read);
            bytes += written;
            ends += ended;
            match result {
                ReadRecordResult::Record => return Ok(Outcome::Row(bytes, ends)),
                ReadRecordResult::End => return Ok(Outcome::End),
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if self.bytes.len() < LINE_BYTES_MAX => {
                    self.bytes.resize(self.bytes.len() * 4, 0);
                }
                ReadRecordResult::OutputEndsFull if self.ends.len() < COLUMNS_MAX => {
                    self.ends.resize(self.ends.len() * 4, 0);
                }
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                    return Ok(Outcome::TooLong);
                }
            }
        }
    }

    /// Skips line breaks in front of a row: the parser ends a row at the first byte of Windows' two, so that the second would
    /// be counted with the next row.
    fn skip_breaks(&mut self) -> Result<(), ImportError> {
        loop {
            let input = match self.input.fill_buf() {
                Ok(input) => input,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // The row meets it again.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let breaks = input.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
            let (skipped, lines) =
                breaks.fold((0, 0), |(all, lines), byte| (all + 1, lines + u64::from(*byte == b'\n')));
            if skipped == 0 {
                return Ok(());
            }
            self.input.consume(skipped);
            self.parser.set_line(self.parser.line() + lines);
        }
    }

    /// Goes on behind the next line break, as if no quote had been open.
    fn skip_line(&mut self) -> Result<(), ImportError> {
        let line = self.parser.line();
        self.parser.reset();
        self.parser.set_line(line + 1);
        loop {
            let input = match self.input.fill_buf() {
                Ok(input) => input,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // The next row meets it again.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let end = memchr::memchr(b'\n', input);
            let used = end.map_or(input.len(), |end| end + 1);
            let is_done = end.is_some() || input.is_empty();
            self.input.consume(used);
            if is_done {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(bytes: &[u8]) -> Vec<String> {
        let mut input = std::io::BufReader::with_capacity(5, bytes);
        let mut records = Records::new(&mut input);
        let mut rows = Vec::new();
        while let Some(record) = records.next().expect("readable") {
            rows.push(match record {
                Record::Cells(line, cells) => {
                    format!("{line}: {}", cells.iter().collect::<Vec<_>>().join("|"))
                }
                Record::Flawed(line, why) => format!("{line}! {why}"),
            });
        }
        rows
    }

    #[test]
    fn rows_are_read() {
        assert_eq!(rows(b""), Vec::<String>::new());
        assert_eq!(
            rows(b"\xef\xbb\xbfa,b\r\n1,\"x, \"\"y\"\"\nz\"\r\n2,"),
            ["1: a|b", "2: 1|x, \"y\"\nz", "4: 2|"]
        );
        assert_eq!(rows(b"a\n\xff,b\nc"), ["1: a", "2! it is no UTF-8", "3: c"]);
    }

    #[test]
    fn an_open_quote_costs_what_it_swallowed_and_no_more() {
        let mut bytes = b"a,b\n1,\"open\n".to_vec();
        while bytes.len() < 5 * LINE_BYTES_MAX {
            bytes.extend_from_slice(b"2,3\n");
        }
        let rows = rows(&bytes);
        assert!(rows[1].starts_with("2! its row is longer"), "{}", rows[1]);
        assert!(
            rows.len() > 500_000 && rows.last().is_some_and(|row| row.ends_with(": 2|3")),
            "{}",
            rows.len()
        );
    }
}
