//! How much load a system bears: a study on a terminal, and as JSON for programs and for the page.

mod document;
mod remark;
pub(crate) mod sentences;
mod text;

use model::capacity::Capacity;

pub use document::{document, json};
pub use text::{LevelLine, level_line, level_name, text};

/// Levels of load that were measured in order to be looked at together.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyReport {
    /// Its name; empty for a table.
    pub name: String,
    /// Who chose its loads.
    pub kind: StudyKind,
    /// The script as it was named, or the table.
    pub script: String,
    /// The time under load that its levels took together, in seconds.
    pub load_s: f64,
    /// One for each variant of the target, in the order in which they were measured first.
    pub parts: Vec<Capacity>,
}

/// Origin of the loads of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StudyKind {
    /// A list of loads that the user chose.
    Sweep,
    /// A search.
    Capacity,
    /// A table of results.
    Table,
}

impl StudyKind {
    /// Its word for machines.
    pub const fn as_str(self) -> &'static str {
        match self {
            StudyKind::Sweep => "sweep",
            StudyKind::Capacity => "capacity",
            StudyKind::Table => "table",
        }
    }

    /// The kind of this word; what is none is a sweep.
    pub fn named(word: &str) -> StudyKind {
        let all = [StudyKind::Sweep, StudyKind::Capacity, StudyKind::Table];
        all.into_iter().find(|kind| kind.as_str() == word).unwrap_or(StudyKind::Sweep)
    }
}

#[cfg(test)]
mod tests;
