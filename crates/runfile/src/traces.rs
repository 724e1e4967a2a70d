//! Traces that were kept, and the load of operations, written beside the load and read back.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::{Kept, OWN_SERVICE, OperationLoad, Span, SpanKind, SpanStatus, Trace};
use rusqlite::params;
use serde::Serialize;

use crate::ReadError;
use crate::evidence::Pen;
use crate::format::{FORMAT_OF_EVIDENCE, values};
use crate::reader::{Reader, RowError};
use crate::store::{Store, signed};

/// Spans kept per run.
pub const SPANS_MAX: u64 = 50_000;
/// Operations' tens kept per run: eight hours of 170 operations.
const OPERATION_ROWS_MAX: u64 = 500_000;

/// A kept trace without its spans.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceMark {
    /// Its number.
    pub id: u128,
    /// Why it was kept.
    pub kept: Kept,
    /// The service of its root.
    pub service: String,
    /// The operation of its root.
    pub operation: String,
    /// When its root began, nanoseconds of the run's clock.
    pub start_ns: i64,
    /// How long its root took.
    pub duration: Duration,
    /// Spans that failed.
    pub errors: u32,
    /// How many spans there are.
    pub spans: u32,
}

impl Store {
    /// Adds traces that were kept.
    pub(crate) fn put_traces(&mut self, traces: &[Trace]) -> rusqlite::Result<()> {
        let mut pen = self.pen();
        traces.iter().try_for_each(|trace| pen.trace(trace))
    }

    /// Adds how often operations ran.
    pub(crate) fn put_operations(&mut self, operations: &[OperationLoad]) -> rusqlite::Result<()> {
        let mut pen = self.pen();
        operations.iter().try_for_each(|operation| pen.operation(operation))
    }
}

impl Pen<'_> {
    pub(crate) fn trace(&mut self, trace: &Trace) -> rusqlite::Result<()> {
        let Some(root) = trace.root().or(trace.spans.first()) else { return Ok(()) };
        let spans = trace.spans.len() as u64;
        if self.marks.spans + spans > SPANS_MAX {
            self.marks.lost += spans;
            return Ok(());
        }
        self.marks.spans += spans;
        let errors = trace.spans.iter().filter(|span| span.status == SpanStatus::Error).count();
        let share = match trace.kept {
            Kept::Sample { share } => Some(share),
            Kept::Error | Kept::Slowest | Kept::Bucket | Kept::Found => None,
        };
        let is_new = self.execute(
            "INSERT OR IGNORE INTO trace (trace_id, kept, share, service, operation, start_ns, duration_ns, errors, spans)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                trace.id.to_be_bytes(),
                trace.kept.as_str(),
                share,
                self.service(&root.service),
                self.text(&root.operation),
                root.start_ns,
                nanoseconds(root.duration),
                signed(errors as u64),
                signed(spans),
            ],
        )? > 0;
        trace.spans.iter().try_for_each(|span| self.span(trace.id, span))?;
        if is_new {
            return Ok(());
        }
        // Spans came late, some of them perhaps twice, so that they are counted where they are.
        self.execute(
            "UPDATE trace SET spans = (SELECT count(*) FROM span WHERE span.trace_id = trace.trace_id), errors =
                 (SELECT count(*) FROM span WHERE span.trace_id = trace.trace_id AND status = 'error') WHERE trace_id = ?",
            params![trace.id.to_be_bytes()],
        )?;
        Ok(())
    }

    /// A service's name. The program's own connects its spans with those of servers, whatever a password says.
    fn service<'t>(&self, service: &'t str) -> Cow<'t, str> {
        if service == OWN_SERVICE { Cow::Borrowed(service) } else { self.text(service) }
    }

    fn span(&self, trace_id: u128, span: &Span) -> rusqlite::Result<()> {
        let attributes = span.attributes.iter().map(|(name, value)| (self.text(name), self.text(value)));
        let links = span.links.iter().map(|(trace, span)| format!("{trace:032x}-{span:016x}"));
        self.execute(
            "INSERT OR IGNORE INTO span (trace_id, span_id, parent_id, kind, service, operation, start_ns, duration_ns,
                 status, attributes, links) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                trace_id.to_be_bytes(),
                span.id.to_be_bytes(),
                span.parent.map(u64::to_be_bytes),
                span.kind.as_str(),
                self.service(&span.service),
                self.text(&span.operation),
                span.start_ns,
                nanoseconds(span.duration),
                span.status.as_str(),
                json(&BTreeMap::from_iter(attributes)),
                json(&Vec::from_iter(links)),
            ],
        )?;
        Ok(())
    }

    fn operation(&mut self, load: &OperationLoad) -> rusqlite::Result<()> {
        if self.marks.operation_rows >= OPERATION_ROWS_MAX {
            self.marks.lost += 1;
            return Ok(());
        }
        self.marks.operation_rows += 1;
        let mut durations = Vec::new();
        values::write(&load.durations, &mut durations);
        let blob = self.packer.pack(&durations).unwrap_or_default();
        let (service, operation) = (self.service(&load.service), self.text(&load.operation));
        self.execute(
            "INSERT INTO operation_load (ten, service, operation, kind, part, errors, durations)
             SELECT ?1, ?2, ?3, ?4, count(*), ?5, ?6 FROM operation_load
                 WHERE ten = ?1 AND service = ?2 AND operation = ?3 AND kind = ?4",
            params![load.ten, service, operation, load.kind.as_str(), signed(load.errors), blob],
        )?;
        Ok(())
    }
}

impl Reader {
    /// The traces that were kept, without their spans, in order of time.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn trace_marks(&self) -> Result<Vec<TraceMark>, ReadError> {
        if self.format < FORMAT_OF_EVIDENCE {
            return Ok(Vec::new());
        }
        let sql = "SELECT trace_id, kept, share, service, operation, start_ns, duration_ns, errors, spans
                   FROM trace ORDER BY start_ns, trace_id";
        self.rows(sql, [], |row| {
            Ok(TraceMark {
                id: u128::from_be_bytes(bytes(row, 0)?),
                kept: kept(&row.get::<_, String>(1)?, row.get(2)?)?,
                service: row.get(3)?,
                operation: row.get(4)?,
                start_ns: row.get(5)?,
                duration: Duration::from_nanos(row.get(6)?),
                errors: row.get(7)?,
                spans: row.get(8)?,
            })
        })
    }

    /// How many traces were kept.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn trace_count(&self) -> Result<u64, ReadError> {
        if self.format < FORMAT_OF_EVIDENCE {
            return Ok(0);
        }
        let counts = self.rows("SELECT count(*) FROM trace", [], |row| Ok(row.get(0)?))?;
        Ok(counts.first().copied().unwrap_or(0))
    }

    /// A trace with its spans, in order of their start; `None` if it was not kept.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn trace(&self, id: u128) -> Result<Option<Trace>, ReadError> {
        Ok(self.traces_where("WHERE trace.trace_id = ?", [id.to_be_bytes()])?.pop())
    }

    /// All traces that were kept, with their spans.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn traces(&self) -> Result<Vec<Trace>, ReadError> {
        self.traces_where("", [])
    }

    fn traces_where(&self, filter: &str, params: impl rusqlite::Params) -> Result<Vec<Trace>, ReadError> {
        if self.format < FORMAT_OF_EVIDENCE {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT trace.trace_id, kept, share, span_id, parent_id, kind, span.service, span.operation, span.start_ns,
                 span.duration_ns, status, attributes, links
             FROM trace JOIN span ON span.trace_id = trace.trace_id {filter}
             ORDER BY trace.trace_id, span.start_ns, span_id"
        );
        let mut names = Names::default();
        let mut traces: Vec<Trace> = Vec::new();
        self.rows(&sql, params, |row| {
            let id = u128::from_be_bytes(bytes(row, 0)?);
            if traces.last().is_none_or(|trace| trace.id != id) {
                let kept = kept(&row.get::<_, String>(1)?, row.get(2)?)?;
                traces.push(Trace { id, kept, spans: Vec::new() });
            }
            let span = span(row, &mut names)?;
            if let Some(trace) = traces.last_mut() {
                trace.spans.push(span);
            }
            Ok(())
        })?;
        Ok(traces)
    }

    /// How often operations ran, of all spans received, in order of time.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn operations(&self) -> Result<Vec<OperationLoad>, ReadError> {
        if self.format < FORMAT_OF_EVIDENCE {
            return Ok(Vec::new());
        }
        let sql = "SELECT service, operation, kind, ten, errors, durations FROM operation_load
                   ORDER BY ten, service, operation, kind, part";
        let mut names = Names::default();
        self.rows(sql, [], |row| {
            let blob = self.unpack(row, 5)?;
            let mut rest = &blob[..];
            let durations = values::read(&mut rest).map_err(RowError::Flaw)?;
            if !rest.is_empty() {
                return Err(RowError::Flaw("bytes are left over after the durations"));
            }
            Ok(OperationLoad {
                service: names.get(row.get(0)?),
                operation: names.get(row.get(1)?),
                kind: SpanKind::named(&row.get::<_, String>(2)?)
                    .ok_or("an operation is of an unknown kind")?,
                ten: row.get(3)?,
                errors: row.get(4)?,
                durations,
            })
        })
    }
}

/// Texts that many rows share, held once.
#[derive(Default)]
struct Names(BTreeMap<String, Arc<str>>);

impl Names {
    fn get(&mut self, name: String) -> Arc<str> {
        if let Some(known) = self.0.get(&name) {
            return known.clone();
        }
        let shared: Arc<str> = name.as_str().into();
        self.0.insert(name, shared.clone());
        shared
    }
}

fn span(row: &rusqlite::Row<'_>, names: &mut Names) -> Result<Span, RowError> {
    let attributes: String = row.get(11)?;
    let attributes: BTreeMap<String, String> =
        serde_json::from_str(&attributes).map_err(|_| "a span's attributes are no texts")?;
    let links: String = row.get(12)?;
    let links: Vec<String> = serde_json::from_str(&links).map_err(|_| "a span's links are no list")?;
    let links = links.iter().map(|link| parse_link(link)).collect::<Option<Vec<_>>>();
    let parent: Option<Vec<u8>> = row.get(4)?;
    let parent = parent.map(|parent| <[u8; 8]>::try_from(parent).map(u64::from_be_bytes)).transpose();
    Ok(Span {
        id: u64::from_be_bytes(bytes(row, 3)?),
        parent: parent.map_err(|_| "a span's parent has no number")?,
        kind: SpanKind::named(&row.get::<_, String>(5)?).ok_or("a span is of an unknown kind")?,
        service: names.get(row.get(6)?),
        operation: names.get(row.get(7)?),
        start_ns: row.get(8)?,
        duration: Duration::from_nanos(row.get(9)?),
        status: SpanStatus::named(&row.get::<_, String>(10)?).ok_or("a span is of an unknown status")?,
        attributes: attributes.into_iter().map(|(name, value)| (names.get(name), value)).collect(),
        links: links.ok_or("a span's link has no numbers")?,
    })
}

fn parse_link(link: &str) -> Option<(u128, u64)> {
    let (trace, span) = link.split_once('-')?;
    Some((u128::from_str_radix(trace, 16).ok()?, u64::from_str_radix(span, 16).ok()?))
}

fn bytes<const N: usize>(row: &rusqlite::Row<'_>, column: usize) -> Result<[u8; N], RowError> {
    let blob = row.get_ref(column)?.as_blob().map_err(|_| RowError::Flaw("a number of a trace is none"))?;
    blob.try_into().map_err(|_| RowError::Flaw("a number of a trace has another length"))
}

fn kept(name: &str, share: Option<f64>) -> Result<Kept, RowError> {
    match (name, share) {
        ("sample", Some(share)) if share > 0.0 && share <= 1.0 => Ok(Kept::Sample { share }),
        ("error", _) => Ok(Kept::Error),
        ("slowest", _) => Ok(Kept::Slowest),
        ("bucket", _) => Ok(Kept::Bucket),
        ("found", _) => Ok(Kept::Found),
        _ => Err(RowError::Flaw("a trace was kept for an unknown reason")),
    }
}

/// Texts and lists of them, which always have a JSON.
fn json(texts: &impl Serialize) -> String {
    serde_json::to_string(texts).unwrap_or_default()
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use histo::Values;

    use super::*;
    use crate::Header;

    fn span(id: u64, parent: Option<u64>) -> Span {
        Span {
            id,
            parent,
            kind: SpanKind::Client,
            service: "shop".into(),
            operation: "SELECT".into(),
            start_ns: -5 + id as i64,
            duration: Duration::from_micros(id),
            status: if id == 2 { SpanStatus::Error } else { SpanStatus::Unset },
            attributes: vec![("db.query.text".into(), "select 1".to_owned())],
            links: vec![(u128::MAX, u64::MAX)],
        }
    }

    #[test]
    fn no_password_hides_the_own_service() {
        let folder = tempfile::tempdir().expect("a folder");
        for password in ["plim", "plimsoll", OWN_SERVICE] {
            let path = folder.path().join(format!("{}.plimsoll", password.len()));
            let redactor = redact::Redactor::default();
            redactor.add_guessed([password.to_owned()]);
            let header = Header { redactor, ..Header::default() };
            let _ = std::fs::remove_file(&path);
            let mut store =
                Store::create(&path, &header, Arc::default(), Arc::default(), false).expect("create");
            let own = Span { service: OWN_SERVICE.into(), ..span(1, None) };
            let other = Span { operation: "call plimsoll".into(), ..span(3, Some(1)) };
            let trace = Trace { id: 7, kept: Kept::Slowest, spans: vec![own, other] };
            store.transaction(|store| store.put_traces(&[trace])).expect("write");
            store.close().expect("close");
            let trace = Reader::open(&path).expect("open").trace(7).expect("read").expect("it is there");
            assert_eq!(&*trace.spans[0].service, OWN_SERVICE, "{password}");
            let hidden = if password == "plim" { "call plimsoll" } else { "call (hidden)" };
            assert_eq!(&*trace.spans[1].operation, hidden, "{password}");
        }
    }

    #[test]
    fn traces_come_back_as_they_were_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.plimsoll");
        let mut store =
            Store::create(&path, &Header::default(), Arc::default(), Arc::default(), false).expect("create");
        let first =
            Trace { id: 7, kept: Kept::Sample { share: 0.25 }, spans: vec![span(1, None), span(2, Some(1))] };
        let second = Trace { id: u128::MAX, kept: Kept::Slowest, spans: vec![span(3, None)] };
        let empty = Trace { id: 9, kept: Kept::Error, spans: Vec::new() };
        let late = Trace { spans: vec![span(4, Some(1))], ..first.clone() };
        let all = [first.clone(), second.clone(), empty, first.clone(), late];
        store.transaction(|store| store.put_traces(&all)).expect("write");
        store.close().expect("close");

        let reader = Reader::open(&path).expect("open");
        let first = Trace { spans: vec![span(1, None), span(2, Some(1)), span(4, Some(1))], ..first };
        assert_eq!(reader.traces().expect("read"), [first.clone(), second]);
        assert_eq!(reader.trace_count().expect("read"), 2);
        assert_eq!(reader.trace(7).expect("read"), Some(first));
        assert_eq!(reader.trace(8).expect("read"), None);
        let marks = reader.trace_marks().expect("read");
        assert_eq!(
            marks.iter().map(|mark| (mark.id, mark.spans, mark.errors)).collect::<Vec<_>>(),
            [(7, 3, 1), (u128::MAX, 1, 0)]
        );
    }

    #[test]
    fn the_load_of_operations_adds_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.plimsoll");
        let mut store =
            Store::create(&path, &Header::default(), Arc::default(), Arc::default(), false).expect("create");
        let load = |ten: u32, ms: f64| {
            let mut durations = Values::default();
            durations.record(ms);
            let (service, operation) = ("shop".into(), "GET /".into());
            OperationLoad { service, operation, kind: SpanKind::Server, ten, errors: 1, durations }
        };
        let operations = [load(3, 1.5), load(3, 2.5), load(4, 9.0)];
        store.transaction(|store| store.put_operations(&operations)).expect("write");
        store.close().expect("close");
        let operations = Reader::open(&path).expect("open").operations().expect("read");
        let tens: Vec<(u32, u64)> =
            operations.iter().map(|load| (load.ten, load.durations.count())).collect();
        assert_eq!(tens, [(3, 1), (3, 1), (4, 1)]);
    }

    #[test]
    fn no_more_spans_than_there_is_room_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.plimsoll");
        let mut store =
            Store::create(&path, &Header::default(), Arc::default(), Arc::default(), false).expect("create");
        let spans = (1..=SPANS_MAX / 2 + 1).map(|id| span(id, None)).collect();
        let trace = Trace { id: 1, kept: Kept::Error, spans };
        let traces = [trace.clone(), Trace { id: 2, ..trace }];
        store.transaction(|store| store.put_traces(&traces)).expect("write");
        assert_eq!(store.evidence_lost(), SPANS_MAX / 2 + 1);
    }
}
