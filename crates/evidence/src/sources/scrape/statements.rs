//! Statements that a database's exporter counts by digest, as records of a run: the increase from the first page to the last.
//!
//! MySQL and MariaDB count them in `performance_schema.events_statements_summary_by_digest`, which mysqld_exporter shows with
//! `--collect.perf_schema.eventsstatements`.

use std::collections::BTreeMap;

use model::Datum;

use super::exposition::{Page, Sample};

/// The label with the statement, whose values are replaced by `?`.
const TEXT: &str = "digest_text";

/// Names of counters, and the position of each in [`Counts`].
const COUNTERS: [&str; 4] = [
    "mysql_perf_schema_events_statements_total",
    "mysql_perf_schema_events_statements_seconds_total",
    "mysql_perf_schema_events_statements_rows_sent_total",
    "mysql_perf_schema_events_statements_rows_examined_total",
];

/// Maximum number of statements that are counted, and of those that become records.
const STATEMENTS_MAX: usize = 1_000;
const RECORDS_MAX: usize = 50;

/// Calls, seconds, rows sent, rows examined.
type Counts = [f64; COUNTERS.len()];

/// The counts of the first page and of the last one, by statement.
#[derive(Debug, Default)]
pub(super) struct Statements {
    first: Option<BTreeMap<String, Counts>>,
    last: BTreeMap<String, Counts>,
}

impl Statements {
    /// Reads the counters of a page.
    pub(super) fn read(&mut self, page: &Page) {
        let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
        for sample in &page.samples {
            let Some((place, text)) = counter(sample) else { continue };
            if counts.len() < STATEMENTS_MAX || counts.contains_key(&text) {
                // One text may have several digests, by schema.
                counts.entry(text).or_default()[place] += sample.value;
            }
        }
        self.last.clone_from(&counts);
        self.first.get_or_insert(counts);
    }

    /// Returns the statements with the largest total time since the first page, with their fields.
    pub(super) fn records(&self) -> Vec<(String, BTreeMap<String, Datum>)> {
        let Some(first) = &self.first else { return Vec::new() };
        let since = |(text, now): (&String, &Counts)| {
            let before = first.get(text).copied().unwrap_or_default();
            // After a reset, counting starts again.
            let is_reset = now[0] < before[0];
            let grown: Counts =
                std::array::from_fn(|at| if is_reset { now[at] } else { (now[at] - before[at]).max(0.0) });
            (grown[0] > 0.0).then(|| (text.clone(), grown))
        };
        let mut grown: Vec<(String, Counts)> = self.last.iter().filter_map(since).collect();
        let all_s: f64 = grown.iter().map(|(_, counts)| counts[1]).sum();
        grown.sort_by(|a, b| b.1[1].total_cmp(&a.1[1]));
        grown.truncate(RECORDS_MAX);
        grown.into_iter().map(|(text, counts)| (text.clone(), fields(text, counts, all_s))).collect()
    }
}

fn counter(sample: &Sample) -> Option<(usize, String)> {
    let place = COUNTERS.iter().position(|name| *name == sample.name)?;
    let text = sample.labels.get(TEXT).filter(|text| !text.is_empty() && sample.value.is_finite())?;
    Some((place, readable(text)))
}

fn fields(text: String, [calls, seconds, sent, examined]: Counts, all_s: f64) -> BTreeMap<String, Datum> {
    let mut fields: BTreeMap<String, Datum> = BTreeMap::from([("statement".to_owned(), Datum::from(text))]);
    let share = if all_s > 0.0 { seconds / all_s } else { 0.0 };
    for (name, value) in [
        ("calls", calls),
        ("total_ms", seconds * 1e3),
        ("mean_ms", seconds * 1e3 / calls),
        ("rows", sent),
        ("rows_examined", examined),
        ("share_of_db_time", share),
    ] {
        fields.insert(name.to_owned(), value.into());
    }
    fields
}

/// Returns a digest as people write statements: without quotes around names, and without the spaces around marks.
fn readable(digest: &str) -> String {
    let text = digest.replace('`', "").replace("(...)", "(?)").replace(" . ", ".");
    text.replace("( ", "(").replace(" )", ")").replace(" (", "(").replace(" ,", ",").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page as mysqld_exporter 0.14 writes it for MariaDB 10.11.
    fn page(calls: u64, seconds: f64, examined: u64) -> Page {
        let text = "SELECT COUNT ( * ) , `total` FROM `shop` . `orders` WHERE `customer_id` IN (...) ";
        let labels = format!("{{digest=\"da78\",digest_text=\"{text}\",schema=\"shop\"}}");
        let line = |name: &str, value: String| {
            format!("mysql_perf_schema_events_statements_{name}{labels} {value}\n")
        };
        Page::parse(
            &[
                line("total", calls.to_string()),
                line("seconds_total", seconds.to_string()),
                line("rows_sent_total", (calls * 2).to_string()),
                line("rows_examined_total", examined.to_string()),
                line("errors_total", "3".to_owned()),
            ]
            .concat(),
        )
    }

    fn read(pages: &[Page]) -> Vec<(String, BTreeMap<String, Datum>)> {
        let mut statements = Statements::default();
        pages.iter().for_each(|page| statements.read(page));
        statements.records()
    }

    #[test]
    fn statements_are_counted_from_the_first_page_to_the_last() {
        let found = read(&[page(10, 1.0, 100), page(15, 2.0, 200), page(30, 5.0, 40_100)]);
        let [(text, fields)] = &found[..] else { panic!("one statement: {found:?}") };
        assert_eq!(text, "SELECT COUNT(*), total FROM shop.orders WHERE customer_id IN(?)");
        let numbers = ["calls", "total_ms", "rows", "rows_examined", "share_of_db_time"];
        let numbers = numbers.map(|name| fields[name].clone());
        assert_eq!(numbers, [20.0, 4_000.0, 40.0, 40_000.0, 1.0].map(Datum::from));
    }

    #[test]
    fn statements_that_did_not_run_are_no_records_and_a_reset_starts_again() {
        assert!(read(&[page(10, 1.0, 100), page(10, 1.0, 100)]).is_empty());
        assert!(read(&[Page::parse("up 1\n")]).is_empty());
        let found = read(&[page(10, 1.0, 100), page(4, 0.5, 8)]);
        assert_eq!(found[0].1["calls"], Datum::from(4.0));
    }
}
