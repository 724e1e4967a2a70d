//! A table of text: column names and rows, as written in its source.

/// A table. Rows may be shorter or longer than the columns; missing cells are empty, and cells beyond the columns are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Its title: a file's name, a heading.
    pub name: String,
    /// The kind of table that its author said it is, if any.
    pub kind: Option<String>,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}
