//! Tables of results as studies: the rows of a sweep by another tool.

use analysis::audit::{Criterion, Facts, Family, Remarks, Run, gather};
use analysis::capacity::sight::{Rule, Sight, WEIGHT_FULL};
use analysis::capacity::{Observed, Question, assess};
use model::Table;
use model::capacity::{Level, LoadUnit, Objective, Purpose, Scale, Verdict};
use report::capacity::{StudyKind, StudyReport};

use super::CONFIDENCE;
use crate::{Exit, Failure};

/// Statistics of time columns that can have a limit.
const STATISTICS: [&str; 3] = ["p95", "p50", "avg"];

/// Converts tables to a study: rows with VUs, throughput and a time, and criteria on that time. `slos` are further limits, for
/// example `e2e: p(95)<30000`.
///
/// # Errors
/// No table has levels of load, or a limit cannot be parsed.
pub fn of_tables(
    name: &str,
    tables: &[Table],
    slos: &[String],
    head_room: f64,
) -> Result<(StudyReport, Remarks), Failure> {
    let (mut facts, mut remarks) = (Facts::default(), Remarks::default());
    gather(tables, &mut facts, &mut remarks);
    let metric = facts.runs.iter().find_map(|run| run.metric.clone()).unwrap_or_default();
    let mut limits: Vec<Limit> =
        facts.criteria.iter().filter_map(|it| Limit::of_criterion(it, &metric)).collect();
    for slo in super::parse_all(slos)? {
        limits.push(Limit::of_slo(&slo.text)?);
    }
    limits.sort_by(|a, b| a.ms.total_cmp(&b.ms));
    limits.dedup();
    let observed: Vec<Observed> = facts.runs.iter().filter_map(|run| level(run, &limits)).collect();
    if observed.is_empty() {
        let text = format!(
            "failed to find levels of load in {name}: no row of a table has VUs, throughput and p95 (`plimsoll audit --columns` \
             prints the columns)"
        );
        return Err(Failure::new(Exit::Other, text));
    }
    let service_s: f64 = facts.stages.iter().map(|stage| stage.service).sum();
    let question = Question {
        variant: String::new(),
        unit: LoadUnit::Vus,
        objectives: limits.iter().map(|limit| limit.objective(&metric)).collect(),
        head_room,
        confidence: CONFIDENCE,
        service_s: (service_s > 0.0).then_some(service_s),
        is_cut: false,
    };
    let load_s = 0.0;
    let parts = vec![assess(&question, &observed)];
    let report =
        StudyReport { name: String::new(), kind: StudyKind::Table, script: name.to_owned(), load_s, parts };
    Ok((report, remarks))
}

/// The maximum of a statistic of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Limit {
    /// The statistic as the columns name it.
    statistic: &'static str,
    ms: f64,
}

impl Limit {
    /// Returns the limit of a criterion on the same time as the rows.
    fn of_criterion(criterion: &Criterion, metric: &str) -> Option<Limit> {
        let is_time =
            criterion.target.family == Family::Time && criterion.metric.eq_ignore_ascii_case(metric);
        let statistic = statistic(&criterion.statistic).filter(|_| is_time)?;
        Some(Limit { statistic, ms: criterion.target.value * 1e3 })
    }

    fn of_slo(text: &str) -> Result<Limit, Failure> {
        let fail = || {
            let text = format!(
                "failed to read --slo {text:?} for a table: write a limit in milliseconds of what its rows have, as 'e2e: p(95)<30000', \
                 of p(95), med or avg"
            );
            Failure::new(Exit::InvalidConfig, text)
        };
        let (_, condition) = text.rsplit_once(':').ok_or_else(fail)?;
        let (name, limit) = condition.split_once('<').ok_or_else(fail)?;
        let name = match name.trim() {
            "p(95)" => "p95",
            "med" | "p(50)" => "p50",
            other => other,
        };
        let ms = limit.trim_start_matches('=').trim().parse().map_err(|_| fail())?;
        Ok(Limit { statistic: statistic(name).ok_or_else(fail)?, ms })
    }

    fn objective(&self, metric: &str) -> Objective {
        Objective {
            selector: metric.to_owned(),
            condition: format!("{}<={}", self.statistic, self.ms),
            statistic: self.statistic.to_owned(),
            limit: self.ms,
            scale: Scale::Milliseconds,
            line: None,
        }
    }

    fn sight(&self, run: &Run) -> Sight {
        let time_s = match self.statistic {
            "avg" => run.avg,
            "p50" => run.p50,
            _ => run.p95,
        };
        let rule = Rule::Stated { limit: self.ms, is_upper: true };
        Sight { rule, value: time_s.map(|time_s| time_s * 1e3), seconds: Vec::new(), weight: WEIGHT_FULL }
    }
}

fn statistic(name: &str) -> Option<&'static str> {
    STATISTICS.into_iter().find(|known| known.eq_ignore_ascii_case(name))
}

fn level(run: &Run, limits: &[Limit]) -> Option<Observed> {
    let (vus, throughput_per_s, p95_s) = (run.vus?, run.throughput?, run.p95?);
    if vus <= 0.0 || throughput_per_s <= 0.0 || p95_s <= 0.0 {
        return None;
    }
    let failed_share = run.requests.zip(run.errors).filter(|(requests, _)| *requests > 0.0);
    let level = Level {
        load: vus,
        purpose: Purpose::Asked,
        run: String::new(),
        name: run.run.clone(),
        vus: Some(vus),
        throughput_per_s,
        requests_per_s: None,
        time_s: Some(p95_s),
        mean_s: run.avg,
        failed_share: failed_share.map(|(requests, errors)| errors / requests),
        measured_s: None,
        grade: None,
        decides: true,
        measured: Vec::new(),
        verdict: Verdict::Unknown,
    };
    let sights = limits.iter().map(|limit| limit.sight(run)).collect();
    Some(Observed { level, sights, usages: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_tables_are_read() {
        let check = |text: &str, expect: Option<(&str, f64)>| {
            let found = Limit::of_slo(text).ok().map(|limit| (limit.statistic, limit.ms));
            assert_eq!(found, expect, "{text}");
        };
        check("e2e: p(95)<30000", Some(("p95", 30_000.0)));
        check("e2e: med<=5", Some(("p50", 5.0)));
        check("e2e: p(99)<5", None);
        check("e2e: avg>5", None);
        check("e2e: avg<x", None);
    }
}
