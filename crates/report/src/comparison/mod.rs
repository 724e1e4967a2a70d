//! A comparison of runs, for people and for programs: whether the runs may be compared, their steady parts, a row for each
//! figure, and a closing sentence.

mod evidence;
pub mod json;
mod many;
mod markdown;
mod sentences;
mod sides;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod words;

use analysis::compare::{Comparison, EvidenceComparison, Options, Row, Verdict};

pub use many::{json as many_json, markdown as many_markdown, text as many_text};
pub use markdown::render as markdown;
pub(crate) use markdown::{closing, section};
pub use sides::sides;
pub use text::{levels, render as text};
pub use words::{EvidenceWords, RowWords, Words, words};

/// A comparison with the names of what was compared.
#[derive(Clone, Debug)]
pub struct ComparisonReport {
    /// The runs of the first side, in the order of [`Comparison::steady_a`].
    pub a: Vec<ComparedRun>,
    /// The runs of the second side.
    pub b: Vec<ComparedRun>,
    /// The letter of the second side among those that are compared with the first, `B` for a single one.
    pub letter_b: char,
    /// The options.
    pub options: Options,
    /// The result.
    pub comparison: Comparison,
    /// Evidence of the servers of both sides.
    pub evidence: EvidenceComparison,
    /// Endpoints that were not compared, because there were too many.
    pub endpoints_left_out: usize,
}

/// Which run it is. Texts that are not known are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparedRun {
    /// The run's id.
    pub id: String,
    /// The name its owner gave it.
    pub name: String,
    /// The script as it was named.
    pub script: String,
    /// The start by the wall clock, nanoseconds since the Unix epoch.
    pub started_unix_ns: i64,
    /// The version of what was tested.
    pub target_version: String,
    /// How many seconds under load there are.
    pub seconds: usize,
}

/// How many rows have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    regressed: usize,
    improved: usize,
    equivalent: usize,
    inconclusive: usize,
    not_available: usize,
}

impl Tally {
    fn count<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Tally {
        let mut tally = Tally::default();
        for row in rows {
            *match row.verdict {
                Verdict::Regressed => &mut tally.regressed,
                Verdict::Improved => &mut tally.improved,
                Verdict::Equivalent => &mut tally.equivalent,
                Verdict::Inconclusive(_) => &mut tally.inconclusive,
                Verdict::NotAvailable(_) => &mut tally.not_available,
            } += 1;
        }
        tally
    }

    /// All rows in a word.
    fn verdict(self) -> &'static str {
        match self {
            Tally { regressed: 1.., .. } => "regressed",
            Tally { improved: 1.., .. } => "improved",
            Tally { inconclusive: 0, equivalent: 1.., .. } => "equivalent",
            _ => "inconclusive",
        }
    }
}

impl ComparisonReport {
    /// The regression with the largest ratio.
    fn worst(&self) -> Option<&Row> {
        let size = |row: &&Row| row.ratio.as_ref().map_or(0.0, |ratio| ratio.ratio.ln().abs());
        let regressed = self.comparison.rows.iter().filter(|row| row.verdict == Verdict::Regressed);
        regressed.max_by(|a, b| size(a).total_cmp(&size(b)))
    }
}

/// Whether a row says that something changed.
fn is_change(row: &Row) -> bool {
    matches!(row.verdict, Verdict::Regressed | Verdict::Improved)
}

/// The rows to show, in order of importance, and how many are hidden: those that repeat others, and beyond `rows_max` all.
fn shown(comparison: &Comparison, rows_max: usize) -> (Vec<&Row>, usize) {
    let places = comparison.important_rows().into_iter().take(rows_max);
    let shown: Vec<&Row> = places.map(|place| &comparison.rows[place]).collect();
    let hidden = comparison.rows.len() - shown.len();
    (shown, hidden)
}
