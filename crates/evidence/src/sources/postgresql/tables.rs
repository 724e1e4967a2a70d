//! Sequential scans of tables, from `pg_stat_user_tables`.

use model::SignalId;
use tokio_postgres::SimpleQueryRow;

use super::MARK;
use super::database::{number, text};
use crate::answer::{Answer, Counters, FirstSeen, SignalQuery};

/// Maximum number of tables per query, those with the most rows read so far, and of tables with series of their own.
const TABLES_MAX: usize = 20;
const TABLES_TOLD_MAX: usize = 50;

const SCANS: SignalQuery = SignalQuery::new(SignalId::TableScans, "pg_stat_user_tables: seq_scan");
const ROWS: SignalQuery = SignalQuery::new(SignalId::TableRowsScanned, "pg_stat_user_tables: seq_tup_read");

/// The tables of a database with series of their own.
#[derive(Debug)]
pub(super) struct Tables {
    few: FirstSeen,
}

/// Returns the query for the tables with sequential scans.
pub(super) fn sql() -> String {
    format!(
        "SELECT {MARK} schemaname || '.' || relname, seq_scan, seq_tup_read FROM pg_stat_user_tables \
         ORDER BY seq_tup_read DESC NULLS LAST, 1 LIMIT {TABLES_MAX}"
    )
}

impl Tables {
    pub(super) fn new() -> Tables {
        Tables { few: FirstSeen::new(TABLES_TOLD_MAX) }
    }

    /// Reports the rows of [`sql`] as increases since the previous answer.
    pub(super) fn add_to(&mut self, answer: &mut Answer, counters: &mut Counters, rows: &[SimpleQueryRow]) {
        for row in rows {
            let table = text(row, 0);
            let table = table.strip_prefix("public.").unwrap_or(table);
            if !self.few.has(table) {
                continue;
            }
            for (column, what) in [(1, &SCANS), (2, &ROWS)] {
                let Some(count) = number(row, column) else { continue };
                let rate = counters.rate(&format!("{} {table}", what.signal.as_str()), count);
                rate.into_iter().for_each(|rate| answer.number(what, &[("table", table)], rate));
            }
        }
    }
}
