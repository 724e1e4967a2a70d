//! The result of a comparison in a few rows: the changes that matter most, each counted once.

use std::collections::HashMap;

use super::{ALL_SERIES, Comparability, Comparison, Measure, Row, Verdict, Why};

/// Series of the whole run that repeat what their endpoints show.
const SUMMARIES: [&str; 3] = ["http_req_response_time", "iteration_duration", "iteration_response_time"];

/// Series whose main figures are shown although they did not change.
const SERIES_SHOWN: usize = 10;

/// The quantile that most limits are about.
const MAIN_QUANTILE: f64 = 0.95;

/// The answer of a comparison. Rows are given by their place in [`Comparison::rows`].
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The loads differ: the place of the finding in [`Comparison::findings`].
    NotComparable(usize),
    /// The sides have no series in common.
    NothingInCommon,
    /// Every request of both sides failed.
    AllFailed,
    /// No figure has a verdict, and why the first has none.
    NotJudged(Why),
    /// Figures changed.
    Changed {
        /// Changes for the worse.
        regressed: Changes,
        /// Changes for the better.
        improved: Changes,
    },
    /// Nothing changed for certain.
    Unchanged {
        /// How many figures are equivalent.
        equivalent: usize,
        /// How many would need more measurements.
        inconclusive: usize,
    },
}

/// Changes in one direction, the same change seen in several figures counted once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The throughput, if it changed.
    pub throughput: Option<usize>,
    /// The main figure of the most important series that changed.
    pub lead: Option<usize>,
    /// The main figures of the other series that changed.
    pub others: Vec<usize>,
}

impl Changes {
    /// Whether nothing changed in this direction.
    pub fn is_empty(&self) -> bool {
        self.throughput.is_none() && self.lead.is_none()
    }
}

impl Comparison {
    /// The answer in a few rows.
    pub fn answer(&self) -> Answer {
        let refuses = self.findings.iter().position(|finding| finding.refusal().is_some());
        let is_refused = |row: &Row| row.verdict == Verdict::NotAvailable(Why::UnequalLoad);
        let (regressed, improved) = (self.changes(Verdict::Regressed), self.changes(Verdict::Improved));
        match refuses.filter(|_| self.rows.iter().any(is_refused)) {
            Some(place) => return Answer::NotComparable(place),
            None if self.shares_no_endpoint() => return Answer::NothingInCommon,
            None if self.has_failed_whole() => return Answer::AllFailed,
            None if !regressed.is_empty() || !improved.is_empty() => {
                return Answer::Changed { regressed, improved };
            }
            None => {}
        }
        if !self.is_judged() {
            return Answer::NotJudged(self.why_not());
        }
        let count = |is: fn(Verdict) -> bool| self.rows.iter().filter(|row| is(row.verdict)).count();
        Answer::Unchanged {
            equivalent: count(|verdict| verdict == Verdict::Equivalent),
            inconclusive: count(|verdict| matches!(verdict, Verdict::Inconclusive(_))),
        }
    }

    /// The places of the rows to show: changes, and the main figures of the most important series. Those that repeat others, and
    /// those of series without a change beyond the first, are left out.
    pub fn important_rows(&self) -> Vec<usize> {
        let folded = self.folded_series();
        let mut series: Vec<&str> = Vec::new();
        for row in self.rows.iter().filter(|row| row.series != ALL_SERIES && !folded.contains(&&*row.series))
        {
            if series.last() != Some(&&*row.series) {
                series.push(&row.series);
            }
        }
        // Of many series, those that changed are enough.
        let few = series.len() <= SERIES_SHOWN || !self.rows.iter().any(is_change);
        let first = if few { &series[..series.len().min(SERIES_SHOWN)] } else { &[] };
        let mains = Mains::new(&self.rows);
        let is_important = |row: &Row| match row.series.as_str() {
            ALL_SERIES => true,
            name if folded.contains(&name) => false,
            name => is_change(row) && !mains.repeat(row) || first.contains(&name) && mains.has(row),
        };
        (0..self.rows.len()).filter(|place| is_important(&self.rows[*place])).collect()
    }

    fn shares_no_endpoint(&self) -> bool {
        let is_alone = |finding: &Comparability| matches!(finding, Comparability::OnlyOn { .. });
        let is_endpoint = |row: &Row| row.series != ALL_SERIES && !SUMMARIES.contains(&&*row.series);
        self.findings.iter().any(is_alone) && !self.rows.iter().any(is_endpoint)
    }

    fn has_failed_whole(&self) -> bool {
        let is_request =
            |row: &&Row| row.measure == Measure::ErrorShare && !SUMMARIES.contains(&&*row.series);
        let mut shares = self.rows.iter().filter(is_request).peekable();
        shares.peek().is_some() && shares.all(|row| row.a == Some(1.0) && row.b == Some(1.0))
    }

    fn why_not(&self) -> Why {
        let reasons = self.rows.iter().filter_map(|row| match row.verdict {
            Verdict::NotAvailable(why) if row.measure != Measure::ErrorShare => Some(why),
            _ => None,
        });
        let mut reasons = reasons.collect::<Vec<Why>>().into_iter();
        let first = reasons.next().unwrap_or(Why::NoValues);
        // Nothing at all says less than a reason that a figure has.
        if first == Why::NoValues {
            reasons.find(|why| *why != Why::NoValues).unwrap_or(first)
        } else {
            first
        }
    }

    fn changes(&self, verdict: Verdict) -> Changes {
        let changed = |place: &usize| self.rows[*place].verdict == verdict;
        let throughput =
            (0..self.rows.len()).filter(changed).find(|at| self.rows[*at].measure == Measure::Throughput);
        let folded = self.folded_series();
        let mut mains: Vec<usize> = Vec::new();
        for place in (0..self.rows.len()).filter(changed) {
            let row = &self.rows[place];
            let is_rate = matches!(row.measure, Measure::Throughput | Measure::Goodput);
            if row.series == ALL_SERIES || folded.contains(&&*row.series) || is_rate && throughput.is_some() {
                continue;
            }
            // The rows of a series follow each other.
            match mains.last_mut().filter(|main| self.rows[**main].series == row.series) {
                Some(main) if rank(row.measure) < rank(self.rows[*main].measure) => *main = place,
                Some(_) => {}
                None => mains.push(place),
            }
        }
        let mut mains = mains.into_iter();
        Changes { throughput, lead: mains.next(), others: mains.collect() }
    }

    /// Summaries whose every change is a change of an endpoint in the same direction.
    fn folded_series(&self) -> Vec<&str> {
        let is_summary = |row: &&Row| SUMMARIES.contains(&&*row.series);
        let of_endpoints = |verdict| {
            self.rows
                .iter()
                .any(|row| row.verdict == verdict && row.series != ALL_SERIES && !is_summary(&row))
        };
        let (worse, better) = (of_endpoints(Verdict::Regressed), of_endpoints(Verdict::Improved));
        let has_endpoints = self.rows.iter().any(|row| row.series != ALL_SERIES && !is_summary(&row));
        let is_own = |row: &&Row| {
            row.verdict == Verdict::Regressed && !worse || row.verdict == Verdict::Improved && !better
        };
        let own: Vec<&str> =
            self.rows.iter().filter(is_summary).filter(is_own).map(|row| &*row.series).collect();
        let mut folded: Vec<&str> = self.rows.iter().filter(is_summary).map(|row| &*row.series).collect();
        folded.dedup();
        folded.retain(|name| has_endpoints && !own.contains(name));
        folded
    }
}

/// The figures that are read first.
struct Mains<'a> {
    /// The compared quantile that is closest to the one that most limits are about.
    quantile: Option<f64>,
    throughput: Option<Verdict>,
    /// Series with the verdicts of their main figures.
    verdicts: HashMap<&'a str, Vec<Verdict>>,
}

impl<'a> Mains<'a> {
    fn new(rows: &'a [Row]) -> Mains<'a> {
        let quantiles = rows.iter().filter_map(|row| match row.measure {
            Measure::Quantile(quantile) => Some(quantile),
            _ => None,
        });
        let distance = |quantile: &f64| (quantile - MAIN_QUANTILE).abs();
        let throughput = rows.iter().find(|row| row.measure == Measure::Throughput);
        let mut mains = Mains {
            quantile: quantiles.min_by(|a, b| distance(a).total_cmp(&distance(b))),
            throughput: throughput.map(|row| row.verdict),
            verdicts: HashMap::new(),
        };
        for row in rows {
            if mains.has(row) && row.measure != Measure::ErrorShare {
                mains.verdicts.entry(row.series.as_str()).or_default().push(row.verdict);
            }
        }
        mains
    }

    /// Whether a row is one of the two or three that are read first of a series.
    fn has(&self, row: &Row) -> bool {
        match row.measure {
            Measure::Mean => true,
            Measure::Quantile(quantile) => Some(quantile) == self.quantile,
            Measure::ErrorShare => row.a.unwrap_or(0.0) > 0.0 || row.b.unwrap_or(0.0) > 0.0,
            Measure::Goodput | Measure::Throughput => false,
        }
    }

    /// Whether a change says the same as a main figure of its series or as the throughput.
    fn repeat(&self, row: &Row) -> bool {
        if row.measure == Measure::Goodput {
            return self.throughput == Some(row.verdict);
        }
        let mains = self.verdicts.get(row.series.as_str());
        !self.has(row) && mains.is_some_and(|verdicts| verdicts.contains(&row.verdict))
    }
}

fn is_change(row: &Row) -> bool {
    matches!(row.verdict, Verdict::Regressed | Verdict::Improved)
}

/// Which figure speaks for a series: errors first, then the quantile closest to p95.
fn rank(measure: Measure) -> u64 {
    match measure {
        Measure::ErrorShare => 0,
        Measure::Quantile(quantile) => 1 + ((quantile - MAIN_QUANTILE).abs() * 1000.0) as u64,
        Measure::Mean => 1000,
        Measure::Goodput | Measure::Throughput => 2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Method;

    fn row(series: &str, measure: Measure, verdict: Verdict) -> Row {
        let (a, b) = (Some(100.0), Some(20.0));
        let (method, ratio, errors) = (Method::Interval, None, None);
        Row { series: series.to_owned(), measure, a, b, ratio, method, errors, q_value: None, verdict }
    }

    fn comparison(rows: Vec<Row>) -> Comparison {
        Comparison {
            findings: Vec::new(),
            steady_a: Vec::new(),
            steady_b: Vec::new(),
            within_run_only: true,
            paired_s: None,
            rows,
        }
    }

    const P95: Measure = Measure::Quantile(0.95);

    #[test]
    fn one_slowdown_is_one_finding() {
        let worse = |series: &str, measure| row(series, measure, Verdict::Regressed);
        let found = comparison(vec![
            row(ALL_SERIES, Measure::Throughput, Verdict::Equivalent),
            worse("POST checkout", Measure::Mean),
            worse("POST checkout", P95),
            worse("POST checkout", Measure::Quantile(0.5)),
            worse("iteration_duration", Measure::Mean),
            worse("http_req_response_time", P95),
        ]);
        let Answer::Changed { regressed, improved } = found.answer() else { panic!("{:?}", found.answer()) };
        assert_eq!(regressed, Changes { throughput: None, lead: Some(2), others: Vec::new() });
        assert!(improved.is_empty());
        assert_eq!(found.important_rows(), [0, 1, 2]);
    }

    #[test]
    fn throughput_and_latency_are_one_change() {
        let better = |series: &str, measure| row(series, measure, Verdict::Improved);
        let found = comparison(vec![
            better(ALL_SERIES, Measure::Throughput),
            better("POST checkout", P95),
            better("POST checkout", Measure::Goodput),
            better("GET products", P95),
        ]);
        let Answer::Changed { improved, .. } = found.answer() else { panic!("{:?}", found.answer()) };
        assert_eq!(improved, Changes { throughput: Some(0), lead: Some(1), others: vec![3] });
        assert_eq!(found.important_rows(), [0, 1, 3]);
    }

    #[test]
    fn failures_alone_are_no_equality() {
        let mut failed = row("GET /", Measure::ErrorShare, Verdict::Equivalent);
        (failed.a, failed.b) = (Some(1.0), Some(1.0));
        let all = comparison(vec![row(ALL_SERIES, Measure::Throughput, Verdict::Equivalent), failed]);
        assert_eq!(all.answer(), Answer::AllFailed);
    }

    #[test]
    fn what_has_no_verdict_says_why() {
        let none = |series: &str, why| row(series, P95, Verdict::NotAvailable(why));
        let short = comparison(vec![none("GET /", Why::NoValues), none("GET /", Why::NoSteadyPart)]);
        assert_eq!(short.answer(), Answer::NotJudged(Why::NoSteadyPart));
        let mut unequal = comparison(vec![none("GET /", Why::UnequalLoad)]);
        unequal.findings = vec![Comparability::UnequalRate { a: 1.0, b: 2.0 }];
        assert_eq!(unequal.answer(), Answer::NotComparable(0));
        let mut apart = comparison(vec![row(ALL_SERIES, Measure::Throughput, Verdict::Equivalent)]);
        apart.findings =
            vec![Comparability::OnlyOn { side: crate::compare::SideName::A, series: "GET /".to_owned() }];
        assert_eq!(apart.answer(), Answer::NothingInCommon);
        let same = comparison(vec![
            row("GET /", P95, Verdict::Equivalent),
            row("GET /", Measure::Mean, Verdict::Inconclusive(None)),
        ]);
        assert_eq!(same.answer(), Answer::Unchanged { equivalent: 1, inconclusive: 1 });
    }
}
