//! Evidence in a run's file: signals, records and gaps, written beside the load or after it, and read back.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use model::{Datum, Evidence, Gap, Instant, Record, RecordKind, Signal, SignalName};
use redact::Redactor;
use rusqlite::{Connection, params};
use serde_json::Value;

use crate::format::blob::Packer;
use crate::format::{FORMAT_OF_EVIDENCE, points};
use crate::reader::{Reader, RowError};
use crate::signals::GENERATOR;
use crate::store::{Store, TEXT_BYTES_MAX, signed};
use crate::{ReadError, WriteError, snapshot};

/// Points of signals kept per run: a day of 40 signals each second.
pub(crate) const POINTS_MAX: u64 = 4_000_000;
/// Records kept per run.
pub(crate) const RECORDS_MAX: u64 = 50_000;
/// Gaps kept per run.
pub(crate) const GAPS_MAX: u64 = 10_000;

/// How much evidence a run has, so that it stays bounded; what does not fit is counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EvidenceMarks {
    pub(crate) points: u64,
    pub(crate) records: u64,
    pub(crate) gaps: u64,
    pub(crate) spans: u64,
    pub(crate) operation_rows: u64,
    /// Points, records, gaps, spans and operations' tens that did not fit.
    pub(crate) lost: u64,
}

/// The statements that write evidence.
pub(crate) struct Pen<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) packer: &'a mut Packer,
    pub(crate) redactor: &'a Redactor,
    pub(crate) marks: &'a mut EvidenceMarks,
}

impl Store {
    /// Adds evidence from sources.
    pub(crate) fn put_evidence(&mut self, evidence: &Evidence) -> rusqlite::Result<()> {
        self.pen().evidence(evidence)
    }
}

/// Adds evidence to the file of a run that is over, without the secrets that `redactor` knows. Evidence that is there already stays.
///
/// # Errors
/// The run still goes on, is of a format without evidence, cannot be read, or cannot be written.
pub fn add_evidence(path: &Path, evidence: &Evidence, redactor: &Redactor) -> Result<(), WriteError> {
    let reader = Reader::open(path)?;
    if reader.format < FORMAT_OF_EVIDENCE {
        return Err(WriteError::Old(path.to_owned()));
    }
    let mut marks = EvidenceMarks::read(&reader.connection).map_err(|error| reader.error(error))?;
    snapshot::change(path, reader, |connection| {
        let transaction = connection.transaction()?;
        let mut packer = Packer::new();
        let mut pen = Pen { connection: &transaction, packer: &mut packer, redactor, marks: &mut marks };
        pen.evidence(evidence)?;
        transaction.commit()
    })
}

impl EvidenceMarks {
    /// The evidence of a file. A signal's points are counted as what they take: few are smaller than 8 bytes.
    fn read(connection: &Connection) -> rusqlite::Result<EvidenceMarks> {
        let count = |sql: &str| {
            connection.query_row(sql, [], |row| Ok(u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0)))
        };
        Ok(EvidenceMarks {
            points: count("SELECT coalesce(sum(length(points)), 0) / 8 FROM signal")?,
            records: count("SELECT count(*) FROM record")?,
            gaps: count("SELECT count(*) FROM gap")?,
            spans: count("SELECT count(*) FROM span")?,
            ..EvidenceMarks::default()
        })
    }
}

impl Pen<'_> {
    pub(crate) fn execute(&self, sql: &str, params: impl rusqlite::Params) -> rusqlite::Result<usize> {
        self.connection.prepare_cached(sql)?.execute(params)
    }

    pub(crate) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.redactor.scrub(text) {
            Cow::Borrowed(text) => Cow::Borrowed(&text[..text.floor_char_boundary(TEXT_BYTES_MAX)]),
            Cow::Owned(mut text) => {
                text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
                Cow::Owned(text)
            }
        }
    }

    /// The catalogue's names are the program's own, whatever a password says.
    fn signal_name<'t>(&self, name: &'t SignalName) -> Cow<'t, str> {
        match name.id() {
            Some(own) => Cow::Borrowed(own.as_str()),
            None => self.text(name.as_str()),
        }
    }

    fn evidence(&mut self, evidence: &Evidence) -> rusqlite::Result<()> {
        evidence.signals.iter().try_for_each(|signal| self.signal(signal))?;
        evidence.records.iter().try_for_each(|record| self.record(record))?;
        evidence.gaps.iter().try_for_each(|gap| self.gap(gap))?;
        evidence.traces.iter().try_for_each(|trace| self.trace(trace))
    }

    fn signal(&mut self, signal: &Signal) -> rusqlite::Result<()> {
        let points = signal.points.len() as u64;
        if points == 0 {
            return Ok(());
        }
        if self.marks.points + points > POINTS_MAX {
            self.marks.lost += points;
            return Ok(());
        }
        self.marks.points += points;
        let labels =
            signal.labels.iter().map(|(name, value)| (self.text(name), Value::from(self.text(value))));
        let labels = Value::from_iter(labels).to_string();
        let blob = self.packer.pack(&points::encode(&signal.points)).unwrap_or_default();
        self.execute(
            "INSERT INTO signal (source, name, labels, unit, query, step_ns, points) VALUES (?, ?, ?, ?, ?, ?, ?)",
            params![
                self.text(&signal.source),
                self.signal_name(&signal.name),
                labels,
                self.text(&signal.unit),
                self.text(&signal.query),
                signed(u64::try_from(signal.step.as_nanos()).unwrap_or(u64::MAX)),
                blob
            ],
        )?;
        Ok(())
    }

    fn record(&mut self, record: &Record) -> rusqlite::Result<()> {
        if self.marks.records >= RECORDS_MAX {
            self.marks.lost += 1;
            return Ok(());
        }
        self.marks.records += 1;
        let fields = record.fields.iter().map(|(name, datum)| {
            let value = match datum {
                Datum::Number(number) => Value::from(*number),
                Datum::Text(text) => Value::from(self.text(text)),
            };
            (self.text(name), value)
        });
        let fields = Value::from_iter(fields).to_string();
        self.execute(
            "INSERT INTO record (source, kind, at_ns, subject, fields) VALUES (?, ?, ?, ?, ?)",
            params![
                self.text(&record.source),
                record.kind.as_str(),
                signed(record.at.as_ns()),
                self.text(&record.subject),
                fields
            ],
        )?;
        Ok(())
    }

    fn gap(&mut self, gap: &Gap) -> rusqlite::Result<()> {
        if self.marks.gaps >= GAPS_MAX {
            self.marks.lost += 1;
            return Ok(());
        }
        self.marks.gaps += 1;
        self.execute(
            "INSERT INTO gap (source, from_ns, to_ns, reason) VALUES (?, ?, ?, ?)",
            params![
                self.text(&gap.source),
                signed(gap.from.as_ns()),
                signed(gap.to.as_ns()),
                self.text(&gap.reason)
            ],
        )?;
        Ok(())
    }
}

impl Reader {
    /// The signals of servers, in order of source, name and labels, the points of each in order of time. Metrics of the generator
    /// about itself are not among them.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn signals(&self) -> Result<Vec<Signal>, ReadError> {
        let sql = "SELECT source, name, labels, unit, query, step_ns, points FROM signal WHERE source <> ? ORDER BY id";
        let mut all: BTreeMap<(String, SignalName, BTreeMap<String, String>), Signal> = BTreeMap::new();
        self.rows(sql, [GENERATOR], |row| {
            let labels: String = row.get(2)?;
            let labels: BTreeMap<String, String> =
                serde_json::from_str(&labels).map_err(|_| "a signal's labels are no texts")?;
            let points = points::decode(&self.unpack(row, 6)?).map_err(RowError::Flaw)?;
            let signal = Signal {
                source: row.get(0)?,
                name: row.get::<_, String>(1)?.into(),
                labels,
                unit: row.get(3)?,
                query: row.get(4)?,
                step: Duration::from_nanos(row.get(5)?),
                points,
            };
            let key = (signal.source.clone(), signal.name.clone(), signal.labels.clone());
            match all.get_mut(&key) {
                Some(known) => known.points.extend(signal.points),
                None => drop(all.insert(key, signal)),
            }
            Ok(())
        })?;
        let mut signals: Vec<Signal> = all.into_values().collect();
        for signal in &mut signals {
            signal.points.sort_by_key(|(at, _)| *at);
            // Evidence that was collected twice holds the same twice.
            signal.points.dedup_by_key(|(at, _)| *at);
        }
        Ok(signals)
    }

    /// Returns evidence that is no series, in order of time. Kinds that this build does not know are left out.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn records(&self) -> Result<Vec<Record>, ReadError> {
        if self.format < FORMAT_OF_EVIDENCE {
            return Ok(Vec::new());
        }
        let sql = "SELECT source, kind, at_ns, subject, fields FROM record ORDER BY at_ns, id";
        let records = self.rows(sql, [], |row| {
            let Some(kind) = RecordKind::named(&row.get::<_, String>(1)?) else { return Ok(None) };
            let fields: String = row.get(4)?;
            let fields: BTreeMap<String, Value> =
                serde_json::from_str(&fields).map_err(|_| "a record's fields are no object")?;
            let at = Instant::from_ns(row.get(2)?);
            let fields = fields.into_iter().filter_map(|(name, value)| Some((name, datum(value)?)));
            Ok(Some(Record { source: row.get(0)?, kind, at, subject: row.get(3)?, fields: fields.collect() }))
        })?;
        Ok(records.into_iter().flatten().collect())
    }

    /// Returns the gaps of sources, in order of time.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn gaps(&self) -> Result<Vec<Gap>, ReadError> {
        if self.format < FORMAT_OF_EVIDENCE {
            return Ok(Vec::new());
        }
        self.rows("SELECT source, from_ns, to_ns, reason FROM gap ORDER BY from_ns, id", [], |row| {
            Ok(Gap {
                source: row.get(0)?,
                from: Instant::from_ns(row.get(1)?),
                to: Instant::from_ns(row.get(2)?),
                reason: row.get(3)?,
            })
        })
    }
}

/// Numbers that JSON cannot hold were written as null, and are left out.
fn datum(value: Value) -> Option<Datum> {
    match value {
        Value::Number(number) => number.as_f64().map(Datum::Number),
        Value::String(text) => Some(Datum::Text(text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Ending, Header};

    fn evidence(second: u64) -> Evidence {
        let at = Instant::from_ns(second * 1_000_000_000);
        Evidence {
            signals: vec![Signal {
                source: "rabbitmq".to_owned(),
                name: "queue_ready".into(),
                labels: [("queue".to_owned(), "scan.vision".to_owned())].into(),
                unit: String::new(),
                query: "GET /api/queues".to_owned(),
                step: Duration::from_secs(5),
                points: vec![(at, 352.0)],
            }],
            records: vec![Record {
                source: "kubernetes".to_owned(),
                kind: RecordKind::Happening,
                at,
                subject: "scan-worker".to_owned(),
                fields: [("to".to_owned(), 3.0.into()), ("why".to_owned(), "above target".into())].into(),
            }],
            gaps: vec![Gap {
                source: "redis".to_owned(),
                from: at,
                to: at + Duration::from_secs(2),
                reason: "connection refused".to_owned(),
            }],
            ..Evidence::default()
        }
    }

    fn store(path: &Path) -> Store {
        let redactor = Redactor::default();
        redactor.add_declared(["hunter22".to_owned()]);
        let header = Header { redactor, ..Header::default() };
        Store::create(path, &header, Arc::default(), Arc::default(), false).expect("create")
    }

    #[test]
    fn evidence_is_read_back_as_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.plimsoll");
        let mut store = store(&path);
        store.transaction(|store| store.put_evidence(&evidence(1))).expect("write");
        store.transaction(|store| store.put_evidence(&evidence(2))).expect("write");
        store.transaction(|store| store.put_ending(&Ending::default(), 0, 0)).expect("write");
        store.close().expect("close");
        add_evidence(&path, &evidence(2), &Redactor::default()).expect("evidence added twice is kept once");
        add_evidence(&path, &evidence(3), &Redactor::default()).expect("a run that is over takes evidence");

        let reader = Reader::open(&path).expect("open");
        let [signal] = &reader.signals().expect("read")[..] else { panic!("one signal") };
        let points = (1..=3).map(|second| (Instant::from_ns(second * 1_000_000_000), 352.0));
        assert_eq!(*signal, Signal { points: points.collect(), ..evidence(1).signals[0].clone() });
        assert_eq!(reader.records().expect("read")[0], evidence(1).records[0]);
        assert_eq!(reader.gaps().expect("read")[0], evidence(1).gaps[0]);
    }

    #[test]
    fn secrets_are_hidden_in_evidence() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.plimsoll");
        let mut store = store(&path);
        let mut evidence = evidence(1);
        evidence.signals[0].query = "GET /?password=hunter22".to_owned();
        evidence.records[0].subject = "SELECT 'hunter22'".to_owned();
        evidence.gaps[0].reason = "hunter22 was refused".to_owned();
        store.transaction(|store| store.put_evidence(&evidence)).expect("write");
        store.close().expect("close");
        let reader = Reader::open(&path).expect("open");
        assert!(!reader.signals().expect("read")[0].query.contains("hunter22"));
        assert!(!reader.records().expect("read")[0].subject.contains("hunter22"));
        assert!(!reader.gaps().expect("read")[0].reason.contains("hunter22"));
    }

    #[test]
    fn gaps_beyond_the_limit_are_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = store(&folder.path().join("run.plimsoll"));
        let gap = evidence(1).gaps.remove(0);
        let gaps = vec![gap; GAPS_MAX as usize + 3];
        let evidence = Evidence { gaps, ..Evidence::default() };
        store.transaction(|store| store.put_evidence(&evidence)).expect("write");
        assert_eq!(store.evidence_lost(), 3);
    }
}
