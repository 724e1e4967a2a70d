//! `/errors`: errors by kind, count and time.

use std::collections::HashMap;
use std::sync::Arc;

use api::page::{ErrorRow, Errors, Fact};
use api::report::ReportExemplar;
use model::{ErrorCount, TagSetId};
use server::PageError;

use super::scope::Scope;
use super::values::{self, FigureTotals};
use super::{add, damaged, json, total};

/// Number of time slots in which errors are counted.
const PARTS: u32 = 60;

/// Maximum number of errors listed separately.
const ERRORS_MAX: usize = 1_000;

/// Occurrences of an error over time.
struct Spread {
    first: u32,
    last: u32,
    shape: Vec<u64>,
}

pub(super) fn answer(scope: &Scope) -> Result<String, PageError> {
    let (window, _) = scope.sum()?;
    // An empty message stands for all errors beyond the distinct ones that were kept.
    let (mut distinct, beyond): (Vec<_>, Vec<_>) =
        window.errors.iter().partition(|error| !error.message.is_empty());
    // In the order of the report, so that the least frequent errors are cut.
    distinct.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.message.cmp(&b.message)));
    let total = total(window.errors.iter().map(|error| error.count));
    let mut spreads = spreads(scope)?;
    let row = |error: &&ErrorCount| {
        let spread = spreads.remove(&key(error));
        row(scope, error, total, spread)
    };
    let errors = distinct.iter().take(ERRORS_MAX).map(row).collect();
    let left_out = distinct.iter().skip(ERRORS_MAX).chain(&beyond).map(|error| error.count);
    json(&Errors {
        total,
        requests: FigureTotals::from_window(window).requests(),
        errors,
        beyond: super::total(left_out),
        exemplars: exemplars(report::json::exemplars(scope.document()?)),
    })
}

/// Returns failed exemplars first, then the slowest.
fn exemplars(all: Vec<ReportExemplar>) -> Vec<ReportExemplar> {
    let (mut failed, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| one.kind == "failed");
    failed.extend(others);
    failed
}

fn row(scope: &Scope, error: &ErrorCount, total: u64, spread: Option<Spread>) -> ErrorRow {
    let set = scope.reader.tags().get(error.tags);
    let fact = |(name, value): (&str, &str)| Fact { name: name.to_owned(), value: value.to_owned() };
    let spread =
        spread.unwrap_or(Spread { first: scope.range.start, last: scope.range.start, shape: Vec::new() });
    ErrorRow {
        code: error.code,
        message: error.message.to_string(),
        count: error.count,
        share: values::share(error.count as f64 / total.max(1) as f64),
        example: error.example.to_string(),
        tags: set.iter().map(fact).collect(),
        first: scope.second(spread.first),
        last: scope.second(spread.last),
        shape: spread.shape,
    }
}

/// The key of an error: code, message and tag set.
type Key = (u16, Arc<str>, TagSetId);

fn key(error: &ErrorCount) -> Key {
    (error.code, error.message.clone(), error.tags)
}

/// Counts each error per time slot.
fn spreads(scope: &Scope) -> Result<HashMap<Key, Spread>, PageError> {
    let windows = (scope.range.len() as u32).max(1);
    let parts = windows.min(PARTS);
    let part = |window: u32| u64::from(window - scope.range.start) * u64::from(parts) / u64::from(windows);
    let mut spreads: HashMap<Key, Spread> = HashMap::new();
    for (window, error) in scope.reader.errors_of(scope.range.clone()).map_err(damaged)? {
        let spread = spreads.entry(key(&error)).or_insert_with(|| Spread {
            first: window,
            last: window,
            shape: vec![0; parts as usize],
        });
        spread.last = window;
        if let Some(count) = spread.shape.get_mut(part(window) as usize) {
            add(count, error.count);
        }
    }
    Ok(spreads)
}
