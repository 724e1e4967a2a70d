//! The cursor that all VUs share.

use super::index::Index;
use super::read::{Form, Row, RowReader, RowSource, Unusable};

/// Which row comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// In the order of the file.
    Sequential,
    /// In the order of the file, each one once.
    Unique,
    /// Any of them.
    Random,
}

impl Order {
    pub(crate) const NAMES: [(&str, Order); 3] =
        [("sequential", Order::Sequential), ("unique", Order::Unique), ("random", Order::Random)];
}

/// The consequence of having no row left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtEnd {
    /// The test ends.
    Stop,
    /// The first row comes again.
    Recycle,
    /// `next()` throws.
    Error,
}

impl AtEnd {
    pub(crate) const NAMES: [(&str, AtEnd); 3] =
        [("stop", AtEnd::Stop), ("recycle", AtEnd::Recycle), ("error", AtEnd::Error)];
}

/// The rules of a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) order: Order,
    pub(crate) end: AtEnd,
}

/// The result of asking for a row.
#[derive(Debug)]
pub(crate) enum Next {
    Row(Row),
    /// A text for the user.
    Unusable(String),
    /// No row is left.
    End {
        /// Rows of the file.
        rows: u64,
        end: AtEnd,
    },
}

/// A cursor over the rows of one file. Instances of one test have one each: the rows of all of them together are those of one
/// instance, because each takes the rows whose numbers are its own in the whole test.
pub(crate) struct Cursor {
    path: String,
    rules: Rules,
    reader: RowReader,
    /// For rows in any order.
    index: Option<Index>,
    /// Rows handed out.
    taken: u64,
    /// Rows read, those of other instances included, over all passes.
    read: u64,
    /// Rows of the file, once its end was seen.
    rows: Option<u64>,
    /// Why nothing can be read any more.
    broken: Option<String>,
}

impl Cursor {
    /// Opens a cursor. Rows in any order are found by an index, which is made now.
    ///
    /// # Errors
    /// A text for the user.
    pub(crate) fn open(path: &str, source: RowSource, form: Form, rules: Rules) -> Result<Cursor, String> {
        let mut reader = RowReader::open(source, &form).map_err(|problem| format!("{path}: {problem}"))?;
        let mut index = None;
        if rules.order == Order::Random {
            let made = Index::of(&mut reader).map_err(|unusable| described(path, unusable))?;
            if made.rows() == 0 {
                return Err(format!("{path}: it has no rows"));
            }
            index = Some(made);
        }
        Ok(Cursor {
            path: path.to_owned(),
            rules,
            reader,
            index,
            taken: 0,
            read: 0,
            rows: None,
            broken: None,
        })
    }

    /// The next row. `index_in_test` is the number in the whole test of this instance's n-th row.
    pub(crate) fn next(&mut self, index_in_test: &dyn Fn(u64) -> u64) -> Next {
        if let Some(broken) = &self.broken {
            return Next::Unusable(broken.clone());
        }
        let next = match &self.index {
            Some(index) => {
                let row = fastrand::u64(..index.rows());
                self.random(row)
            }
            None => self.in_order(index_in_test(self.taken)),
        };
        match next {
            Ok(next) => next,
            Err(Unusable::Row { line, problem }) => {
                self.taken += 1;
                Next::Unusable(described(&self.path, Unusable::Row { line, problem }))
            }
            Err(unusable) => {
                let text = described(&self.path, unusable);
                self.broken = Some(text.clone());
                Next::Unusable(text)
            }
        }
    }

    /// Row `number` of those that come one after the other, pass after pass.
    fn in_order(&mut self, number: u64) -> Result<Next, Unusable> {
        if self.rules.end != AtEnd::Recycle && self.rows.is_some_and(|rows| number >= rows) {
            return Ok(Next::End { rows: self.rows.unwrap_or_default(), end: self.rules.end });
        }
        loop {
            let is_wanted = self.read == number;
            match self.reader.next() {
                Ok(Some((row, _))) => {
                    self.read += 1;
                    if is_wanted {
                        self.taken += 1;
                        return Ok(Next::Row(row));
                    }
                }
                // A row of another instance is reported there.
                Err(Unusable::Row { .. }) if !is_wanted => self.read += 1,
                Err(unusable) => {
                    self.read += 1;
                    return Err(unusable);
                }
                Ok(None) => {
                    let rows = *self.rows.get_or_insert(self.read);
                    if self.rules.end != AtEnd::Recycle {
                        return Ok(Next::End { rows, end: self.rules.end });
                    }
                    if rows == 0 {
                        return Err(Unusable::File("it has no rows".into()));
                    }
                    self.reader.rewind()?;
                }
            }
        }
    }

    fn random(&mut self, row: u64) -> Result<Next, Unusable> {
        let place = self.index.as_ref().and_then(|index| index.place_before(row));
        let Some((place, skipped)) = place else {
            return Err(Unusable::File("it has become shorter".into()));
        };
        self.reader.seek(place)?;
        for _ in 0..skipped {
            self.reader.next()?;
        }
        match self.reader.next()? {
            Some((row, _)) => Ok(Next::Row(row)),
            None => Err(Unusable::File("it has become shorter".into())),
        }
    }
}

fn described(path: &str, unusable: Unusable) -> String {
    match unusable {
        Unusable::Row { line, problem } => format!("{path}, line {line}: {problem}"),
        Unusable::File(problem) => format!("{path}: {problem}"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor as Bytes;

    use super::super::read::Header;
    use super::*;

    fn csv() -> Form {
        Form::Csv { delimiter: b',', header: Header::First }
    }

    fn cursor(text: &str, form: Form, order: Order, end: AtEnd) -> Cursor {
        let source = RowSource::Packed(Bytes::new(text.as_bytes().into()));
        Cursor::open("u.csv", source, form, Rules { order, end }).expect("it opens")
    }

    /// The next row as text.
    fn take(cursor: &mut Cursor, index_in_test: &dyn Fn(u64) -> u64) -> String {
        match cursor.next(index_in_test) {
            Next::Row(Row::Fields { fields, names }) => {
                let fields: Vec<&str> = fields.iter().collect();
                match names {
                    Some(names) => {
                        names.iter().zip(fields).map(|(name, field)| format!("{name}={field}")).collect()
                    }
                    None => fields.join("|"),
                }
            }
            Next::Row(Row::Json { text, line }) => format!("{line}:{}", String::from_utf8_lossy(&text)),
            Next::Unusable(text) => text,
            Next::End { rows, .. } => format!("end of {rows}"),
        }
    }

    #[track_caller]
    fn check(text: &str, form: Form, order: Order, end: AtEnd, expect: &[&str]) {
        let mut cursor = cursor(text, form, order, end);
        let got: Vec<String> = expect.iter().map(|_| take(&mut cursor, &|index| index)).collect();
        assert_eq!(got, expect);
    }

    #[test]
    fn rows_come_in_the_order_of_the_file_and_then_again() {
        let text = "\u{feff}n\n1\n\"2\n\"\n3\n";
        check(
            text,
            csv(),
            Order::Sequential,
            AtEnd::Recycle,
            &["n=1", "n=2\n", "n=3", "n=1", "n=2\n", "n=3", "n=1"],
        );
        check(text, csv(), Order::Unique, AtEnd::Stop, &["n=1", "n=2\n", "n=3", "end of 3", "end of 3"]);
        let lists = Form::Csv { delimiter: b';', header: Header::None };
        check("1;2\n3;4", lists, Order::Sequential, AtEnd::Error, &["1|2", "3|4", "end of 2"]);
        let lines = "\u{feff}{\"a\":1}\n\n  \n[2]\r\n";
        check(
            lines,
            Form::Ndjson,
            Order::Sequential,
            AtEnd::Recycle,
            &["1:{\"a\":1}", "4:[2]", "1:{\"a\":1}"],
        );
    }

    #[test]
    fn ragged_rows_are_named_by_their_line_and_the_others_go_on() {
        let text = "a,b\n1,2\n\"x\ny\",2\n5\n6,7,8\n9,10\n";
        check(
            text,
            csv(),
            Order::Unique,
            AtEnd::Error,
            &[
                "a=1b=2",
                "a=x\nyb=2",
                "u.csv, line 5: 1 field, and the header has 2",
                "u.csv, line 6: 3 fields, and the header has 2",
                "a=9b=10",
                "end of 5",
            ],
        );
        check("a\n\u{1}\n", csv(), Order::Sequential, AtEnd::Error, &["a=\u{1}", "end of 1"]);
        let source = RowSource::Packed(Bytes::new((*b"a\n1\n2,3\n").into()));
        let rules = Rules { order: Order::Random, end: AtEnd::Recycle };
        let problem = Cursor::open("u.csv", source, csv(), rules).err().expect("the index reads all rows");
        assert_eq!(problem, "u.csv, line 3: 2 fields, and the header has 1");
    }

    #[test]
    fn files_without_rows_say_so() {
        check(
            "a\n",
            csv(),
            Order::Sequential,
            AtEnd::Recycle,
            &["u.csv: it has no rows", "u.csv: it has no rows"],
        );
        check("a\n", csv(), Order::Unique, AtEnd::Stop, &["end of 0"]);
        let source = RowSource::Packed(Bytes::new((*b"").into()));
        let rules = Rules { order: Order::Sequential, end: AtEnd::Stop };
        assert!(Cursor::open("u.csv", source, csv(), rules).is_err_and(|text| text.contains("no header")));
    }

    #[test]
    fn a_quote_that_is_not_closed_is_bounded() {
        let text = format!("a\n1\n\"{}", "x,\n".repeat(3 << 20));
        let mut cursor = cursor(&text, csv(), Order::Sequential, AtEnd::Recycle);
        assert_eq!(take(&mut cursor, &|index| index), "a=1");
        let problem = take(&mut cursor, &|index| index);
        assert!(problem.contains("a row exceeds the limit of 4 MiB"), "{problem}");
        assert_eq!(take(&mut cursor, &|index| index), problem, "nothing is read behind it");
    }

    #[test]
    fn instances_share_the_rows_out() {
        let text: String =
            std::iter::once("n\n".to_owned()).chain((0..10).map(|n| format!("{n}\n"))).collect();
        let parts: [&dyn Fn(u64) -> u64; 3] = [&|n| 3 * n, &|n| 3 * n + 1, &|n| 3 * n + 2];
        let mut all = Vec::new();
        for part in parts {
            let mut cursor = cursor(&text, csv(), Order::Unique, AtEnd::Stop);
            loop {
                match take(&mut cursor, part) {
                    end if end.starts_with("end") => break,
                    row => all.push(row),
                }
            }
        }
        all.sort();
        let expect: Vec<String> = (0..10).map(|n| format!("n={n}")).collect();
        assert_eq!(all, expect);
        let mut recycled = cursor(&text, csv(), Order::Sequential, AtEnd::Recycle);
        let got: Vec<String> = (0..5).map(|_| take(&mut recycled, &|n| 4 * n)).collect();
        assert_eq!(got, ["n=0", "n=4", "n=8", "n=2", "n=6"]);
    }

    #[test]
    fn random_rows_are_all_rows_about_as_often() {
        let text: String =
            std::iter::once("n\n".to_owned()).chain((0..8).map(|n| format!("{n}\n"))).collect();
        let mut cursor = cursor(&text, csv(), Order::Random, AtEnd::Recycle);
        let mut counts = [0_u32; 8];
        for _ in 0..8_000 {
            let row = take(&mut cursor, &|index| index);
            counts[row[2..].parse::<usize>().expect("a number")] += 1;
        }
        // 1,000 each; ten standard deviations.
        assert!(counts.iter().all(|count| (700..1_300).contains(count)), "{counts:?}");
    }
}
