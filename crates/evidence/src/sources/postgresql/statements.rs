//! Time per statement: the difference of two readings of `pg_stat_statements`.

use std::collections::HashMap;

use tokio_postgres::SimpleQueryRow;

use super::MARK;
use super::database::{number, text};
use crate::answer::{Fields, fields};

/// Maximum number of statements.
pub(super) const STATEMENTS_MAX: usize = 50;

/// Maximum number of statements compared, the slowest. A statement that is not among them took less than these.
const COMPARED_MAX: usize = 20_000;

/// Maximum length of a statement's text.
const TEXT_CHARS_MAX: usize = 2_000;

/// A statement: its database and its `queryid`, over all users.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Statement {
    pub(super) database: String,
    pub(super) queryid: String,
}

/// Totals of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    pub(super) calls: f64,
    pub(super) total_ms: f64,
    pub(super) rows: f64,
    pub(super) blocks_hit: f64,
    pub(super) blocks_read: f64,
    pub(super) temp_blocks: f64,
    pub(super) is_own: bool,
}

pub(super) type Looked = HashMap<Statement, Counts>;

/// Returns the query for all counters. The view has these columns since version 1.8, that of PostgreSQL 13.
pub(super) fn counts_sql(schema: &str) -> String {
    format!(
        "SELECT {MARK} dbid, queryid, sum(calls), sum(total_exec_time), sum(rows), sum(shared_blks_hit), \
         sum(shared_blks_read), sum(temp_blks_read + temp_blks_written), bool_or(query LIKE '%{MARK}%')::text \
         FROM {schema}.pg_stat_statements WHERE queryid IS NOT NULL GROUP BY 1, 2 ORDER BY 4 DESC LIMIT {COMPARED_MAX}"
    )
}

/// Returns the query for the texts of these statements and the names of their databases.
pub(super) fn texts_sql<'a>(schema: &str, statements: impl Iterator<Item = &'a Statement>) -> String {
    // Only integers: query ids are the server's numbers, and any other text must not enter a query.
    let numbers = statements.filter_map(|statement| statement.queryid.parse::<i64>().ok());
    let list = numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    format!(
        "SELECT {MARK} dbid, queryid, min(left(query, {TEXT_CHARS_MAX})), min(datname::text) \
         FROM {schema}.pg_stat_statements LEFT JOIN pg_database d ON d.oid = dbid \
         WHERE queryid IN ({list}) GROUP BY 1, 2 LIMIT {COMPARED_MAX}"
    )
}

/// Parses the rows of [`counts_sql`].
pub(super) fn looked(rows: &[SimpleQueryRow]) -> Looked {
    rows.iter().map(|row| (statement(row), counts(row))).collect()
}

/// Parses the rows of [`texts_sql`]: statements with their texts and database names.
pub(super) fn texts(rows: &[SimpleQueryRow]) -> HashMap<Statement, (String, String)> {
    rows.iter()
        .map(|row| (statement(row), (without_literals(text(row, 2)), text(row, 3).to_owned())))
        .collect()
}

/// Returns statements by time between two readings, the slowest first, and the total in milliseconds.
pub(super) fn taken(before: &Looked, now: &Looked) -> (Vec<(Statement, Counts)>, f64) {
    let since = |statement: &Statement, counts: &Counts| counts.since(before.get(statement));
    let others = now.iter().filter(|(_, counts)| !counts.is_own);
    let mut taken: Vec<(Statement, Counts)> =
        others.map(|(statement, counts)| (statement.clone(), since(statement, counts))).collect();
    taken.retain(|(_, counts)| counts.calls > 0.0);
    let total_ms = taken.iter().map(|(_, counts)| counts.total_ms).sum();
    taken.sort_by(|(_, one), (_, other)| other.total_ms.total_cmp(&one.total_ms));
    (taken, total_ms)
}

impl Counts {
    /// Returns the increase of the counters; after a reset, their values.
    fn since(&self, before: Option<&Counts>) -> Counts {
        let Some(before) = before.filter(|before| before.calls <= self.calls) else { return *self };
        Counts {
            calls: self.calls - before.calls,
            total_ms: (self.total_ms - before.total_ms).max(0.0),
            rows: (self.rows - before.rows).max(0.0),
            blocks_hit: (self.blocks_hit - before.blocks_hit).max(0.0),
            blocks_read: (self.blocks_read - before.blocks_read).max(0.0),
            temp_blocks: (self.temp_blocks - before.temp_blocks).max(0.0),
            is_own: self.is_own,
        }
    }

    /// Returns the fields of a record.
    pub(super) fn fields(&self, all_ms: f64) -> Fields {
        let share = if all_ms > 0.0 { self.total_ms / all_ms } else { 0.0 };
        fields([
            ("calls", self.calls.into()),
            ("total_ms", self.total_ms.into()),
            ("mean_ms", (self.total_ms / self.calls.max(1.0)).into()),
            ("share_of_db_time", share.into()),
            ("rows", self.rows.into()),
            ("blocks_hit", self.blocks_hit.into()),
            ("blocks_read", self.blocks_read.into()),
            ("temp_blocks", self.temp_blocks.into()),
        ])
    }
}

fn statement(row: &SimpleQueryRow) -> Statement {
    Statement { database: text(row, 0).to_owned(), queryid: text(row, 1).to_owned() }
}

fn counts(row: &SimpleQueryRow) -> Counts {
    let column = |column| number(row, column).unwrap_or_default();
    Counts {
        calls: column(2),
        total_ms: column(3),
        rows: column(4),
        blocks_hit: column(5),
        blocks_read: column(6),
        temp_blocks: column(7),
        is_own: text(row, 8) == "true",
    }
}

/// Returns a statement as one line without comments, with a question mark for every literal. The server replaces literals in most
/// statements, but not in utility statements such as `ALTER ROLE … PASSWORD '…'` (PostgreSQL documentation, F.30, and 4.1 for the
/// syntax of literals). A literal without an end hides all that follows.
pub(super) fn without_literals(sql: &str) -> String {
    let mut shown = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(letter) = rest.chars().next() {
        let dollar_quoted = if ends_in_word(&shown) { None } else { dollar_quoted(rest) };
        let (length, instead) = match letter {
            '\'' => (quoted(rest, has_escapes(&shown)), Some("?")),
            '$' if dollar_quoted.is_some() => (dollar_quoted.unwrap_or_default(), Some("?")),
            '-' if rest.starts_with("--") => (rest.find('\n').unwrap_or(rest.len()), Some(" ")),
            '/' if rest.starts_with("/*") => (comment(rest), Some(" ")),
            '"' => (rest[1..].find('"').map_or(rest.len(), |end| end + 2), None),
            letter if letter.is_whitespace() => (letter.len_utf8(), Some(" ")),
            letter => (letter.len_utf8(), None),
        };
        match instead {
            Some(" ") if shown.ends_with(' ') => {}
            Some(instead) => shown.push_str(instead),
            None => shown.push_str(&rest[..length]),
        }
        rest = &rest[length..];
    }
    shown.trim().to_owned()
}

/// Returns the length of a comment in bytes, nested ones included.
fn comment(sql: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < sql.len() {
        match &sql.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] if depth == 1 => return at + 2,
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    sql.len()
}

/// Returns the length of a single-quoted literal in bytes.
fn quoted(sql: &str, has_escapes: bool) -> usize {
    let bytes = sql.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if has_escapes => at += 2,
            b'\'' if bytes.get(at + 1) == Some(&b'\'') => at += 2,
            b'\'' => return at + 1,
            _ => at += 1,
        }
    }
    sql.len()
}

/// Returns the length of a dollar-quoted literal in bytes; `None` without a tag, as in `$1`.
fn dollar_quoted(sql: &str) -> Option<usize> {
    let length = sql.strip_prefix('$')?.find('$')? + 2;
    let tag = &sql[..length];
    let name = &tag[1..length - 1];
    let is_tag = name.chars().all(is_of_word) && !name.starts_with(|letter: char| letter.is_ascii_digit());
    is_tag.then(|| sql[length..].find(tag).map_or(sql.len(), |end| length + end + length))
}

/// Returns true if a literal that begins here is an `E'…'`.
fn has_escapes(before: &str) -> bool {
    let Some(before) = before.strip_suffix(['e', 'E']) else { return false };
    !ends_in_word(before)
}

fn ends_in_word(text: &str) -> bool {
    text.chars().next_back().is_some_and(|letter| is_of_word(letter) || letter == '$')
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(sql: &str, expect: &str) {
        assert_eq!(without_literals(sql), expect, "{sql}");
    }

    #[test]
    fn no_text_of_a_statement_is_shown() {
        check_text("SELECT  *\n FROM apps WHERE id = $1", "SELECT * FROM apps WHERE id = $1");
        check_text("ALTER ROLE app PASSWORD 'se''cret' VALID", "ALTER ROLE app PASSWORD ? VALID");
        check_text(r"SELECT E'it\'s secret' , 'C:\', x", "SELECT E? , ?, x");
        check_text("DO $body$ 'secret' $1 $body$; SELECT 1", "DO ?; SELECT 1");
        check_text("SELECT $$secret$$||$1", "SELECT ?||$1");
        check_text("COMMENT ON TABLE a$b$c IS 'é secret", "COMMENT ON TABLE a$b$c IS ?");
        check_text("SELECT $1, $2", "SELECT $1, $2");
        check_text("SELECT \"Ünï\" FROM t", "SELECT \"Ünï\" FROM t");
        check_text(
            "SELECT \"it's\", 'secret' -- don't\n, /* won't /* ' */ */ 'secret'",
            "SELECT \"it's\", ? , ?",
        );
        check_text("/* secret", "");
        check_text("'\\", "?");
        check_text("e'\\", "e?");
        check_text("$", "$");
        check_text("", "");
    }

    fn counts(calls: f64, total_ms: f64) -> Counts {
        Counts { calls, total_ms, rows: calls, ..Counts::default() }
    }

    fn named(queryid: &str) -> Statement {
        Statement { database: "5".to_owned(), queryid: queryid.to_owned() }
    }

    #[test]
    fn statements_are_ranked_by_what_they_took_meanwhile() {
        let before = Looked::from([
            (named("old"), counts(1000.0, 9000.0)),
            (named("busy"), counts(10.0, 50.0)),
            (named("reset"), counts(500.0, 5000.0)),
        ]);
        let own = Counts { is_own: true, ..counts(90.0, 900.0) };
        let now = Looked::from([
            (named("old"), counts(1000.0, 9000.0)),
            (named("busy"), counts(30.0, 350.0)),
            (named("reset"), counts(2.0, 40.0)),
            (named("new"), counts(1.0, 60.0)),
            (named("own"), own),
        ]);
        let (taken, total_ms) = taken(&before, &now);
        let ranked: Vec<(&str, f64, f64)> = taken
            .iter()
            .map(|(statement, counts)| (statement.queryid.as_str(), counts.calls, counts.total_ms))
            .collect();
        assert_eq!(ranked, [("busy", 20.0, 300.0), ("new", 1.0, 60.0), ("reset", 2.0, 40.0)]);
        assert_eq!(total_ms, 400.0);
        let evidence = taken[0].1.fields(total_ms);
        assert_eq!((&evidence["mean_ms"], &evidence["share_of_db_time"]), (&15.0.into(), &0.75.into()));
    }

    #[test]
    fn only_numbers_are_asked_for() {
        let asked = [named("-12"), named("1); DROP TABLE apps; --")];
        let sql = texts_sql("public", asked.iter());
        assert!(sql.contains("IN (-12)") && !sql.contains("DROP"), "{sql}");
    }
}
