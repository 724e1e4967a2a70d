//! Statements that run again and again where one would do: N+1. Known by spans of one form, one after the other below one span
//! ([`crate::traces::repeated_statements`]), and without traces by a statement that runs several times per request.
//!
//! Not: statements that run side by side, and those of a batch that somebody asked for.

use model::diagnosis::{CostClass, ExemplarLink, Hypothesis, Role};
use model::{RecordKind, Strength, Unit};

use super::super::series;
use super::super::view::{Depth, Gone, Says, View, count, draft, exact, not, percent};
use super::short;

const NAME: &str = "repeated-statements";
const LABEL: &str = "N+1 queries";

/// The share of the time from which on it is told.
const SHARE_MIN: f64 = 0.05;

/// From this share on it is what limits.
const LIMITS_MIN: f64 = 0.2;

/// So many calls of a statement for each request, without traces.
const CALLS_MIN: f64 = 5.0;

/// What runs again and again.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
    if view.paths.traces == 0 {
        return by_counts(view).into_iter().collect();
    }
    let most = view.paths.repeats.iter().max_by(|a, b| a.1.on_path_ns.total_cmp(&b.1.on_path_ns));
    let Some((statement, repeated)) = most else {
        return vec![not("N+1 queries", "statements that run again and again below one span", "none")];
    };
    let share = view.share_of_paths(repeated.on_path_ns);
    let each = repeated.times as f64 / repeated.traces.max(1) as f64;
    if share < SHARE_MIN {
        let why = format!("{} of the time, {} times each: {}", percent(share), count(each), short(statement));
        return vec![not("N+1 queries", why, percent(share))];
    }
    // One of them stays.
    let goes = 1.0 - 1.0 / each.max(1.0);
    let of_database = super::statements::share_of_database(view, statement).unwrap_or(0.0)
        * super::statements::database_share(view);
    let of = repeated.traces as f64 / view.paths.traces.max(1) as f64;
    let mut exemplars = view.exemplars(&repeated.slowest);
    exemplars.truncate(2);
    exemplars.push(ExemplarLink::Statement(statement.clone()));
    vec![Says::Found(
        Box::new(Hypothesis {
            title: format!("one statement runs {} times in a request", count(each)),
            summary: format!("{} of the time, in {} of the requests", percent(share), percent(of)),
            claim: format!(
                "{} of the time of requests is one statement that runs again and again: {}",
                percent(share),
                short(statement)
            ),
            role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
            strength: Strength::Arithmetic,
            explains: Some(share),
            numbers: vec![
                exact("runs in a request", each, Unit::Count).noted("mean of the requests that have it"),
                exact("requests that have it", of * 100.0, Unit::Percent),
                exact("of the time of requests", share * 100.0, Unit::Percent),
            ],
            exemplars,
            flags: super::statements::biased(view),
            remedy: "load what is needed with one statement: join it, ask for all of it at once, or \
                keep it in memory"
                .to_owned(),
            cost: CostClass::Logic,
            prediction: view.without_work(
                Gone { share: share * goes, freed: of_database * goes },
                "one statement instead of many",
            ),
            ..draft(NAME, LABEL, short(statement))
        }),
        Depth::Cause,
    )]
}

fn by_counts(view: &View<'_>) -> Option<Says> {
    let requests = view.level.requests.count as f64;
    let statements = view.level.evidence.records.iter().filter(|record| record.kind == RecordKind::Statement);
    let often = statements.filter_map(|record| {
        let calls = series::number(record, "calls")? / requests.max(1.0);
        let share = series::number(record, "share_of_db_time")?;
        (calls >= CALLS_MIN && share >= LIMITS_MIN).then_some((record, calls, share))
    });
    let (record, calls, share) = often.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let statement = series::text(record, "statement").unwrap_or(&record.subject);
    Some(Says::Found(
        Box::new(Hypothesis {
            title: format!("one statement runs {} times per request", count(calls)),
            summary: format!("{} of the database's time", percent(share)),
            claim: format!(
                "each request makes {} calls of one statement: {}",
                count(calls),
                short(statement)
            ),
            role: Role::Contributes,
            strength: Strength::Pattern,
            explains: None,
            numbers: vec![
                exact("calls per request", calls, Unit::Count),
                exact("of the database's time", share * 100.0, Unit::Percent),
            ],
            exemplars: vec![ExemplarLink::Statement(statement.to_owned())],
            caveats: vec!["without traces nobody knows which of them belong to one request".to_owned()],
            remedy: "load what is needed with one statement".to_owned(),
            cost: CostClass::Logic,
            ..draft(NAME, LABEL, short(statement))
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
    fn statements_in_a_row_are_told() {
        check(detect, &times(40), &["N+1 queries: select c from category where id = ?"]);
        check(detect, &times(3), &[]);
        let found = fires(detect, &times(40));
        assert_eq!(found[0].explains.map(|share| (share * 100.0).round()), Some(60.0));
    }
}
