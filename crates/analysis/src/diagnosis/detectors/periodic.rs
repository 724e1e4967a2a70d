//! A scheduled job that competes with requests: a statement that no request's trace has, whose calls do not follow the load, and
//! that requests' statements wait for; or response times that rise and fall with a period.
//!
//! Not: work that grows with the requests, and a period of the test's own load. And a session that sleeps, whatever locks it holds: no
//! statement shares a processor with it, and locks have a detector of their own.

use model::diagnosis::{
    Caveat, Change, Claim, CostClass, ExemplarLink, FigureName, Hypothesis, Note, Remedy, Role, RuledOut,
};
use model::{Record, RecordKind, SignalId, Strength, Unit};
use stats::autocorrelation;

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::thresholds::periodic::{
    CALLS_PER_REQUEST_MAX, CORRELATION_MIN, LIMITS_MIN, PERIOD_MIN_S, PERIOD_SHARE_MIN, PERIODS_MIN,
    SHARE_MIN, WAITED_LIMITS_MIN, WAITED_MIN,
};
use super::super::{series, sessions};
use super::short;
use crate::traces::normalised;

/// Statements that are ignored: queries for evidence, and the beginning and end of transactions.
const NONE_OF_THESE: [&str; 5] = ["begin", "commit", "rollback", "set ", "show "];

/// Finds work that recurs at a fixed interval.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let mut observations: Vec<Observation> = job(view).into_iter().collect();
    observations.extend(period(view));
    observations
}

fn job(view: &View<'_>) -> Option<Observation> {
    let records = view.level.evidence.records.iter().filter(|record| record.kind == RecordKind::Statement);
    let text_of = |record: &Record| normalised(series::text(record, "statement").unwrap_or(&record.subject));
    let statements: Vec<(&Record, String)> = records.map(|record| (record, text_of(record))).collect();
    // Where no statement joins the traces, their texts differ, and none is known to run outside of the requests.
    if !statements.iter().any(|(_, text)| view.paths.asking(text).is_some()) {
        return None;
    }
    let requests = view.level.requests.count.max(1) as f64;
    let jobs = statements.into_iter().filter_map(|(record, text)| {
        let (calls, share) = (series::number(record, "calls")?, series::number(record, "share_of_db_time")?);
        let lower = text.to_lowercase();
        let is_of_requests = view.paths.asking(&text).is_some() || calls / requests > CALLS_PER_REQUEST_MAX;
        let is_job = !is_of_requests && !NONE_OF_THESE.iter().any(|word| lower.starts_with(word));
        is_job.then_some((text, calls, share, series::number(record, "total_ms")? / 1e3))
    });
    let (text, calls, share, total_s) = jobs.max_by(|a, b| a.2.total_cmp(&b.2))?;
    // A session takes time from requests only while their own statements wait for the database: of these they wait for the
    // job in proportion to the work that it has there (processor sharing). Waits for locks are no such waits, and neither is there
    // work in a sleep.
    let locked = view.share_of_waiting(view.sum_of_means(&[SignalId::LocksWaiting]).unwrap_or(0.0));
    let works = sessions::working_share(view).unwrap_or(1.0);
    let waited = share * (database_share(view) - locked).max(0.0) * works;
    if share < SHARE_MIN || waited < WAITED_MIN {
        return Some(Observation::RuledOut(RuledOut::BackgroundStatement {
            statement: short(&text),
            database_share: share,
            time_share: waited,
        }));
    }
    let length_s = view.level.length_s();
    let every_s = length_s / calls.max(1.0);
    let busy = total_s / length_s.max(1.0);
    let claim = Claim::BackgroundStatement {
        statement: short(&text),
        every_s,
        mean_s: total_s / calls,
        calls,
        database_share: share,
    };
    Some(Observation::Found(
        Box::new(Hypothesis {
            role: if waited >= WAITED_LIMITS_MIN { Role::Limits } else { Role::Contributes },
            strength: Strength::Arithmetic,
            explains: Some(waited),
            numbers: vec![
                exact(FigureName::DatabaseTimeShare, share * 100.0, Unit::Percent),
                exact(FigureName::Calls, calls, Unit::Count).noted(Note::NotInTraces),
                exact(FigureName::CallTime, total_s / calls, Unit::Seconds),
                exact(FigureName::BusySessions, busy, Unit::Count).noted(Note::MeanOfRun),
            ],
            exemplars: vec![ExemplarLink::Statement(text.clone())],
            caveats: vec![Caveat::UntracedRequests],
            cost: CostClass::Logic,
            prediction: view.without(waited.min(0.9), Change::NoJob),
            ..draft(claim, Remedy::MoveJob, short(&text))
        }),
        Depth::Cause,
    ))
}

fn database_share(view: &View<'_>) -> f64 {
    let steps = view.paths.steps.values().filter(|step| step.is_database);
    view.share_of_paths(steps.map(|step| step.own_ns).sum())
}

/// Finds periodic response times.
fn period(view: &View<'_>) -> Option<Observation> {
    let times: Vec<f64> = view.level.seconds.iter().filter_map(|second| second.mean_s).collect();
    let lag_max = times.len() / PERIODS_MIN;
    if lag_max < PERIOD_MIN_S {
        return None;
    }
    let correlations = autocorrelation(&times, lag_max);
    let is_peak = |lag: &usize| {
        let (here, before) = (correlations[*lag], correlations[*lag - 1]);
        here >= CORRELATION_MIN
            && here > before
            && correlations.get(*lag + 1).is_none_or(|after| here >= *after)
    };
    // A drift is correlated at every lag; a period has a minimum between its peaks.
    let has_valley =
        |lag: &usize| correlations[1..*lag].iter().any(|value| *value < correlations[*lag] / 2.0);
    let lags = PERIOD_MIN_S..correlations.len();
    let lag = lags
        .filter(|lag| is_peak(lag) && has_valley(lag))
        .max_by(|a, b| correlations[*a].total_cmp(&correlations[*b]))?;
    // Users who begin together stay in step for a while.
    let load: Vec<f64> = view.level.seconds.iter().map(|second| second.rate()).collect();
    if autocorrelation(&load, lag_max).get(lag).is_some_and(|of_load| *of_load >= CORRELATION_MIN) {
        return None;
    }
    let mean_s = times.iter().sum::<f64>() / times.len() as f64;
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    let quiet_s = sorted[sorted.len() / 2];
    let share = if mean_s > 0.0 { (1.0 - quiet_s / mean_s).max(0.0) } else { 0.0 };
    if share < PERIOD_SHARE_MIN {
        return None;
    }
    Some(Observation::Found(
        Box::new(Hypothesis {
            role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
            strength: Strength::Statistics,
            explains: Some(share),
            numbers: vec![
                exact(FigureName::Period, lag as f64, Unit::Seconds),
                exact(FigureName::Correlation, correlations[lag], Unit::Count),
                exact(FigureName::MeanTime, mean_s, Unit::Seconds),
                exact(FigureName::QuietTime, quiet_s, Unit::Seconds).noted(Note::MedianOfSeconds),
            ],
            caveats: vec![Caveat::PeriodicLoad],
            cost: CostClass::Logic,
            ..draft(
                Claim::PeriodicLatency { period_s: lag as f64, correlation: correlations[lag] },
                Remedy::FindJob,
                "clock",
            )
        }),
        Depth::Cause,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, record, request, sampled, with_evidence};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn a_statement_that_no_request_makes_is_a_job() {
        let case = |share| {
            let fields = [("calls", 10.0), ("total_ms", 4_000.0), ("share_of_db_time", share)];
            let job = record(RecordKind::Statement, "select count(*) from a join b on c = d", &fields);
            let own = [("calls", 1000.0), ("total_ms", 2_000.0), ("share_of_db_time", 1.0 - share)];
            let own = record(RecordKind::Statement, "select x from y where z = $1", &own);
            let mut level = with_evidence(level(10, 100, 0.05), Vec::new(), vec![job, own]);
            let below = [("select x from y where z = 5", 0.0, 30.0)];
            level.traces =
                (0..20).map(|number| sampled(number, request("shop", "GET /", 50.0, &below))).collect();
            level
        };
        check(detect, &case(0.6), &["periodic job: select count(*) from a join b on c = d"]);
        check(detect, &case(0.05), &[]);
        // A sleeping session has nearly all of the database's time, and requests spend nearly none there.
        let mut idle = case(0.95);
        for span in idle.traces.iter_mut().flat_map(|trace| &mut trace.spans).filter(|span| span.id != 1) {
            span.duration = std::time::Duration::from_micros(15);
        }
        check(detect, &idle, &[]);
    }

    #[test]
    fn a_session_that_sleeps_is_no_job() {
        let case = |wait: &str, locks: f64| {
            let fields = [("calls", 10.0), ("total_ms", 8_000.0), ("share_of_db_time", 0.9)];
            let own = [("calls", 1000.0), ("total_ms", 900.0), ("share_of_db_time", 0.1)];
            let records = vec![
                record(RecordKind::Statement, "select pg_sleep($1)", &fields),
                record(RecordKind::Statement, "select x from y where z = $1", &own),
            ];
            let sessions = flat("active_sessions", &[("wait_type", wait)], 10, 0.8);
            let signals = vec![sessions, flat("locks_waiting", &[], 10, locks)];
            let below = [("select x from y where z = 5", 0.0, 45.0)];
            let mut level = with_evidence(level(10, 100, 0.05), signals, records);
            level.traces =
                (0..20).map(|number| sampled(number, request("shop", "GET /", 50.0, &below))).collect();
            level
        };
        check(detect, &case("CPU", 0.0), &["periodic job: select pg_sleep(?)"]);
        check(detect, &case("Timeout", 0.0), &[]);
        // Nine tenths of the time are waits for locks: 4.5 of 5 requests in flight.
        check(detect, &case("CPU", 4.5), &[]);
    }

    #[test]
    fn times_that_come_again_have_a_period() {
        let with = |period: usize| {
            let mut level = level(120, 100, 0.05);
            for (number, second) in level.seconds.iter_mut().enumerate() {
                let noise = (number * 7919 % 13) as f64 * 1e-4;
                let is_busy = period > 0 && number % period < 3;
                second.mean_s = Some(if is_busy { 0.4 } else { 0.05 } + noise);
            }
            level
        };
        check(detect, &with(20), &["periodic job: clock"]);
        check(detect, &with(0), &[]);
    }
}
