//! Tables for tests, written as they come.

use model::{Finding, Table};
use tables::Format;

use super::gather::{Remarks, gather};
use super::kinds::Facts;

/// The table of a CSV text.
#[track_caller]
pub(crate) fn table(text: &str) -> Table {
    let mut read = tables::read("test", text, Format::Csv).expect("a table");
    read.tables.remove(0)
}

/// The facts of CSV texts, all of which are understood.
#[track_caller]
pub(crate) fn facts(texts: &[&str]) -> Facts {
    let (mut facts, mut remarks) = (Facts::default(), Remarks::default());
    let tables: Vec<Table> = texts.iter().map(|text| table(text)).collect();
    gather(&tables, &mut facts, &mut remarks);
    assert_eq!(remarks, Remarks::default(), "{texts:?}");
    facts
}

/// Whether a rule fires on a CSV text, and that what it then says is whole.
#[track_caller]
pub(crate) fn check(judge: fn(&Facts) -> Vec<Finding>, text: &str, expect: bool) {
    let found = judge(&facts(&[text]));
    assert_eq!(!found.is_empty(), expect, "{text}: {found:?}");
    for finding in found {
        assert!(!finding.evidence.is_empty() && !finding.place.is_empty(), "{finding:?}");
    }
}
