//! Limits of a table, and counts of what was left out because of them.

use model::Table;

/// Rows of all tables of a text together.
pub const ROWS_MAX: usize = 100_000;
/// Columns of a table.
pub const COLUMNS_MAX: usize = 256;
/// Characters of a cell or a name; figures are shorter.
pub const CELL_CHARS_MAX: usize = 1_024;
/// Tables of a text.
pub const TABLES_MAX: usize = 1_000;

/// Counts of what did not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Cells that were cut, or that held something else than a text or a number.
    pub cells: u64,
    /// Columns that were left out.
    pub columns: u64,
    /// Rows that were left out.
    pub rows: u64,
    /// Tables that were left out.
    pub tables: u64,
}

impl Cost {
    /// Describes the effect of limits; `None` if there is none.
    pub fn describe(&self) -> Option<String> {
        let parts =
            [(self.tables, "tables"), (self.rows, "rows"), (self.columns, "columns"), (self.cells, "cells")];
        let parts: Vec<String> =
            parts.iter().filter(|part| part.0 > 0).map(|(count, what)| format!("{count} {what}")).collect();
        (!parts.is_empty()).then(|| format!("truncated or omitted because of limits: {}", parts.join(", ")))
    }
}

/// Collects tables within the limits.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    tables: Vec<Table>,
    rows: usize,
    cost: Cost,
}

impl Collector {
    /// Begins a table; its rows follow. `false` if there are too many tables already.
    pub(crate) fn begin(
        &mut self,
        name: &str,
        kind: Option<String>,
        columns: impl IntoIterator<Item = String>,
    ) -> bool {
        if self.tables.len() >= TABLES_MAX {
            self.cost.tables += 1;
            return false;
        }
        let (name, columns) = (self.cell(name), self.cells(columns));
        self.tables.push(Table { name, kind, columns, rows: Vec::new() });
        true
    }

    /// Adds a row to the table that was begun last.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        if self.rows >= ROWS_MAX {
            self.cost.rows += 1;
            return;
        }
        let cells = self.cells(cells);
        if let Some(table) = self.tables.last_mut() {
            table.rows.push(cells);
            self.rows += 1;
        }
    }

    /// Counts a cell that cannot be shown.
    pub(crate) fn lose_cell(&mut self) {
        self.cost.cells += 1;
    }

    pub(crate) fn finish(self) -> crate::Read {
        crate::Read { tables: self.tables, cost: self.cost }
    }

    fn cells(&mut self, cells: impl IntoIterator<Item = String>) -> Vec<String> {
        let mut cells = cells.into_iter();
        let kept: Vec<String> = cells.by_ref().take(COLUMNS_MAX).map(|text| self.cell(&text)).collect();
        self.cost.columns += cells.count() as u64;
        kept
    }

    fn cell(&mut self, text: &str) -> String {
        let (kept, is_cut) = cut(text.trim());
        self.cost.cells += u64::from(is_cut);
        kept
    }
}

/// At most [`CELL_CHARS_MAX`] characters, and whether that was less than all.
pub(crate) fn cut(text: &str) -> (String, bool) {
    match text.char_indices().nth(CELL_CHARS_MAX) {
        Some((end, _)) => (text[..end].to_owned(), true),
        None => (text.to_owned(), false),
    }
}
