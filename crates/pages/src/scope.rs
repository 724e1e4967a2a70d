//! A run, its selected range, and the results that several answers share.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use model::plan::TimeUnit;
use model::{GeneratorState, Instant, Validity, Window};
use report::{Lang, RunReport};
use runfile::{Reader, State};
use runs::Judged;
use runs::validity::StoredFacts;
use server::{PageError, Question};

use super::study::{PartStudy, Study};
use super::{damaged, failed, number};

/// The resolution of answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detail {
    /// Maximum number of points of a column.
    pub(super) points_max: u32,
    /// Maximum number of points of a histogram over time.
    pub(super) heat_max: u32,
}

impl Detail {
    /// For a served page, which can request more.
    pub(super) const SERVED: Detail = Detail { points_max: 1_500, heat_max: 400 };
    /// For a file, which must hold everything.
    pub(super) const INLINED: Detail = Detail { points_max: 600, heat_max: 100 };
}

/// A run and its selected range. Expensive results are computed on first use.
pub(super) struct Scope {
    pub(super) reader: Reader,
    pub(super) lang: Lang,
    pub(super) detail: Detail,
    /// All windows of the run.
    pub(super) all: Range<u32>,
    /// The selected windows.
    pub(super) range: Range<u32>,
    /// The start of the first window: t = 0.
    pub(super) zero: Instant,
    /// The cached results of the run.
    pub(super) study: Arc<Study>,
    part: Arc<PartStudy>,
}

impl Scope {
    /// Opens a run for a question; `study` holds its cached results.
    ///
    /// # Errors
    /// The file cannot be read, or the run has no such range.
    pub(super) fn open(
        path: &Path,
        question: &Question,
        detail: Detail,
        study: Arc<Study>,
    ) -> Result<Scope, PageError> {
        let reader = runs::open(path).map_err(failed)?;
        let all = reader.range().map_err(damaged)?;
        let range = part(&all, number(question, "from")?, number(question, "to")?)?;
        let first = reader.spans(all.start..all.start.saturating_add(1)).map_err(damaged)?;
        let zero = first.first().map_or(Instant::from_ns(reader.header().started_ns), |(_, span)| span.start);
        let lang = lang(question)?;
        let part = study.part(&range, reader.tags().len());
        Ok(Scope { reader, lang, detail, all, range, zero, study, part })
    }

    /// Returns true if the whole run is selected.
    pub(super) fn is_whole(&self) -> bool {
        self.range == self.all
    }

    /// Returns the selected range, or `None` for the whole run.
    pub(super) fn part(&self) -> Option<Range<u32>> {
        (!self.is_whole()).then(|| self.range.clone())
    }

    /// Returns the sum of the range and its length.
    ///
    /// # Errors
    /// The file is damaged.
    pub(super) fn sum(&self) -> Result<(&Window, Duration), PageError> {
        let (window, elapsed) = self.part.sum.get(|| match self.part() {
            None => runs::whole(&self.reader).map_err(failed),
            Some(range) => {
                let window = self.reader.sum(range).map_err(damaged)?;
                let length = window.end.since(window.start);
                Ok((window, length))
            }
        })?;
        Ok((window, *elapsed))
    }

    /// Returns the validity of the measurement.
    ///
    /// # Errors
    /// The file is damaged.
    pub(super) fn validity(&self) -> Result<&Validity, PageError> {
        Ok(&self.judged()?.0)
    }

    /// Returns the validity, and the requests per second in the busiest second.
    fn judged(&self) -> Result<&(Validity, Option<f64>), PageError> {
        let (window, _) = self.sum()?;
        self.part.judged.get(|| {
            let judge = |facts: &StoredFacts| (facts.judge(window), facts.busiest_per_s());
            let part = self.part();
            // Results of a run in progress are outdated at once, so only the range is read.
            if part.is_none() || self.reader.state() != State::Live {
                let all = self.study.facts.get(|| StoredFacts::of_all(&self.reader)).map_err(failed)?;
                let Some(range) = &part else { return Ok(judge(all)) };
                if let Some(facts) = all.part(window, range) {
                    return Ok(judge(&facts));
                }
            }
            StoredFacts::read_part(&self.reader, window, part).map(|facts| judge(&facts)).map_err(failed)
        })
    }

    /// Returns the document that reports are made of.
    ///
    /// # Errors
    /// The file is damaged.
    pub(super) fn document(&self) -> Result<&RunReport, PageError> {
        let (window, elapsed) = self.sum()?;
        let (validity, busiest_per_s) = self.judged()?;
        self.part.document.get(|| {
            let judged = Judged { validity: validity.clone(), busiest_per_s: *busiest_per_s };
            runs::document_judged(&self.reader, window, elapsed, self.part(), judged).map_err(failed)
        })
    }

    /// Returns the generator states of the whole run.
    ///
    /// # Errors
    /// The file is damaged.
    pub(super) fn states(&self) -> Result<&[GeneratorState], PageError> {
        self.study.states.get(|| self.reader.generator_states()).map(Vec::as_slice).map_err(damaged)
    }

    /// Returns the unit that all times are shown in, if the plan sets one.
    pub(super) fn time_unit(&self) -> Option<TimeUnit> {
        runs::time_unit(self.reader.header())
    }

    /// Converts an instant to seconds from the start of the run.
    pub(super) fn t(&self, at: Instant) -> f64 {
        (at.as_ns() as f64 - self.zero.as_ns() as f64) / 1e9
    }

    /// Converts a window's index to windows from the start of the run.
    pub(super) fn second(&self, window: u32) -> u32 {
        window.saturating_sub(self.all.start)
    }

    /// Returns the selected span in seconds; unbounded for the whole run.
    pub(super) fn span(&self) -> Result<Range<f64>, PageError> {
        if self.is_whole() {
            return Ok(f64::NEG_INFINITY..f64::INFINITY);
        }
        let (window, _) = self.sum()?;
        Ok(self.t(window.start)..self.t(window.end))
    }
}

/// Returns the windows from `from` to before `to`, both counted from the first window.
fn part(all: &Range<u32>, from: Option<u32>, to: Option<u32>) -> Result<Range<u32>, PageError> {
    let start = all.start.saturating_add(from.unwrap_or(0)).min(all.end);
    let end = to.map_or(all.end, |to| all.start.saturating_add(to).min(all.end));
    if start >= end && (from.is_some() || to.is_some()) {
        let text = format!("failed to find that part of the run: it has {} seconds", all.len());
        return Err(PageError::Invalid(text));
    }
    Ok(start..end)
}

fn lang(question: &Question) -> Result<Lang, PageError> {
    let Some(code) = question.get("lang") else { return Ok(Lang::En) };
    Lang::parse(code)
        .ok_or_else(|| PageError::Invalid(format!("failed to read lang={code:?}: write en or ko")))
}

/// Returns the language of a question, or the default if it names no known one.
pub(super) fn lang_of(question: &Question) -> Lang {
    lang(question).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(from: Option<u32>, to: Option<u32>, expect: Option<Range<u32>>) {
        assert_eq!(part(&(5..105), from, to).ok(), expect, "{from:?} {to:?}");
    }

    #[test]
    fn parts_are_counted_from_the_first_window() {
        check(None, None, Some(5..105));
        check(Some(10), None, Some(15..105));
        check(None, Some(10), Some(5..15));
        check(Some(90), Some(1000), Some(95..105));
        check(Some(100), None, None);
        check(Some(10), Some(10), None);
        check(Some(u32::MAX), Some(u32::MAX), None);
        assert_eq!(part(&(0..0), None, None).ok(), Some(0..0));
    }
}
