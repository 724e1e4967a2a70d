//! Statements that run many times where one would do: N+1. The evidence is spans of one statement, one after the other below one span
//! ([`crate::traces::repeated_statements`]), or without traces a statement that runs several times per request.
//!
//! Not: statements that run in parallel, and those of an intended batch.

use model::diagnosis::{
    Caveat, Change, Claim, CostClass, ExemplarLink, FigureName, Hypothesis, Note, Remedy, Role, RuledOut,
};
use model::{RecordKind, Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::paths::Repeated;
use super::super::prediction::Gone;
use super::super::series;
use super::super::thresholds::repeats::{ALIKE_MIN, CALLS_MIN, LIMITS_MIN, SHARE_MIN};
use super::short;

/// Finds repeated statements.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    if view.paths.traces == 0 {
        return by_counts(view).into_iter().collect();
    }
    let most = view.paths.repeats.iter().max_by(|a, b| a.1.on_path_ns.total_cmp(&b.1.on_path_ns));
    let Some((statement, repeated)) = most else {
        // SDKs drop spans that they cannot send in time, those of frequent statements first. The database counts them all.
        let otherwise = || Observation::RuledOut(RuledOut::NoRepeatedStatements);
        return vec![by_counts(view).unwrap_or_else(otherwise)];
    };
    let share = view.share_of_paths(repeated.on_path_ns);
    let with_between = view.share_of_paths(repeated.on_path_ns + repeated.between_ns);
    let each = repeated.times as f64 / repeated.traces.max(1) as f64;
    if share < SHARE_MIN {
        let otherwise = || {
            let statement = short(statement);
            Observation::RuledOut(RuledOut::RepeatedStatement { statement, times: each, time_share: share })
        };
        return vec![by_counts(view).unwrap_or_else(otherwise)];
    }
    // One execution remains. What repeats as often goes with it: pools check and reset a connection for each statement.
    let goes = 1.0 - 1.0 / each.max(1.0);
    let is_alike = |other: &&Repeated| {
        other.times as f64 >= repeated.times as f64 * ALIKE_MIN && !std::ptr::eq(*other, repeated)
    };
    let alike = view.paths.repeats.values().filter(is_alike).map(|other| other.on_path_ns).sum::<f64>();
    let with_alike = view.share_of_paths(repeated.on_path_ns + alike).min(with_between.max(share));
    let of_database = super::statements::share_of_database(view, statement)
        .map(|share| share * super::statements::database_share(view));
    let of = repeated.traces as f64 / view.paths.traces.max(1) as f64;
    let mut exemplars = view.exemplars(&repeated.slowest);
    exemplars.truncate(2);
    exemplars.push(ExemplarLink::Statement(statement.clone()));
    vec![Observation::Found(
        Box::new(Hypothesis {
            role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
            strength: Strength::Arithmetic,
            explains: Some(share),
            numbers: vec![
                exact(FigureName::ExecutionsPerRequest, each, Unit::Count).noted(Note::OfRequestsWithIt),
                exact(FigureName::RequestsWithStatement, of * 100.0, Unit::Percent),
                exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
            ],
            exemplars,
            flags: super::biased(view),
            cost: CostClass::Logic,
            // With the statements goes at most what is between them.
            prediction: view.without_between(
                Gone { share: with_alike * goes, freed: of_database.unwrap_or(with_alike) * goes },
                Gone {
                    share: with_between * goes,
                    freed: of_database.unwrap_or(0.0).max(with_between) * goes,
                },
                Change::OneStatement,
            ),
            ..draft(
                Claim::RepeatedStatement {
                    statement: short(statement),
                    times: each,
                    time_share: share,
                    requests_share: of,
                },
                Remedy::BatchStatements,
                short(statement),
            )
        }),
        Depth::Cause,
    )]
}

fn by_counts(view: &View<'_>) -> Option<Observation> {
    let requests = view.level.requests.count as f64;
    let statements = view.level.evidence.records.iter().filter(|record| record.kind == RecordKind::Statement);
    let often = statements.filter_map(|record| {
        let calls = series::number(record, "calls")? / requests.max(1.0);
        let share = series::number(record, "share_of_db_time")?;
        (calls >= CALLS_MIN && share >= LIMITS_MIN).then_some((record, calls, share))
    });
    let (record, calls, share) = often.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let statement = series::text(record, "statement").unwrap_or(&record.subject);
    Some(Observation::Found(
        Box::new(Hypothesis {
            role: Role::Contributes,
            strength: Strength::Pattern,
            explains: None,
            numbers: vec![
                exact(FigureName::CallsPerRequest, calls, Unit::Count),
                exact(FigureName::DatabaseTimeShare, share * 100.0, Unit::Percent),
            ],
            exemplars: vec![ExemplarLink::Statement(statement.to_owned())],
            caveats: vec![Caveat::CallsUnattributed],
            cost: CostClass::Logic,
            ..draft(
                Claim::RepeatedCalls {
                    statement: short(statement),
                    calls_per_request: calls,
                    database_share: share,
                },
                Remedy::BatchStatements,
                short(statement),
            )
        }),
        Depth::Cause,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{level, request, sampled};
    use super::super::testing::{check, fires};
    use super::*;

    fn times(times: usize) -> crate::diagnosis::Level {
        let below: Vec<(&str, f64, f64)> =
            (0..times).map(|at| ("select c from category where id = 7", at as f64 * 2.0, 1.5)).collect();
        let trace = |number| sampled(number, request("shop", "GET /", 100.0, &below));
        crate::diagnosis::Level { traces: (0..20).map(trace).collect(), ..level(10, 10, 0.1) }
    }

    #[test]
    fn a_database_counts_repeated_statements_whose_spans_were_dropped() {
        let text = "select c from category where id = $1";
        let fields = [("calls", 3_000.0), ("total_ms", 500.0), ("share_of_db_time", 0.9)];
        let statement = super::super::super::testing::record(RecordKind::Statement, text, &fields);
        let kept = times(2);
        let level = crate::diagnosis::Level {
            traces: kept.traces,
            ..super::super::super::testing::with_evidence(level(10, 10, 0.1), Vec::new(), vec![statement])
        };
        check(detect, &level, &["N+1 queries: select c from category where id = $1"]);
    }

    #[test]
    fn statements_in_a_row_are_told() {
        check(detect, &times(40), &["N+1 queries: select c from category where id = ?"]);
        check(detect, &times(3), &[]);
        let found = fires(detect, &times(40));
        assert_eq!(found[0].explains.map(|share| (share * 100.0).round()), Some(60.0));
    }
}
