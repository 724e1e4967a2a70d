//! The end-of-test summary: as text in k6's three layouts, and as the JSON that scripts and other programs read.

mod checks;
mod from_view;
mod input;
mod json;
mod layout;
mod legacy;
mod table;
mod thresholds;

pub use from_view::SummaryFacts;
pub use input::{
    CheckSummary, GroupSummary, MetricSummary, ScenarioSummary, Statistic, SummaryInput, ThresholdSummary,
    Values,
};
pub use json::{RunFacts, export, group, handle_summary_data, machine_summary};

pub(crate) use layout::{is_shown, section_of, sorted};
pub(crate) use table::{note, share, statistic_text};

use model::Grade;
use model::plan::{Compat, TimeUnit};

use crate::style::{GREEN, RED, YELLOW};
use crate::{Lang, Style};

/// Which rows are shown, and how they are arranged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// k6 v2's default: thresholds, totals, sections of metrics.
    #[default]
    Compact,
    /// Compact with every metric, and a part for each scenario and group.
    Full,
    /// As k6 before v2: the tree of checks, then all metrics by name.
    Legacy,
}

impl Layout {
    /// The layout with k6's name.
    pub fn parse(name: &str) -> Option<Layout> {
        Some(match name {
            "compact" => Layout::Compact,
            "full" => Layout::Full,
            "legacy" => Layout::Legacy,
            _ => return None,
        })
    }
}

/// How to render a summary.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Rows and arrangement.
    pub layout: Layout,
    /// Colours and glyphs.
    pub style: Style,
    /// One unit for all times; `None` chooses by value.
    pub time_unit: Option<TimeUnit>,
    /// Under [`Compat::Strict`], exactly k6's rows.
    pub compat: Compat,
}

impl Default for Options {
    fn default() -> Self {
        Options { layout: Layout::default(), style: Style::PLAIN, time_unit: None, compat: Compat::default() }
    }
}

/// The summary as text, between an empty line before it and one after it.
pub fn render(input: &SummaryInput, options: &Options) -> String {
    let text = match options.layout {
        Layout::Legacy => legacy::render(input, options),
        Layout::Compact | Layout::Full => layout::render(input, options),
    };
    let validity = validity_line(input, options);
    options.style.fit(format!("\n{validity}{}\n\n", text.trim_matches('\n')))
}

/// The first line: what the numbers below it are worth. k6 says no such thing.
fn validity_line(input: &SummaryInput, options: &Options) -> String {
    let Some(validity) = input.validity.as_ref().filter(|_| options.compat == Compat::Honest) else {
        return String::new();
    };
    let colour = match validity.grade {
        Grade::Valid => GREEN,
        Grade::Unmeasured | Grade::Degraded => YELLOW,
        Grade::Invalid => RED,
    };
    format!("  {}\n\n", options.style.paint(colour, &crate::validity::headline(validity, Lang::En)))
}

#[cfg(test)]
mod tests;
