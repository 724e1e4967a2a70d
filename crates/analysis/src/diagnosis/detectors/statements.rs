//! A statement that takes most of the database's time, and most of the requests'. Where it asks for the rows of one thing and
//! reads very many blocks for the few that it gives, an index is missing; where the database tells which tables are read from their
//! beginning to their end, that has to be one that the statement asks, about once for each call.
//!
//! Not: a statement that adds up many rows by its nature (it groups, or has no condition): that is slow, and no index helps.

use std::collections::BTreeSet;

use model::diagnosis::{CostClass, ExemplarLink, Hypothesis, Prediction, Role};
use model::signal::label;
use model::{Record, RecordKind, Signal, SignalId, Strength, Unit};

use super::super::paths::{Slowest, Step};
use super::super::series;
use super::super::view::{
    Depth, Gone, Says, View, WAITS_MIN, count, draft, exact, missing, not, percent, time,
};
use super::calls::Share;
use super::short;
use crate::traces::normalised;

const NAME: &str = "statement";

/// What helps where nothing is missing.
const SLOW_REMEDY: &str = "ask for less, or keep the answer: a projection, a cache, a materialized view";

/// The share of the requests' time from which on a statement is told.
const SHARE_MIN: f64 = 0.1;

/// From this share on it is what limits.
const LIMITS_MIN: f64 = 0.3;

/// Of the database's time.
const DATABASE_SHARE_MIN: f64 = 0.3;

/// Reading much for little is usual for rows that many have; only where it takes so much of the database's time is something missing.
const LACKING_SHARE_MIN: f64 = 0.4;

/// Blocks read for one call, and for one row that it gives, from which on an index is missing where there could be one.
const BLOCKS_MIN: f64 = 40.0;
const BLOCKS_PER_ROW_MIN: f64 = 40.0;

/// A table of fewer rows is read as quickly from its beginning to its end as by an index.
const ROWS_OF_SCAN_MIN: f64 = 4_000.0;

/// A table is read so often for each call of a statement, at least, where the statement is what reads it.
const SCANS_PER_CALL_MIN: f64 = 0.4;

/// Of the database's time, where it is known that a table is scanned.
const SCANNING_SHARE_MIN: f64 = 0.1;

/// A statement with what the database and the traces say of it.
struct Known<'a> {
    text: String,
    record: &'a Record,
    calls: f64,
    mean_s: f64,
    blocks: f64,
    rows: f64,
    database_share: f64,
    share: f64,
    slowest: Slowest,
}

/// Which statement takes the time.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
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
        return vec![of(view, one, None)];
    }
    let top = &known[0];
    let counts = top.database_share >= DATABASE_SHARE_MIN && top.share >= SHARE_MIN;
    if !counts {
        let why = format!("the one that takes most: {}", short(&top.text));
        return vec![not("a slow statement", why, format!("{} of the requests' time", percent(top.share)))];
    }
    vec![of(view, top, Some(&Alike::of(top, &known)))]
}

/// What traces alone tell.
fn without_records(view: &View<'_>) -> Vec<Says> {
    let calls = view.paths.steps.iter().filter(|(_, step)| step.is_database);
    let shares = calls.map(|(key, step)| (step, Share::of(view, key, step)));
    let Some((step, share)) = shares.max_by(|a, b| a.1.all.total_cmp(&b.1.all)) else { return Vec::new() };
    let mut says = vec![missing(
        "the database's own counters",
        "which statement takes its time, how many blocks it reads, and whether an index is missing",
        "--evidence postgresql=postgres://USER@HOST:5432/DATABASE (plimsoll doctor prints the grants)",
    )];
    // A database that nobody waits for may take what it takes.
    let is_jam = share.all >= LIMITS_MIN && share.waits >= WAITS_MIN;
    if let Some(text) = step.statement.as_ref().filter(|_| is_jam) {
        says.push(of_traces(view, text, step, &share));
    }
    says
}

fn of_traces(view: &View<'_>, text: &str, step: &Step, share: &Share) -> Says {
    let mut exemplars = view.exemplars(&step.slowest);
    exemplars.truncate(2);
    exemplars.push(ExemplarLink::Statement(text.to_owned()));
    Says::Found(
        Box::new(Hypothesis {
            title: "one statement takes most of what the service does".to_owned(),
            summary: format!("{} a call, {} of the time", time(step.mean_s()), percent(share.all)),
            claim: format!(
                "{} of the time of requests is one statement, {} a call, and what waits for its worker",
                percent(share.all),
                time(step.mean_s())
            ),
            role: Role::Limits,
            strength: Strength::Pattern,
            explains: Some(share.all),
            numbers: vec![
                exact("a call", step.mean_s(), Unit::Seconds).noted(format!("mean of {}", step.spans)),
                exact("of the time of requests", share.all * 100.0, Unit::Percent),
            ],
            exemplars,
            flags: biased(view),
            caveats: vec!["the database's own counters were not told".to_owned()],
            remedy: SLOW_REMEDY.to_owned(),
            cost: CostClass::Cache,
            prediction: view.without(share.all, "the answer is kept"),
            ..draft(NAME, "slow statement", short(text))
        }),
        Depth::Resource,
    )
}

fn known<'a>(view: &View<'a>) -> Vec<Known<'a>> {
    let records = view.level.evidence.records.iter().filter(|record| record.kind == RecordKind::Statement);
    let known = records.filter_map(|record| {
        let number = |name| series::number(record, name);
        let calls = number("calls").filter(|calls| *calls > 0.0)?;
        let text = normalised(series::text(record, "statement").unwrap_or(&record.subject));
        let found = view.paths.statements.get(&text);
        // Without traces: the mean number of requests that it is at work for, by Little's law.
        let busy = number("total_ms")? / 1e3 / view.level.length_s().max(1.0);
        let share = match found {
            Some(asking) => view.share_of_paths(asking.own_ns),
            None if view.paths.traces > 0 => 0.0,
            None => view.share_of_waiting(busy),
        };
        Some(Known {
            record,
            calls,
            mean_s: number("total_ms")? / 1e3 / calls,
            blocks: (number("blocks_hit").unwrap_or(0.0) + number("blocks_read").unwrap_or(0.0)) / calls,
            rows: number("rows").unwrap_or(0.0) / calls,
            database_share: number("share_of_db_time").unwrap_or(0.0),
            share,
            slowest: found.map(|asking| asking.slowest.clone()).unwrap_or_default(),
            text,
        })
    });
    known.collect()
}

/// A table that is read from its beginning to its end.
struct Scanned {
    name: String,
    /// How often, per second.
    scans_per_s: f64,
    /// Rows of one time.
    rows: f64,
}

/// The large ones among the tables that are scanned; none where nobody tells of tables.
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

/// Whether it asks for few rows of a large table, which is scanned about as often as it is called.
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

/// Whether it asks for one thing by a condition.
fn asks_for_one(text: &str) -> bool {
    let changes_shape = ["refresh", "analyze", "vacuum", "create", "copy", "insert"];
    text.contains("where")
        && text.contains('=')
        && !text.contains("group by")
        && !text.contains(" join ")
        && !changes_shape.iter().any(|word| text.starts_with(word))
}

/// Whether it asks for few rows by a condition and reads many blocks for them.
fn reads_much(one: &Known<'_>) -> bool {
    asks_for_one(&one.text.to_lowercase())
        && one.database_share >= LACKING_SHARE_MIN
        && one.blocks >= BLOCKS_MIN
        && one.blocks / one.rows.max(1.0) >= BLOCKS_PER_ROW_MIN
}

/// Statements that read the same tables as one does, with it: what spares the one may spare them all.
struct Alike {
    count: usize,
    share: f64,
    database_share: f64,
}

impl Alike {
    fn of(one: &Known<'_>, known: &[Known<'_>]) -> Alike {
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

/// The tables that a statement reads, by the words that stand before their names.
fn tables(text: &str) -> BTreeSet<String> {
    let text = text.to_lowercase();
    let words: Vec<&str> =
        text.split(|letter: char| letter.is_whitespace() || "(),;".contains(letter)).collect();
    let named = words.windows(2).filter(|pair| ["from", "join"].contains(&pair[0]));
    named.map(|pair| pair[1].to_owned()).filter(|name| !name.is_empty()).collect()
}

/// What spares one statement, or it and those that read the same tables. Without an index only it is slow.
fn prediction(view: &View<'_>, one: &Known<'_>, share: f64, alike: Option<&Alike>) -> Option<Prediction> {
    let of_database = database_share(view);
    let alone = Gone { share, freed: one.database_share * of_database };
    let Some(alike) = alike else { return view.without_work(alone, "the index is there") };
    let all = Gone { share: alike.share.max(share), freed: alike.database_share * of_database };
    let change = match alike.count {
        0 | 1 => "the statement takes next to no time".to_owned(),
        _ => "the statement takes next to no time, or all that read the same tables do".to_owned(),
    };
    view.without_between(alone, all, &change)
}

/// What is said of one; without others that are alike an index is missing.
fn of(view: &View<'_>, one: &Known<'_>, alike: Option<&Alike>) -> Says {
    let lacks_index = alike.is_none();
    let share = if view.paths.traces > 0 { one.share } else { one.share.max(0.0) };
    let mut numbers = vec![
        exact("of the database's time", one.database_share * 100.0, Unit::Percent),
        exact("of the time of requests", share * 100.0, Unit::Percent),
        exact("a call", one.mean_s, Unit::Seconds).noted(format!("mean of {} calls", count(one.calls))),
        exact("blocks of a call", one.blocks, Unit::Count),
        exact("rows of a call", one.rows, Unit::Count),
    ];
    numbers.extend(alike.filter(|alike| alike.count > 1).map(|alike| {
        exact("with what reads the same tables", alike.database_share * 100.0, Unit::Percent)
            .noted(format!("of the database's time, {} statements", alike.count))
    }));
    let (label, title, claim, remedy) = match lacks_index {
        true => (
            "missing index",
            "a statement reads far more than it gives".to_owned(),
            format!(
                "each call reads {} blocks for {} rows, though it asks for one thing: nothing leads to \
                    its rows",
                count(one.blocks),
                count(one.rows)
            ),
            "create an index on the column that it asks by".to_owned(),
        ),
        false => (
            "slow statement",
            "one statement takes most of the database's time".to_owned(),
            format!(
                "{} of the database's time is one statement, {} a call",
                percent(one.database_share),
                time(one.mean_s)
            ),
            SLOW_REMEDY.to_owned(),
        ),
    };
    let mut exemplars = view.exemplars(&one.slowest);
    exemplars.truncate(2);
    exemplars.push(ExemplarLink::Statement(one.text.clone()));
    Says::Found(
        Box::new(Hypothesis {
            title,
            summary: format!(
                "{} a call, {} blocks, {} of the database's time",
                time(one.mean_s),
                count(one.blocks),
                percent(one.database_share)
            ),
            claim,
            role: if share >= LIMITS_MIN || (lacks_index && one.database_share >= 0.5) {
                Role::Limits
            } else {
                Role::Contributes
            },
            strength: if lacks_index { Strength::Arithmetic } else { Strength::Statistics },
            explains: Some(share.max(if lacks_index {
                one.database_share * database_share(view)
            } else {
                0.0
            })),
            numbers,
            queries: vec![model::diagnosis::EvidenceQuery {
                source: one.record.source.clone(),
                signal: "statements".to_owned(),
                text: "pg_stat_statements, at both ends of the run".to_owned(),
                run: view.run,
                from: view.level.from(),
                to: view.level.to(),
                step: std::time::Duration::ZERO,
                points: 2,
            }],
            exemplars,
            flags: biased(view),
            caveats: vec![
                "the plan itself was not asked for: EXPLAIN (ANALYZE, BUFFERS) shows it".to_owned(),
            ],
            remedy,
            cost: CostClass::Logic,
            prediction: prediction(view, one, share, alike),
            ..draft(NAME, label, short(&one.text))
        }),
        if lacks_index { Depth::Cause } else { Depth::Resource },
    )
}

/// The share of the database's time that a statement takes, where the database tells of it.
pub(super) fn share_of_database(view: &View<'_>, statement: &str) -> Option<f64> {
    let records = view.level.evidence.records.iter().filter(|record| record.kind == RecordKind::Statement);
    let is_it = |record: &&Record| {
        normalised(series::text(record, "statement").unwrap_or(&record.subject)) == statement
    };
    records.filter(is_it).filter_map(|record| series::number(record, "share_of_db_time")).reduce(f64::max)
}

/// The share of requests' time that is the database's.
pub(super) fn database_share(view: &View<'_>) -> f64 {
    let steps = view.paths.steps.values().filter(|step| step.is_database);
    view.share_of_paths(steps.map(|step| step.own_ns).sum())
}

/// That traces were kept for being slow.
pub(super) fn biased(view: &View<'_>) -> Vec<String> {
    let text = "no trace of the unbiased sample: shares are those of slow and failed requests";
    if view.paths.is_biased { vec![text.to_owned()] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::super::super::case::Case;
    use super::super::super::testing::{flat, level, record, told};
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
        told(level(10, 100, 0.01), Vec::new(), records)
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
            fires(detect, level).iter().any(|it| it.label == "missing index")
        };
        // A hundred calls a second.
        assert!(lacks(&case(text, "review", 100.0, 12_000.0)));
        assert!(!lacks(&case(text, "review", 2.0, 12_000.0)), "somebody else scans it");
        assert!(!lacks(&case(text, "app", 100.0, 1_200.0)), "it is small");
        assert!(!lacks(&case(text, "download", 100.0, 12_000.0)), "it is another's");
        assert!(!lacks(&case("select count(*) from review group by app_id", "review", 100.0, 12_000.0)));
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
        let case = Case { levels: vec![told(level(10, 100, 0.1), Vec::new(), records)] };
        let view = View::of(&case).expect("a run");
        let mut known = known(&view);
        known.sort_by(|a, b| b.database_share.total_cmp(&a.database_share));
        let alike = Alike::of(&known[0], &known);
        assert_eq!((alike.count, alike.database_share), (2, 0.8));
        // Without a table only it is itself.
        assert_eq!(Alike::of(&known[3], &known).count, 1);
    }

    #[test]
    fn adding_up_much_is_slow_and_lacks_nothing() {
        let text = "select app_id, avg(rating) from app join review on a = b where s = 'X' group by app_id";
        let expect = "slow statement: select app_id, avg(rating) from app join review on a = b where s \
            = ? group by ap…";
        check(detect, &case(text, 900.0, 10.0, 0.9), &[expect]);
    }
}
