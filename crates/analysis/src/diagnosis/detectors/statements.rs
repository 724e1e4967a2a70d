//! A statement that takes most of the database's time and of response time. If it selects by a key and reads very many blocks for
//! few rows, an index is missing. If the database reports sequential scans per table, the scanned table must be one of the
//! statement's, about once per call.
//!
//! Not: a statement that aggregates many rows by its nature (it groups, or has no condition): it is slow, and no index helps. And a
//! statement that sleeps limits no other: it is only part of a response, which users notice or not.

use std::collections::BTreeSet;

use model::diagnosis::{
    Caveat, Change, Claim, CostClass, ExemplarLink, FigureName, Hypothesis, MissingKind, Note, Prediction,
    Reading, Remedy, Role, RuledOut,
};
use model::signal::label;
use model::{Record, RecordKind, Signal, SignalId, Strength, Unit};

use super::super::case_view::View;
use super::super::ceilings;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::paths::{Slowest, Step, squeezed};
use super::super::prediction::Gone;
use super::super::thresholds::calls::{DECIDES_MIN, NOTICED_S};
use super::super::thresholds::case_view::WAITS_MIN;
use super::super::thresholds::ceilings::FULL;
use super::super::thresholds::periodic::CALLS_PER_REQUEST_MAX;
use super::super::thresholds::statements::{
    BLOCKS_MIN, BLOCKS_PER_ROW_MIN, DATABASE_SHARE_MIN, LACKING_LIMITS_MIN, LACKING_SHARE_MIN, LIMITS_MIN,
    ROWS_OF_SCAN_MIN, SCANNING_SHARE_MIN, SCANS_PER_CALL_MIN, SHARE_MIN, WORKING_MIN,
};
use super::super::{series, sessions};
use super::calls::Share;
use super::short;
use crate::traces::normalised;

/// A statement with its statistics from the database and from traces.
struct Known<'a> {
    text: String,
    record: &'a Record,
    calls: f64,
    mean_s: f64,
    blocks: f64,
    /// Rows that it looks at, where the database counts them instead of blocks.
    examined: f64,
    rows: f64,
    database_share: f64,
    /// Its share of response time.
    share: f64,
    slowest: Slowest,
}

/// Finds the statement that takes the time, or lacks an index.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let mut known = known(view);
    if known.is_empty() {
        return without_records(view);
    }
    known.sort_by(|a, b| b.database_share.total_cmp(&a.database_share));
    let scanned = scanned(view);
    let lacks_index = |one: &&Known<'_>| match &scanned {
        Some(tables) => scans(view, one, tables),
        None => reads_much(one),
    };
    let lacking = known.iter().find(|one| lacks_index(one) && one.share.max(one.database_share) >= SHARE_MIN);
    if let Some(one) = lacking {
        return vec![finding(view, one, None)];
    }
    let top = &known[0];
    let counts = top.database_share >= DATABASE_SHARE_MIN && top.share >= SHARE_MIN;
    if !counts {
        return vec![Observation::RuledOut(RuledOut::SlowStatement {
            statement: short(&top.text),
            time_share: top.share,
        })];
    }
    vec![finding(view, top, Some(&Alike::new(top, &known)))]
}

/// Finds slow statements from traces alone.
fn without_records(view: &View<'_>) -> Vec<Observation> {
    let calls = view.paths.steps.iter().filter(|(_, step)| step.is_database);
    let shares = calls.map(|(key, step)| (step, Share::new(view, key, step)));
    let Some((step, share)) = shares.max_by(|a, b| a.1.all.total_cmp(&b.1.all)) else { return Vec::new() };
    let mut observations = vec![Observation::Missing(MissingKind::DatabaseCounters)];
    // A busy database that delays no request is no bottleneck, unless users notice the length of the statement itself.
    let is_jam = share.all >= LIMITS_MIN && share.waits >= WAITS_MIN;
    let (least, _) = view.share_interval(share.own);
    let decides = least >= DECIDES_MIN && step.mean_s() >= NOTICED_S;
    if let Some(text) = step.statement.as_ref().filter(|_| is_jam || decides) {
        observations.push(of_traces(view, text, step, &share));
    }
    observations
}

fn of_traces(view: &View<'_>, text: &str, step: &Step, share: &Share) -> Observation {
    let mut exemplars = view.exemplars(&step.slowest);
    exemplars.truncate(2);
    exemplars.push(ExemplarLink::Statement(text.to_owned()));
    let claim =
        Claim::SlowTracedStatement { statement: short(text), mean_s: step.mean_s(), time_share: share.all };
    Observation::Found(
        Box::new(Hypothesis {
            role: Role::Limits,
            strength: Strength::Pattern,
            explains: Some(share.all),
            numbers: vec![
                exact(FigureName::CallTime, step.mean_s(), Unit::Seconds).noted(Note::MeanOf(step.spans)),
                exact(FigureName::RequestTimeShare, share.all * 100.0, Unit::Percent),
            ],
            exemplars,
            flags: super::biased(view),
            caveats: vec![Caveat::NoDatabaseCounters],
            cost: CostClass::Cache,
            prediction: view.without(share.all, Change::ResultCached),
            ..draft(claim, Remedy::CacheResult, short(text))
        }),
        Depth::Resource,
    )
}

fn known<'a>(view: &View<'a>) -> Vec<Known<'a>> {
    let records = view.level.evidence.records.iter().filter(|record| record.kind == RecordKind::Statement);
    let are_traced = are_traced(view);
    let requests = view.level.requests.count.max(1) as f64;
    let known = records.filter_map(|record| {
        let number = |name| series::number(record, name);
        let calls = number("calls").filter(|calls| *calls > 0.0)?;
        let text = normalised(series::text(record, "statement").unwrap_or(&record.subject));
        let found = view.paths.asking(&text);
        let whole = view.paths.traced(&text).filter(|traced| squeezed(traced) != squeezed(&text));
        let text = whole.map(str::to_owned).unwrap_or(text);
        // Without spans of statements: the mean number of its executions at a time, by Little's law.
        let busy = number("total_ms")? / 1e3 / view.level.length_s().max(1.0);
        let share = match &found {
            Some(asking) => view.share_of_paths(asking.own_ns),
            // It runs outside of requests, or its text differs in traces: its share is unknown.
            None if are_traced => return None,
            // So few calls are a job's.
            None if view.paths.traces > 0 && calls / requests <= CALLS_PER_REQUEST_MAX => return None,
            None => view.share_of_waiting(busy),
        };
        Some(Known {
            record,
            calls,
            mean_s: number("total_ms")? / 1e3 / calls,
            blocks: (number("blocks_hit").unwrap_or(0.0) + number("blocks_read").unwrap_or(0.0)) / calls,
            examined: number("rows_examined").unwrap_or(0.0) / calls,
            rows: number("rows").unwrap_or(0.0) / calls,
            database_share: number("share_of_db_time").unwrap_or(0.0),
            share,
            slowest: found.map(|asking| asking.slowest).unwrap_or_default(),
            text,
        })
    });
    known.collect()
}

fn are_traced(view: &View<'_>) -> bool {
    view.paths.statements.keys().any(|text| is_sql(text))
}

/// Returns true for a statement of SQL. Spans of other stores have commands, such as `GET ?`.
fn is_sql(text: &str) -> bool {
    let text = text.to_lowercase();
    let verb = text.split(' ').next().unwrap_or_default();
    ["select", "insert", "update", "delete", "with"].contains(&verb) && text.split(' ').count() > 2
}

/// A table with sequential scans.
struct Scanned {
    name: String,
    /// Scans per second.
    scans_per_s: f64,
    /// Rows per scan.
    rows: f64,
}

/// Returns the large tables that are scanned; `None` if no source reports scans per table.
fn scanned(view: &View<'_>) -> Option<Vec<Scanned>> {
    let signals = view.signals(&[SignalId::TableScans]);
    let of = |signal: &Signal| {
        let rows = view
            .signals(&[SignalId::TableRowsScanned])
            .into_iter()
            .find(|rows| rows.labels == signal.labels && rows.source == signal.source)?;
        let (scans_per_s, rows_per_s) = (series::mean(view.level, signal)?, series::mean(view.level, rows)?);
        let rows = if scans_per_s > 0.0 { rows_per_s / scans_per_s } else { 0.0 };
        let name = signal.labels.get(label::TABLE)?.to_lowercase();
        Some(Scanned { name, scans_per_s, rows })
    };
    let tables =
        signals.iter().filter_map(|signal| of(signal)).filter(|table| table.rows >= ROWS_OF_SCAN_MIN);
    (!signals.is_empty()).then(|| tables.collect())
}

/// Returns true if it selects few rows of a large table that is scanned about as often as the statement is called.
fn scans(view: &View<'_>, one: &Known<'_>, tables: &[Scanned]) -> bool {
    let per_s = one.calls / view.level.length_s().max(1.0);
    let text = one.text.to_lowercase();
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let names = |table: &Scanned| {
        text.split(|letter: char| !is_word(letter) && letter != '.').any(|word| word == table.name)
    };
    asks_for_one(&text)
        && one.database_share >= SCANNING_SHARE_MIN
        && tables.iter().any(|table| names(table) && table.scans_per_s >= per_s * SCANS_PER_CALL_MIN)
}

/// Returns true if it selects by a condition, without grouping or joining.
fn asks_for_one(text: &str) -> bool {
    let changes_shape = ["refresh", "analyze", "vacuum", "create", "copy", "insert"];
    text.contains("where")
        && text.contains('=')
        && !text.contains("group by")
        && !text.contains(" join ")
        && !changes_shape.iter().any(|word| text.starts_with(word))
}

/// Returns true if it selects few rows by a condition and reads many blocks for them, or looks at many rows.
fn reads_much(one: &Known<'_>) -> bool {
    let is_much = |read: f64, least: f64| read >= least && read / one.rows.max(1.0) >= BLOCKS_PER_ROW_MIN;
    asks_for_one(&one.text.to_lowercase())
        && one.database_share >= LACKING_SHARE_MIN
        && (is_much(one.blocks, BLOCKS_MIN) || is_much(one.examined, ROWS_OF_SCAN_MIN))
}

/// Totals of the statements that read the same tables as one, with that one: a remedy for one may help all.
struct Alike {
    count: usize,
    share: f64,
    database_share: f64,
}

impl Alike {
    fn new(one: &Known<'_>, known: &[Known<'_>]) -> Alike {
        let tables = tables(&one.text);
        let reads_them = |other: &Known<'_>| !tables.is_empty() && self::tables(&other.text) == tables;
        let alike = known.iter().filter(|other| other.text == one.text || reads_them(other));
        let nothing = Alike { count: 0, share: 0.0, database_share: 0.0 };
        alike.fold(nothing, |sum, other| Alike {
            count: sum.count + 1,
            share: (sum.share + other.share).min(1.0),
            database_share: (sum.database_share + other.database_share).min(1.0),
        })
    }
}

/// Returns the tables of a statement: the words after `from` and `join`.
fn tables(text: &str) -> BTreeSet<String> {
    let text = text.to_lowercase();
    let words: Vec<&str> =
        text.split(|letter: char| letter.is_whitespace() || "(),;".contains(letter)).collect();
    let named = words.windows(2).filter(|pair| ["from", "join"].contains(&pair[0]));
    named.map(|pair| pair[1].to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Predicts the saving for one statement, or for all that read the same tables. Without an index only the one is slow.
fn prediction(view: &View<'_>, one: &Known<'_>, share: f64, alike: Option<&Alike>) -> Option<Prediction> {
    let of_database = database_share(view);
    if let Some(headroom) = ceilings::headroom_of_source(view, &one.record.source) {
        return by_headroom(view, one, (share, of_database), alike, headroom);
    }
    let alone = Gone { share, freed: one.database_share * of_database };
    let Some(alike) = alike else { return view.without_work(alone, Change::IndexExists) };
    let all = Gone { share: alike.share.max(share), freed: alike.database_share * of_database };
    let change = Change::StatementFast { alike: alike.count };
    view.without_between(alone, all, change)
}

/// Predicts the saving where the use of the database's processors is known. Other statements wait behind this one, at a database without
/// headroom in proportion to its work.
fn by_headroom(
    view: &View<'_>,
    one: &Known<'_>,
    (share, of_database): (f64, f64),
    alike: Option<&Alike>,
    headroom: f64,
) -> Option<Prediction> {
    let waits = |freed: f64| if headroom * FULL <= 1.0 { of_database * freed } else { 0.0 };
    let gone = |share: f64, freed: f64| Gone { share: share.max(waits(freed)).min(1.0), freed };
    let share = with_queue(view, share);
    let alone = gone(share, one.database_share);
    let with_queueing = gone(view.share_with_queueing(share), one.database_share);
    let change = alike.map_or(Change::IndexExists, |alike| Change::StatementFast { alike: alike.count });
    let all = alike.map_or(with_queueing, |alike| gone(alike.share.max(share), alike.database_share));
    view.without_work_of(alone, all, headroom, change)
}

/// Adds the time in queues of messages that goes with a share of task time: a worker that does not wait for the statement is free for the
/// next message (queueing is shared in proportion to demand; utilisation law).
fn with_queue(view: &View<'_>, share: f64) -> f64 {
    let queued = view.paths.share(view.paths.queue_ns);
    share + queued * (share / (1.0 - queued).max(share).max(f64::MIN_POSITIVE)).min(1.0)
}

/// Builds the finding for one statement; if no other statement is alike, an index is missing.
fn finding(view: &View<'_>, one: &Known<'_>, alike: Option<&Alike>) -> Observation {
    let lacks_index = alike.is_none();
    let share = one.share;
    let mut numbers = vec![
        exact(FigureName::DatabaseTimeShare, one.database_share * 100.0, Unit::Percent),
        exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
        exact(FigureName::CallTime, one.mean_s, Unit::Seconds).noted(Note::MeanOfCalls(one.calls)),
        match one.examined > 0.0 {
            true => exact(FigureName::RowsExaminedPerCall, one.examined, Unit::Count),
            false => exact(FigureName::BlocksPerCall, one.blocks, Unit::Count),
        },
        exact(FigureName::RowsPerCall, one.rows, Unit::Count),
    ];
    numbers.extend(alike.filter(|alike| alike.count > 1).map(|alike| {
        exact(FigureName::SameTablesShare, alike.database_share * 100.0, Unit::Percent)
            .noted(Note::OfStatements(alike.count))
    }));
    let idle =
        sessions::working_share(view).map(|works| 1.0 - works).filter(|idle| *idle > 1.0 - WORKING_MIN);
    // Statements that sleep do not wait for each other, so that only their length counts.
    let is_felt = idle.is_none() || share * view.level.mean_s().unwrap_or(0.0) >= NOTICED_S;
    let read = if one.examined > 0.0 { Reading::Rows(one.examined) } else { Reading::Blocks(one.blocks) };
    let (statement, mean_s) = (short(&one.text), one.mean_s);
    let database_share = one.database_share;
    let (claim, remedy) = match lacks_index {
        true => (
            Claim::MissingIndex { statement, read, rows: one.rows, mean_s, database_share },
            Remedy::CreateIndex,
        ),
        false => (Claim::SlowStatement { statement, read, mean_s, database_share }, Remedy::CacheResult),
    };
    let mut exemplars = view.exemplars(&one.slowest);
    exemplars.truncate(2);
    exemplars.push(ExemplarLink::Statement(one.text.clone()));
    Observation::Found(
        Box::new(Hypothesis {
            role: if (share >= LIMITS_MIN && is_felt)
                || (lacks_index && one.database_share >= LACKING_LIMITS_MIN)
            {
                Role::Limits
            } else {
                Role::Contributes
            },
            strength: if lacks_index { Strength::Arithmetic } else { Strength::Statistics },
            explains: Some(share.max(if lacks_index {
                one.database_share * self::database_share(view)
            } else {
                0.0
            })),
            numbers,
            queries: vec![model::diagnosis::EvidenceQuery {
                source: one.record.source.clone(),
                signal: "statements".to_owned(),
                text: match one.examined > 0.0 {
                    true => "performance_schema, statements by digest, at both ends of the run",
                    false => "pg_stat_statements, at both ends of the run",
                }
                .to_owned(),
                run: view.run,
                from: view.level.from(),
                to: view.level.to(),
                step: std::time::Duration::ZERO,
                points: 2,
            }],
            exemplars,
            flags: super::biased(view),
            caveats: vec![idle.map_or(Caveat::PlanUnknown, |idle_share| Caveat::SessionsIdle { idle_share })],
            cost: CostClass::Logic,
            prediction: prediction(view, one, share, alike),
            ..draft(claim, remedy, short(&one.text))
        }),
        if lacks_index { Depth::Cause } else { Depth::Resource },
    )
}

/// Returns the statement's share of the database's time, if the database reports it.
pub(super) fn share_of_database(view: &View<'_>, statement: &str) -> Option<f64> {
    let records = view.level.evidence.records.iter().filter(|record| record.kind == RecordKind::Statement);
    let wanted = squeezed(statement);
    let is_it = |record: &&Record| {
        squeezed(&normalised(series::text(record, "statement").unwrap_or(&record.subject))) == wanted
    };
    records.filter(is_it).filter_map(|record| series::number(record, "share_of_db_time")).reduce(f64::max)
}

/// Returns the database's share of response time. Without spans of statements, it is their number at a time, by Little's law.
pub(super) fn database_share(view: &View<'_>) -> f64 {
    let records = view.level.evidence.records.iter().filter(|record| record.kind == RecordKind::Statement);
    let total_ms = records.filter_map(|record| series::number(record, "total_ms")).reduce(|sum, ms| sum + ms);
    if let Some(total_ms) = total_ms.filter(|_| !are_traced(view)) {
        return view.share_of_waiting(total_ms / 1e3 / view.level.length_s().max(1.0));
    }
    let steps = view.paths.steps.values().filter(|step| step.is_database);
    view.share_of_paths(steps.map(|step| step.own_ns).sum())
}

#[cfg(test)]
mod tests {
    use model::diagnosis::FaultKind;

    use super::super::super::case::Case;
    use super::super::super::testing::{flat, level, record, with_evidence};
    use super::super::testing::{check, fires};
    use super::*;

    fn case(text: &str, blocks: f64, rows: f64, share: f64) -> crate::diagnosis::Level {
        let fields = [
            ("calls", 1000.0),
            ("total_ms", 9_000.0),
            ("rows", rows * 1000.0),
            ("blocks_hit", blocks * 1000.0),
            ("blocks_read", 0.0),
            ("share_of_db_time", share),
        ];
        let small = [
            ("calls", 1000.0),
            ("total_ms", 10.0),
            ("rows", 1000.0),
            ("blocks_hit", 3000.0),
            ("share_of_db_time", 0.01),
        ];
        let records = vec![
            record(RecordKind::Statement, text, &fields),
            record(RecordKind::Statement, "select 1", &small),
        ];
        with_evidence(level(10, 100, 0.01), Vec::new(), records)
    }

    #[test]
    fn reading_much_for_little_lacks_an_index() {
        let text = "select avg(rating) from review where review.app_id = $1";
        check(
            detect,
            &case(text, 90.0, 1.0, 0.9),
            &["missing index: select avg(rating) from review where review.app_id = ?"],
        );
        check(detect, &case(text, 6.0, 1.0, 0.2), &[]);
    }

    #[test]
    fn a_statement_that_sleeps_limits_only_if_its_length_is_noticed() {
        let role = |wait: &str, length_ms: f64| {
            let text = "select count(*) from stock, pg_sleep($1)";
            let fields = [("calls", 200.0), ("total_ms", 200.0 * length_ms), ("share_of_db_time", 1.0)];
            let sessions = flat("active_sessions", &[("wait_type", wait)], 10, 0.4);
            let statement = record(RecordKind::Statement, text, &fields);
            let level = with_evidence(level(10, 20, length_ms / 800.0), vec![sessions], vec![statement]);
            let request = |number| {
                let below = [(text, 1.0, length_ms)];
                let spans = super::super::super::testing::request("shop", "GET /", length_ms * 1.2, &below);
                super::super::super::testing::sampled(number, spans)
            };
            let level = crate::diagnosis::Level { traces: (0..20).map(request).collect(), ..level };
            fires(detect, &level)[0].role
        };
        assert_eq!(role("CPU", 20.0), Role::Limits);
        assert_eq!(role("Timeout", 20.0), Role::Contributes);
        assert_eq!(role("Timeout", 400.0), Role::Limits);
    }

    #[test]
    fn a_table_that_is_scanned_for_each_call_lacks_an_index() {
        let text = "select title, (select avg(rating) from review where review.app_id = app.app_id) from app \
            where app.app_id = $1";
        let case = |text: &str, table: &str, scans: f64, rows: f64| {
            let mut level = case(text, 80.0, 1.0, 0.3);
            let signal = |name, value| flat(name, &[("table", table)], 10, value);
            level.evidence.signals =
                vec![signal("table_scans", scans), signal("table_rows_scanned", scans * rows)];
            level
        };
        let lacks = |level: &crate::diagnosis::Level| {
            fires(detect, level).iter().any(|it| it.fault() == FaultKind::MissingIndex)
        };
        // A hundred calls per second.
        assert!(lacks(&case(text, "review", 100.0, 12_000.0)));
        assert!(!lacks(&case(text, "review", 2.0, 12_000.0)), "another statement scans it");
        assert!(!lacks(&case(text, "app", 100.0, 1_200.0)), "it is small");
        assert!(!lacks(&case(text, "download", 100.0, 12_000.0)), "it is another's");
        assert!(!lacks(&case("select count(*) from review group by app_id", "review", 100.0, 12_000.0)));
    }

    #[test]
    fn a_traced_statement_whose_length_users_notice_limits_without_counters() {
        let found = |length_ms: f64| {
            let below = [("update stock set quantity = quantity - 1 where id = 1", 1.0, length_ms)];
            let trace = |number| {
                let spans = super::super::super::testing::request("shop", "POST /", length_ms + 3.0, &below);
                super::super::super::testing::sampled(number, spans)
            };
            let traces = (0..40).map(trace).collect();
            fires(detect, &crate::diagnosis::Level { traces, ..level(10, 20, (length_ms + 4.0) / 1e3) }).len()
        };
        assert_eq!((found(300.0), found(4.0)), (1, 0));
    }

    #[test]
    fn looking_at_many_rows_for_few_lacks_an_index() {
        let case = |examined: f64| {
            let text = "SELECT total FROM orders WHERE customer_id = ? LIMIT ?";
            let fields = [
                ("calls", 1000.0),
                ("total_ms", 9_000.0),
                ("rows", 20_000.0),
                ("rows_examined", examined * 1000.0),
                ("share_of_db_time", 0.9),
            ];
            let statement = record(RecordKind::Statement, text, &fields);
            with_evidence(level(10, 100, 0.01), Vec::new(), vec![statement])
        };
        let lacks = |level: &crate::diagnosis::Level| {
            fires(detect, level).iter().any(|it| it.fault() == FaultKind::MissingIndex)
        };
        assert!(lacks(&case(40_000.0)));
        assert!(!lacks(&case(20.0)), "it reads what it returns");
    }

    #[test]
    fn a_digest_joins_the_statement_that_a_driver_wrote() {
        let mut level = traced("select title from app where name = ?");
        level.evidence.records[0].subject = "SELECT `title` FROM `app` WHERE NAME = ?".to_owned();
        let expect = "slow statement: SELECT `title` FROM `app` WHERE NAME = ?";
        check(detect, &level, &[expect]);
    }

    /// Statements with all of the database's time, and traces with the same statement, or another.
    fn traced(statement: &str) -> crate::diagnosis::Level {
        let record = record(
            RecordKind::Statement,
            "select title from app where name = $1",
            &[("calls", 1000.0), ("total_ms", 90_000.0), ("share_of_db_time", 1.0)],
        );
        let below = [(statement, 0.0, 92.0)];
        let trace = |number| {
            super::super::super::testing::sampled(
                number,
                super::super::super::testing::request("shop", "GET /", 100.0, &below),
            )
        };
        let level = with_evidence(level(10, 100, 0.1), Vec::new(), vec![record]);
        crate::diagnosis::Level { traces: (0..20).map(trace).collect(), ..level }
    }

    #[test]
    fn a_statement_that_joins_no_trace_is_not_ruled_out() {
        let ruled_out = |statement: &str| {
            let case = Case { levels: vec![traced(statement)] };
            let view = View::new(&case).expect("a run");
            detect(&view).iter().any(|it| matches!(it, Observation::RuledOut(_)))
        };
        assert!(!ruled_out("select everything from somewhere"), "it is unknown, not ruled out");
        let expect = "slow statement: select title from app where name = ?";
        check(detect, &traced("select title from app where name = %(name_1)s"), &[expect]);
    }

    /// mysqld_exporter cuts texts at 120 characters.
    #[test]
    fn a_cut_text_joins_the_one_traced_statement_that_begins_like_it() {
        let begin = "SELECT `id`, `member_id` AS `memberId`, `book_id` AS `bookId` FROM `loans` AS `loan` WHERE `loan`.";
        let lacks = |traced: &[&str]| {
            let fields = [
                ("calls", 1000.0),
                ("total_ms", 90_000.0),
                ("rows", 20_000.0),
                ("rows_examined", 3e8),
                ("share_of_db_time", 1.0),
            ];
            let record = record(RecordKind::Statement, begin, &fields);
            let below: Vec<(&str, f64, f64)> =
                traced.iter().zip(0_u8..).map(|(text, at)| (*text, f64::from(at) * 40.0, 40.0)).collect();
            let trace = |number| {
                let spans = super::super::super::testing::request("shop", "GET /", 100.0, &below);
                super::super::super::testing::sampled(number, spans)
            };
            let level = with_evidence(level(10, 100, 0.1), Vec::new(), vec![record]);
            let level = crate::diagnosis::Level { traces: (0..20).map(trace).collect(), ..level };
            fires(detect, &level).iter().any(|it| it.fault() == FaultKind::MissingIndex)
        };
        let by = |column: &str| format!("{begin}`{column}` = 17 ORDER BY `id`");
        assert!(lacks(&[&by("member_id")]));
        assert!(!lacks(&[&by("member_id"), &by("book_id")]), "it may be either");
        assert!(!lacks(&["select 1 from orders"]), "it is none of them");
    }

    /// Traces of a program whose driver of the database is not instrumented have spans of other stores alone.
    #[test]
    fn a_statement_without_spans_counts_by_its_number_at_a_time() {
        let lacks = |calls: f64, below: &str| {
            let text = "SELECT taken, kwh FROM readings WHERE meter_id = ? LIMIT ?";
            let fields = [
                ("calls", calls),
                ("total_ms", 90_000.0),
                ("rows", 20.0 * calls),
                ("rows_examined", 300_000.0 * calls),
                ("share_of_db_time", 1.0),
            ];
            let record = record(RecordKind::Statement, text, &fields);
            let trace = |number| {
                let below = [(below, 0.0, 2.0)];
                let spans = super::super::super::testing::request("meters", "GET /", 100.0, &below);
                super::super::super::testing::sampled(number, spans)
            };
            let level = with_evidence(level(10, 100, 0.1), Vec::new(), vec![record]);
            let level = crate::diagnosis::Level { traces: (0..20).map(trace).collect(), ..level };
            fires(detect, &level).iter().any(|it| it.fault() == FaultKind::MissingIndex)
        };
        assert!(lacks(1000.0, "GET meter:17"));
        assert!(!lacks(20.0, "GET meter:17"), "a job calls it");
        assert!(!lacks(1000.0, "select name from meters where id = 17"), "it runs outside of requests");
    }

    #[test]
    fn what_reads_the_same_tables_may_be_spared_with_it() {
        let of = |text: &str, share| {
            let fields = [("calls", 100.0), ("total_ms", 5_000.0), ("share_of_db_time", share)];
            record(RecordKind::Statement, text, &fields)
        };
        let records = vec![
            of("select a, count(*) from app left join download on a = b group by a", 0.5),
            of("select count(distinct a) from app\n join download on a = b", 0.3),
            of("select 1", 0.1),
            of("select a from app", 0.1),
        ];
        let case = Case { levels: vec![with_evidence(level(10, 100, 0.1), Vec::new(), records)] };
        let view = View::new(&case).expect("a run");
        let mut known = known(&view);
        known.sort_by(|a, b| b.database_share.total_cmp(&a.database_share));
        let alike = Alike::new(&known[0], &known);
        assert_eq!((alike.count, alike.database_share), (2, 0.8));
        // A statement without tables is alike only to itself.
        assert_eq!(Alike::new(&known[3], &known).count, 1);
    }

    #[test]
    fn adding_up_much_is_slow_and_lacks_nothing() {
        let text = "select app_id, avg(rating) from app join review on a = b where s = 'X' group by app_id";
        let expect = "slow statement: select app_id, avg(rating) from app join review on a = b where s \
            = ? group by ap…";
        check(detect, &case(text, 900.0, 10.0, 0.9), &[expect]);
    }
}
