//! Builds the answers of sources: signals of one point, rates of counters, and limits on the number of series.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::time::Duration;

use model::{Datum, Evidence, Instant, Record, RecordKind, Signal, SignalId};

use crate::contract::SourceError;

/// Maximum length of a server's text.
const TEXT_CHARS_MAX: usize = 300;

/// A signal of the catalogue, and the query that reproduces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignalQuery {
    pub(crate) signal: SignalId,
    pub(crate) text: &'static str,
}

impl SignalQuery {
    pub(crate) const fn new(signal: SignalId, text: &'static str) -> SignalQuery {
        SignalQuery { signal, text }
    }
}

/// Evidence of one query, while it is built.
#[derive(Debug)]
pub(crate) struct Answer {
    source: String,
    at: Instant,
    step: Duration,
    evidence: Evidence,
}

impl Answer {
    /// Returns an empty answer about this instant, whose signals have one point per `step`.
    pub(crate) fn new(source: &str, at: Instant, step: Duration) -> Answer {
        Answer { source: source.to_owned(), at, step, evidence: Evidence::default() }
    }

    /// Adds a point. Non-finite values are left out.
    pub(crate) fn number(&mut self, query: &SignalQuery, labels: &[(&str, &str)], value: f64) {
        if !value.is_finite() {
            return;
        }
        self.evidence.signals.push(Signal {
            source: self.source.clone(),
            name: query.signal.into(),
            labels: labels.iter().map(|(name, value)| ((*name).to_owned(), clip(value))).collect(),
            unit: query.signal.unit().to_owned(),
            query: query.text.to_owned(),
            step: self.step,
            points: vec![(self.at, value)],
        });
    }

    /// Adds a record of this instant.
    pub(crate) fn record(&mut self, kind: RecordKind, subject: &str, fields: Fields) {
        self.record_at(self.at, kind, subject, fields);
    }

    /// Adds a record of another instant.
    pub(crate) fn record_at(&mut self, at: Instant, kind: RecordKind, subject: &str, fields: Fields) {
        let (source, subject) = (self.source.clone(), subject.to_owned());
        self.evidence.records.push(Record { source, kind, at, subject, fields });
    }

    /// Adds a warning about the source.
    pub(crate) fn warning(&mut self, text: &str) {
        self.record(RecordKind::Warning, text, Fields::new());
    }

    /// Returns the evidence.
    pub(crate) fn evidence(self) -> Evidence {
        self.evidence
    }
}

/// Fields of a record.
pub(crate) type Fields = BTreeMap<String, Datum>;

/// Returns fields by their names.
pub(crate) fn fields<const N: usize>(known: [(&str, Datum); N]) -> Fields {
    known.into_iter().map(|(name, datum)| (name.to_owned(), datum)).collect()
}

/// Counters of two consecutive answers, for rates.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    before: HashMap<String, f64>,
    now: HashMap<String, f64>,
    before_at: Instant,
    now_at: Instant,
}

impl Counters {
    /// Starts a new answer: the counters of the last one become the base of rates.
    pub(crate) fn turn(&mut self, at: Instant) {
        self.before = std::mem::take(&mut self.now);
        self.before_at = std::mem::replace(&mut self.now_at, at);
    }

    /// Returns the increase of a counter per second since the last answer; `None` for the first answer and after a counter reset.
    pub(crate) fn rate(&mut self, counter: &str, count: f64) -> Option<f64> {
        self.now.insert(counter.to_owned(), count);
        let before = self.before.get(counter)?;
        let seconds = self.now_at.since(self.before_at).as_secs_f64();
        (count >= *before && seconds > 0.0).then(|| (count - before) / seconds)
    }
}

/// The first names seen, up to a limit, which have series of their own. They never change, so that no series ends because another
/// begins.
#[derive(Debug)]
pub(crate) struct FirstSeen {
    max: usize,
    names: BTreeSet<String>,
}

impl FirstSeen {
    /// Returns a set of at most `max` names.
    pub(crate) fn new(max: usize) -> FirstSeen {
        FirstSeen { max, names: BTreeSet::new() }
    }

    /// Returns true if a name is among the first.
    pub(crate) fn has(&mut self, name: &str) -> bool {
        if self.names.contains(name) {
            return true;
        }
        let is_new = self.names.len() < self.max;
        if is_new {
            self.names.insert(name.to_owned());
        }
        is_new
    }
}

/// An optional query of a source. If it fails the first time, a warning is recorded and it is not repeated; if it succeeded before,
/// its failure is a failure of the source.
#[derive(Debug)]
pub(crate) struct OptionalQuery {
    name: &'static str,
    state: QueryState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueryState {
    Untried,
    Works,
    Refused,
}

impl OptionalQuery {
    /// Returns a query that has not run yet.
    pub(crate) const fn new(name: &'static str) -> OptionalQuery {
        OptionalQuery { name, state: QueryState::Untried }
    }

    /// Runs the query.
    ///
    /// # Errors
    /// The query succeeded before and fails now.
    pub(crate) fn ask<T>(
        &mut self,
        answer: &mut Answer,
        question: impl FnOnce() -> Result<T, SourceError>,
    ) -> Result<Option<T>, SourceError> {
        if self.state == QueryState::Refused {
            return Ok(None);
        }
        match question() {
            Ok(value) => {
                self.state = QueryState::Works;
                Ok(Some(value))
            }
            Err(error) if self.state == QueryState::Works => Err(error),
            Err(error) => {
                self.state = QueryState::Refused;
                answer.warning(&format!("{} are not collected: {error}", self.name));
                Ok(None)
            }
        }
    }
}

/// Converts an error with its causes to one bounded line.
pub(crate) fn source_error(error: &dyn Error) -> SourceError {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause.filter(|_| text.len() < TEXT_CHARS_MAX) {
        // Some errors repeat the message of their cause.
        let further = error.to_string();
        if !text.contains(&further) {
            text = format!("{text}: {further}");
        }
        cause = error.source();
    }
    SourceError::new(line(&text))
}

/// Returns a text as one bounded line without its full stop.
pub(crate) fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    clip(words.join(" ").trim_end_matches('.'))
}

/// Truncates a text to the maximum length.
pub(crate) fn clip(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_ns(seconds * 1_000_000_000)
    }

    #[test]
    fn counters_become_rates_and_those_that_begin_anew_do_not() {
        let mut counters = Counters::default();
        let mut rate = |seconds, count| {
            counters.turn(at(seconds));
            counters.rate("commits", count)
        };
        assert_eq!(rate(10, 100.0), None, "what rose before is not of the run");
        assert_eq!(rate(12, 150.0), Some(25.0));
        assert_eq!(rate(13, 150.0), Some(0.0));
        assert_eq!(rate(14, 30.0), None, "the server was started again");
        assert_eq!(rate(15, 35.0), Some(5.0));
    }

    #[test]
    fn a_counter_that_was_away_is_not_compared_with_what_it_was() {
        let mut counters = Counters::default();
        counters.turn(at(1));
        assert_eq!(counters.rate("a", 1.0), None);
        counters.turn(at(2));
        counters.turn(at(3));
        assert_eq!(counters.rate("a", 9.0), None);
    }

    #[test]
    fn the_few_stay_the_same() {
        let mut few = FirstSeen::new(2);
        let chosen = ["a", "b", "c", "a", "b", "c"].map(|name| few.has(name));
        assert_eq!(chosen, [true, true, false, true, true, false]);
    }

    #[test]
    fn optional_queries_are_refused_once_and_fail_later() {
        let mut answer = Answer::new("made", at(1), Duration::from_secs(1));
        let refusal = || Err::<(), _>(SourceError::new("403"));
        let mut never = OptionalQuery::new("nodes");
        assert_eq!(never.ask(&mut answer, refusal), Ok(None));
        assert_eq!(never.ask(&mut answer, || Ok(())), Ok(None), "it is not repeated");
        let mut once = OptionalQuery::new("consumers");
        assert_eq!(once.ask(&mut answer, || Ok(())), Ok(Some(())));
        assert_eq!(once.ask(&mut answer, refusal), Err(SourceError::new("403")));
        let evidence = answer.evidence();
        let [warning] = &evidence.records[..] else { panic!("one warning: {evidence:?}") };
        assert_eq!(warning.subject, "nodes are not collected: 403");
    }

    #[test]
    fn what_is_no_number_is_not_told() {
        let mut answer = Answer::new("made", at(1), Duration::from_secs(1));
        let query = SignalQuery::new(SignalId::Cpu, "made");
        answer.number(&query, &[], f64::NAN);
        answer.number(&query, &[("long", &"x".repeat(1000))], 0.5);
        let [signal] = &answer.evidence().signals[..] else { panic!("one number") };
        assert_eq!((signal.points[0], signal.labels["long"].len()), ((at(1), 0.5), TEXT_CHARS_MAX));
    }

    #[test]
    fn a_line_has_no_end_of_its_own() {
        assert_eq!(line("no\n  route.\n"), "no route");
    }
}
