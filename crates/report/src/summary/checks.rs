//! Checks: totals, and each that did not always hold with its share.

use std::time::Duration;

use crate::escape;
use crate::number;
use crate::style::{GREEN, RED};

use super::table::{Palette, Row, Widths, share};
use super::{CheckSummary, Options};

/// `checks_total`, `checks_succeeded` and `checks_failed`, indented.
pub(super) fn totals(
    passes: u64,
    fails: u64,
    run_duration: Duration,
    indent: usize,
    options: &Options,
    palette: &Palette,
) -> Vec<String> {
    let total = passes + fails;
    let seconds = run_duration.as_secs_f64();
    let rate = if seconds > 0.0 { total as f64 / seconds } else { 0.0 };
    let rows = [
        Row::plain("checks_total", total.to_string(), format!("{}/s", number::plain(rate))),
        Row::plain("checks_succeeded", share(passes, total), format!("{passes} out of {total}")),
        Row::plain("checks_failed", share(fails, total), format!("{fails} out of {total}")),
    ];
    let widths = Widths::measure(&rows);
    rows.iter()
        .map(|row| format!("{}{}", " ".repeat(indent), row.render(&widths, options, palette)))
        .collect()
}

/// Each check as its lines: one, and a second one with the share where it did not always hold.
pub(super) fn lines(check: &CheckSummary) -> (String, Option<String>) {
    let name = escape::terminal(&check.name);
    if check.fails == 0 {
        return (format!("✓ {name}"), None);
    }
    let total = check.passes + check.fails;
    let percent = 100 * u128::from(check.passes) / u128::from(total);
    let detail = format!("↳  {percent}% — ✓ {} / ✗ {}", check.passes, check.fails);
    (format!("✗ {name}"), Some(detail))
}

/// The colour of a check.
pub(super) fn colour(check: &CheckSummary) -> &'static str {
    if check.fails == 0 { GREEN } else { RED }
}
