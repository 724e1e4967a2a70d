//! A table as somebody wrote it down: names of columns and rows of text.

/// A table. Rows may be shorter or longer than the columns; what is missing is empty, and what is beyond is nobody's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What it was called: a file's name, a heading.
    pub name: String,
    /// The kind of table that its author said it is, if any.
    pub kind: Option<String>,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}
