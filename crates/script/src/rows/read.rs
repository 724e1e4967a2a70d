//! Rows of a file, one after the other, in constant memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;

use csv::{ByteRecord, ReaderBuilder, StringRecord};

/// Bytes of one row. A longer one is a file of another format, or a quote that is not closed.
pub(crate) const ROW_BYTES_MAX: u64 = 4 << 20;

/// How a file is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Csv { delimiter: u8, header: Header },
    Ndjson,
}

/// Where the names of fields come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// The first row.
    First,
    /// Rows are lists.
    None,
    Given(Vec<String>),
}

/// The bytes of a file: on disk, or in an archive that is in memory.
#[derive(Debug)]
pub(crate) enum RowSource {
    File(File),
    Packed(Cursor<Arc<[u8]>>),
}

impl Read for RowSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            RowSource::File(file) => file.read(buffer),
            RowSource::Packed(bytes) => bytes.read(buffer),
        }
    }
}

impl Seek for RowSource {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            RowSource::File(file) => file.seek(to),
            RowSource::Packed(bytes) => bytes.seek(to),
        }
    }
}

/// One row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// The fields of a CSV row; without names it is a list.
    Fields { fields: StringRecord, names: Option<Arc<[String]>> },
    /// A line of NDJSON.
    Json { text: Box<[u8]>, line: u64 },
}

/// A place in a file: where a row begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) byte: u64,
    /// From 1.
    pub(crate) line: u64,
}

/// Why a row is none.
#[derive(Debug)]
pub(crate) enum Unusable {
    /// This row; the next one may be one.
    Row { line: u64, problem: String },
    /// The file: it cannot be read on.
    File(String),
}

/// A source that refuses to give more than one row's bytes before the next row begins.
struct Limited {
    source: RowSource,
    bytes_left: u64,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bytes_left == 0 {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("a row exceeds the limit of {} MiB; is a quote not closed?", ROW_BYTES_MAX >> 20),
            ));
        }
        let room = buffer.len().min(usize::try_from(self.bytes_left).unwrap_or(usize::MAX));
        let bytes = self.source.read(&mut buffer[..room])?;
        self.bytes_left -= bytes as u64;
        Ok(bytes)
    }
}

impl Seek for Limited {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.source.seek(to)
    }
}

/// Reads the rows of one file.
pub(crate) struct RowReader {
    inner: Inner,
    names: Option<Arc<[String]>>,
    /// Fields of every row.
    fields: Option<usize>,
    /// Where the first row begins.
    start: Place,
    record: ByteRecord,
}

enum Inner {
    Csv(Box<csv::Reader<Limited>>),
    Ndjson { reader: BufReader<Limited>, place: Place },
}

impl RowReader {
    /// Reads from the start of a file; its header now.
    ///
    /// # Errors
    /// A text for the user: the header cannot be read.
    pub(crate) fn open(source: RowSource, form: &Form) -> Result<RowReader, String> {
        let limited = Limited { source, bytes_left: ROW_BYTES_MAX };
        let (inner, header) = match form {
            Form::Ndjson => (
                Inner::Ndjson { reader: BufReader::new(limited), place: Place { byte: 0, line: 1 } },
                &Header::None,
            ),
            Form::Csv { delimiter, header } => {
                let mut builder = ReaderBuilder::new();
                builder.has_headers(false).flexible(true).delimiter(*delimiter);
                (Inner::Csv(Box::new(builder.from_reader(limited))), header)
            }
        };
        let record = ByteRecord::new();
        let mut reader =
            RowReader { inner, names: None, fields: None, start: Place { byte: 0, line: 1 }, record };
        match header {
            Header::None => {}
            Header::Given(names) => reader.set_names(names.clone()),
            Header::First => match reader.next() {
                Ok(Some((Row::Fields { fields, .. }, _))) => {
                    let mut names: Vec<String> = fields.iter().map(str::to_owned).collect();
                    if let Some(first) = names.first_mut() {
                        *first = first.trim_start_matches('\u{feff}').to_owned();
                    }
                    reader.set_names(names);
                    reader.start = reader.place();
                }
                Ok(_) => return Err("it has no header: the file is empty".into()),
                Err(Unusable::Row { line, problem }) => return Err(format!("line {line}: {problem}")),
                Err(Unusable::File(problem)) => return Err(problem),
            },
        }
        Ok(reader)
    }

    fn set_names(&mut self, names: Vec<String>) {
        self.fields = Some(names.len());
        self.names = Some(names.into());
    }

    /// Where the next row begins.
    pub(crate) fn place(&self) -> Place {
        match &self.inner {
            Inner::Csv(reader) => {
                let position = reader.position();
                Place { byte: position.byte(), line: position.line() }
            }
            Inner::Ndjson { place, .. } => *place,
        }
    }

    /// Goes back to the first row.
    pub(crate) fn rewind(&mut self) -> Result<(), Unusable> {
        self.seek(self.start)
    }

    /// Goes to where a row begins.
    pub(crate) fn seek(&mut self, to: Place) -> Result<(), Unusable> {
        let sought = match &mut self.inner {
            Inner::Csv(reader) => {
                let mut position = csv::Position::new();
                position.set_byte(to.byte).set_line(to.line);
                reader.seek(position).map_err(|error| error.to_string())
            }
            Inner::Ndjson { reader, place } => {
                *place = to;
                reader.seek(SeekFrom::Start(to.byte)).map(drop).map_err(|error| error.to_string())
            }
        };
        sought.map_err(Unusable::File)
    }

    /// The next row and where it begins; `None` at the end.
    ///
    /// # Errors
    /// It is no row like the others, or the file cannot be read.
    pub(crate) fn next(&mut self) -> Result<Option<(Row, Place)>, Unusable> {
        match &mut self.inner {
            Inner::Csv(_) => self.next_record(),
            Inner::Ndjson { reader, place } => next_line(reader, place),
        }
    }

    fn next_record(&mut self) -> Result<Option<(Row, Place)>, Unusable> {
        let Inner::Csv(reader) = &mut self.inner else { return Ok(None) };
        reader.get_mut().bytes_left = ROW_BYTES_MAX;
        match reader.read_byte_record(&mut self.record) {
            Ok(false) => return Ok(None),
            Ok(true) => {}
            Err(error) => return Err(Unusable::File(error.to_string())),
        }
        let place = self
            .record
            .position()
            .map_or(Place::default(), |position| Place { byte: position.byte(), line: position.line() });
        let unusable = |problem| Unusable::Row { line: place.line, problem };
        let expected = *self.fields.get_or_insert(self.record.len());
        let count = self.record.len();
        if count != expected {
            let of = if self.names.is_some() { "the header has" } else { "the first row has" };
            let plural = if count == 1 { "field" } else { "fields" };
            return Err(unusable(format!("{count} {plural}, and {of} {expected}")));
        }
        let fields = StringRecord::from_byte_record(self.record.clone())
            .map_err(|_| unusable("not UTF-8 text".to_owned()))?;
        Ok(Some((Row::Fields { fields, names: self.names.clone() }, place)))
    }
}

/// The next line that is not empty.
fn next_line(reader: &mut BufReader<Limited>, place: &mut Place) -> Result<Option<(Row, Place)>, Unusable> {
    loop {
        reader.get_mut().bytes_left = ROW_BYTES_MAX;
        let mut text = Vec::new();
        let read = reader.read_until(b'\n', &mut text).map_err(|error| Unusable::File(error.to_string()))?;
        if read == 0 {
            return Ok(None);
        }
        let begun = *place;
        *place = Place { byte: begun.byte + read as u64, line: begun.line + 1 };
        let trimmed = text.trim_ascii();
        let trimmed = if begun.byte == 0 {
            trimmed.strip_prefix("\u{feff}".as_bytes()).unwrap_or(trimmed)
        } else {
            trimmed
        };
        if !trimmed.is_empty() {
            return Ok(Some((Row::Json { text: trimmed.into(), line: begun.line }, begun)));
        }
    }
}
