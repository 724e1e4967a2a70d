//! `/runs/{id}/report`: the whole report on a run as blocks of text, in reading order.

use serde::Serialize;

/// A report on a run: the same chapters as in the Markdown report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportDocument {
    /// The objective whose metric is drawn over time; null where the script has none on a time.
    pub objective: Option<ReportObjective>,
    /// The verdict, the run's identity and its caveats.
    pub head: Vec<ReportBlock>,
    /// The chapters. The first is the summary.
    pub chapters: Vec<ReportChapter>,
    /// Names what was left out, and how to read the numbers.
    pub foot: Vec<ReportBlock>,
}

/// The metric of an objective, as parameters of `/runs/{id}/series`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportObjective {
    /// The parameter `metric`.
    pub metric: String,
    /// The parameter `tags`; empty for all of the metric.
    pub tags: String,
}

/// A chapter of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportChapter {
    /// Its number; 0 for the summary, which is shown without.
    pub number: usize,
    /// Its title.
    pub title: String,
    /// Its sections, in order.
    pub sections: Vec<ReportSection>,
}

/// A section of a chapter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportSection {
    /// Its title; empty where it has the chapter's.
    pub title: String,
    /// Whether it holds details that a first reading skips.
    pub is_detail: bool,
    /// Its text.
    pub blocks: Vec<ReportBlock>,
}

/// A block of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum ReportBlock {
    /// The title of a part of a section.
    Heading {
        /// Its text.
        text: Vec<ReportSpan>,
    },
    /// A paragraph.
    Paragraph {
        /// Its text.
        text: Vec<ReportSpan>,
    },
    /// An unordered list.
    List {
        /// The text of each item.
        items: Vec<Vec<ReportSpan>>,
    },
    /// A remark to be careful about.
    Remark {
        /// Its text.
        blocks: Vec<ReportBlock>,
    },
    /// Lines to be copied.
    Lines {
        /// The lines, separated by line breaks.
        lines: String,
    },
    /// A table.
    Table {
        /// The titles of its columns.
        columns: Vec<ReportColumn>,
        /// The cells of each row, one for each column.
        rows: Vec<Vec<Vec<ReportSpan>>>,
    },
}

/// The title of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportColumn {
    /// Its text.
    pub text: Vec<ReportSpan>,
    /// Whether it holds numbers, which are aligned to the right.
    pub is_number: bool,
}

/// A piece of text in one style.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportSpan {
    /// The text. It may quote scripts and servers.
    pub text: String,
    /// `plain`, `code`, `strong`, `emphasis`.
    #[cfg_attr(test, schemars(with = "crate::closed::SpanStyle"))]
    pub style: &'static str,
}
