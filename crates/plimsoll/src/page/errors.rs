//! `/errors`: what went wrong, how often and when.

use std::collections::HashMap;

use api::page::{ErrorRow, Errors, Fact};
use model::ErrorCount;
use server::PageError;

use super::scope::Scope;
use super::values::{self, FigureTotals};
use super::{damaged, json};

/// Parts of the time that errors are counted in.
const PARTS: u32 = 60;

/// Errors that are told one by one.
const ERRORS_MAX: usize = 1_000;

/// An error over time.
struct Spread {
    first: u32,
    last: u32,
    shape: Vec<u64>,
}

pub(super) fn answer(scope: &Scope) -> Result<String, PageError> {
    let (window, _) = scope.sum()?;
    // An empty message stands for everything beyond the distinct ones that were kept.
    let (mut distinct, beyond): (Vec<_>, Vec<_>) =
        window.errors.iter().partition(|error| !error.message.is_empty());
    // In the order of the report; what is left out is then what there was least of.
    distinct.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.message.cmp(&b.message)));
    let total: u64 = window.errors.iter().map(|error| error.count).sum();
    let mut spreads = spreads(scope)?;
    let row = |error: &&ErrorCount| {
        let spread = spreads.remove(&(error.code, error.message.to_string()));
        row(scope, error, total, spread)
    };
    let errors = distinct.iter().take(ERRORS_MAX).map(row).collect();
    let left_out: u64 = distinct.iter().skip(ERRORS_MAX).map(|error| error.count).sum();
    let report = report::json::document_in(&scope.document()?, scope.lang);
    json(&Errors {
        total,
        requests: FigureTotals::of(window).requests(),
        errors,
        beyond: left_out + beyond.iter().map(|error| error.count).sum::<u64>(),
        exemplars: report.exemplars.into_iter().filter(|one| one.kind == "failed").collect(),
    })
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

/// When each error was, by its code and message.
fn spreads(scope: &Scope) -> Result<HashMap<(u16, String), Spread>, PageError> {
    let windows = (scope.range.len() as u32).max(1);
    let parts = windows.min(PARTS);
    let part = |window: u32| u64::from(window - scope.range.start) * u64::from(parts) / u64::from(windows);
    let mut spreads: HashMap<(u16, String), Spread> = HashMap::new();
    for (window, error) in scope.reader.errors_of(scope.range.clone()).map_err(damaged)? {
        let spread = spreads.entry((error.code, error.message.to_string())).or_insert_with(|| Spread {
            first: window,
            last: window,
            shape: vec![0; parts as usize],
        });
        spread.last = window;
        if let Some(count) = spread.shape.get_mut(part(window) as usize) {
            *count += error.count;
        }
    }
    Ok(spreads)
}
