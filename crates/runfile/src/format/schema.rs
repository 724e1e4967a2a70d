//! The tables, as SQL. `docs/format/runfile.md` draws them.

use rusqlite::Connection;

use super::{FORMAT_OF_CELLS, FORMAT_OF_CHECKSUMS, FORMAT_OF_EVIDENCE};

/// Every table of a format. A file whose tables differ in one letter is refused, so that no view, trigger, generated
/// column or virtual table can stand where a table is expected.
pub(crate) fn tables(format: i64) -> String {
    let aggregates = match format {
        FORMAT_OF_CELLS => AGGREGATES_OF_CELLS,
        _ if format < FORMAT_OF_CHECKSUMS => AGGREGATES_WITHOUT_SUMS,
        _ => AGGREGATES,
    };
    let evidence = if format < FORMAT_OF_EVIDENCE { NO_EVIDENCE } else { EVIDENCE };
    [COMMON, aggregates, evidence].concat()
}

/// The tables of minutes and roll-ups. The checksum stands before the cells, so that reading it needs none of their pages.
const AGGREGATES: &str = "
CREATE TABLE chunk (minute INTEGER NOT NULL, windows INTEGER NOT NULL, block INTEGER NOT NULL, part INTEGER NOT NULL,
    crc32 INTEGER NOT NULL, cells BLOB NOT NULL, PRIMARY KEY (minute, windows, block, part));
CREATE TABLE rollup (windows INTEGER NOT NULL, number INTEGER NOT NULL, block INTEGER NOT NULL, part INTEGER NOT NULL,
    crc32 INTEGER NOT NULL, cells BLOB NOT NULL, PRIMARY KEY (windows, number, block, part));
";

/// The same in formats without checksums.
const AGGREGATES_WITHOUT_SUMS: &str = "
CREATE TABLE chunk (minute INTEGER NOT NULL, windows INTEGER NOT NULL, block INTEGER NOT NULL, part INTEGER NOT NULL,
    cells BLOB NOT NULL, PRIMARY KEY (minute, windows, block, part));
CREATE TABLE rollup (windows INTEGER NOT NULL, number INTEGER NOT NULL, block INTEGER NOT NULL, part INTEGER NOT NULL,
    cells BLOB NOT NULL, PRIMARY KEY (windows, number, block, part));
";

/// The same in the first format.
const AGGREGATES_OF_CELLS: &str = "
CREATE TABLE chunk (minute INTEGER NOT NULL, series INTEGER NOT NULL, seconds BLOB NOT NULL, tens BLOB NOT NULL,
    PRIMARY KEY (minute, series));
CREATE TABLE rollup (windows INTEGER NOT NULL, number INTEGER NOT NULL, series INTEGER NOT NULL, cell BLOB NOT NULL,
    PRIMARY KEY (windows, number, series));
";

/// The tables of evidence beside signals.
const EVIDENCE: &str = "
CREATE TABLE record (id INTEGER PRIMARY KEY, source TEXT NOT NULL, kind TEXT NOT NULL, at_ns INTEGER NOT NULL,
    subject TEXT NOT NULL, fields TEXT NOT NULL);
CREATE TABLE gap (id INTEGER PRIMARY KEY, source TEXT NOT NULL, from_ns INTEGER NOT NULL, to_ns INTEGER NOT NULL,
    reason TEXT NOT NULL);
CREATE TABLE trace (trace_id BLOB PRIMARY KEY NOT NULL, kept TEXT NOT NULL, share REAL, service TEXT NOT NULL,
    operation TEXT NOT NULL, start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, errors INTEGER NOT NULL,
    spans INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE span (trace_id BLOB NOT NULL, span_id BLOB NOT NULL, parent_id BLOB, kind TEXT NOT NULL,
    service TEXT NOT NULL, operation TEXT NOT NULL, start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL,
    status TEXT NOT NULL, attributes TEXT NOT NULL, links TEXT NOT NULL, PRIMARY KEY (trace_id, span_id))
    WITHOUT ROWID;
CREATE TABLE operation_load (ten INTEGER NOT NULL, service TEXT NOT NULL, operation TEXT NOT NULL, kind TEXT NOT NULL,
    part INTEGER NOT NULL, errors INTEGER NOT NULL, durations BLOB NOT NULL,
    PRIMARY KEY (ten, service, operation, kind, part)) WITHOUT ROWID;
";

/// The same in formats that could not hold any.
const NO_EVIDENCE: &str = "
CREATE TABLE span (trace_id BLOB NOT NULL, span_id BLOB NOT NULL, parent_id BLOB, service TEXT NOT NULL,
    operation TEXT NOT NULL, start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, status TEXT NOT NULL,
    attributes TEXT NOT NULL, PRIMARY KEY (trace_id, span_id)) WITHOUT ROWID;
";

/// The tables that every format has.
const COMMON: &str = "
CREATE TABLE run (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE ending (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE module (id INTEGER PRIMARY KEY, path TEXT NOT NULL, sha256 TEXT NOT NULL, text BLOB NOT NULL);
CREATE TABLE environment (id INTEGER PRIMARY KEY, name TEXT NOT NULL, value TEXT);
CREATE TABLE metric (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, contains TEXT NOT NULL);
CREATE TABLE tag_set (id INTEGER PRIMARY KEY, tags TEXT NOT NULL);
CREATE TABLE series (id INTEGER PRIMARY KEY, metric INTEGER NOT NULL, tag_set INTEGER NOT NULL);
CREATE TABLE windows (id INTEGER PRIMARY KEY, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL);
CREATE TABLE anchor (at_ns INTEGER PRIMARY KEY, wall_ns INTEGER NOT NULL);
CREATE TABLE tail (window INTEGER NOT NULL, part INTEGER NOT NULL, cells BLOB NOT NULL, PRIMARY KEY (window, part));
CREATE TABLE rolled (windows INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (windows, number)) WITHOUT ROWID;
CREATE TABLE load (window INTEGER NOT NULL, scenario INTEGER NOT NULL, work TEXT NOT NULL, started INTEGER NOT NULL,
    finished INTEGER NOT NULL, in_flight_ns INTEGER NOT NULL, PRIMARY KEY (window, scenario, work)) WITHOUT ROWID;
CREATE TABLE error (id INTEGER PRIMARY KEY, code INTEGER NOT NULL, message TEXT NOT NULL, tag_set INTEGER NOT NULL,
    example TEXT NOT NULL);
CREATE TABLE error_count (window INTEGER NOT NULL, error INTEGER NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (window, error)) WITHOUT ROWID;
CREATE TABLE exemplar (id INTEGER PRIMARY KEY, window INTEGER NOT NULL, kind TEXT NOT NULL, metric INTEGER NOT NULL,
    tag_set INTEGER NOT NULL, at_ns INTEGER NOT NULL, value REAL, mark TEXT NOT NULL, trace_id BLOB, metadata TEXT);
CREATE INDEX exemplar_window ON exemplar (window);
CREATE TABLE threshold (id INTEGER PRIMARY KEY, selector TEXT NOT NULL, source TEXT NOT NULL, bound REAL);
CREATE TABLE threshold_result (at_ns INTEGER NOT NULL, threshold INTEGER NOT NULL, ok INTEGER NOT NULL,
    observed TEXT NOT NULL, value REAL, PRIMARY KEY (at_ns, threshold)) WITHOUT ROWID;
CREATE TABLE log (id INTEGER PRIMARY KEY, at_ns INTEGER NOT NULL, level TEXT NOT NULL, source TEXT NOT NULL,
    message TEXT NOT NULL, fields TEXT NOT NULL);
CREATE TABLE event (id INTEGER PRIMARY KEY, at_ns INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE note (id INTEGER PRIMARY KEY, wall_ns INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE signal (id INTEGER PRIMARY KEY, source TEXT NOT NULL, name TEXT NOT NULL, labels TEXT NOT NULL,
    unit TEXT NOT NULL, query TEXT NOT NULL, step_ns INTEGER NOT NULL, points BLOB NOT NULL);
";

/// Names and definitions of everything in a database, in one order.
pub(crate) fn definitions(connection: &Connection) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let mut statement = connection.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name, sql")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// The result of [`definitions`] for a file of ours.
pub(crate) fn expected(format: i64) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(&tables(format))?;
    definitions(&connection)
}
