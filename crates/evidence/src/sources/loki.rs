//! Loki: the log lines of a run, queried after it is over, and parsed like those of files.
//!
//! The tests use responses built from Loki's published HTTP API, as of Loki 3.5 (`/loki/api/v1/query_range`, `labels`), not a real
//! server.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{Evidence, Gap, Instant, Signal, SignalId, SystemClock};
use serde::Deserialize;

use super::Kind;
use crate::contract::{About, Check, Moment, Period, Source, SourceError};
use crate::http::{self, Client, Door};
use crate::lines::{Lines, harmless};
use crate::settings::{Settings, SettingsError};
use crate::wall;

/// This kind of source.
pub(super) const KIND: Kind = Kind {
    name: "loki",
    provides: "Loki: lines and errors per second during the run, and task durations by a pattern.",
    example: "http://localhost:3100",
    settings: &[
        ("query", "LogQL query for the lines: {app=\"worker\"}"),
        ("user", "user name for the credential"),
        ("tenant", "tenant, for a multi-tenant Loki"),
        ("pattern", r"regular expression with the groups (?<task>…) and (?<duration>…)"),
        ("unit", "unit of durations: ns, us, ms, s or m [default: s]"),
        ("error", "regular expression for lines that report an error"),
    ],
    open,
};

/// Lines per page: Loki's default maximum (`max_entries_limit_per_query`).
const PAGE_LINES: usize = 5_000;
/// Maximum number of lines of a run.
const LINES_MAX: usize = 500_000;
/// Timeout of a page, and latest start of a further one within a call: their sum stays below [`crate::contract::CALL_LIMIT`].
const PAGE_LIMIT: Duration = Duration::from_secs(4);
const BEGIN_LIMIT: Duration = Duration::from_millis(5_500);
/// Interval in which lines are counted.
const STEP: Duration = Duration::from_secs(1);
/// Maximum number of intervals: a day of seconds.
const STEPS_MAX: u64 = 86_400;
/// Maximum length of a stream's labels, characters.
const STREAM_CHARS_MAX: usize = 200;

struct Loki {
    about: About,
    client: Client,
    query: String,
    lines: Lines,
}

/// Loki's HTTP API: "Query logs within a range of time".
#[derive(Deserialize)]
struct Body {
    data: Data,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    result_type: String,
    result: Vec<Stream>,
}

#[derive(Deserialize)]
struct Stream {
    stream: BTreeMap<String, String>,
    /// Nanoseconds since 1970 as a string, the line, and in newer versions structured metadata.
    values: Vec<Vec<serde_json::Value>>,
}

/// A line with its time and stream.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    wall_ns: i64,
    stream: String,
    line: String,
}

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    let Door { base, authorization, .. } = http::door(settings)?;
    let query = settings.text("query", "");
    if !query.trim_start().starts_with('{') {
        return Err(settings.wrong("query", "expected a LogQL stream selector, for example {app=\"worker\"}"));
    }
    Ok(Box::new(Loki {
        about: About { name: settings.name.clone(), kind: KIND.name, address: base.clone() },
        client: Client::patient(&base, authorization, PAGE_LIMIT).of_tenant(settings.values.get("tenant")),
        query,
        lines: Lines::new(settings)?,
    }))
}

impl Source for Loki {
    fn about(&self) -> About {
        self.about.clone()
    }

    fn probe(&mut self) -> Vec<Check> {
        let labels = match self.client.json("/loki/api/v1/labels", &[]) {
            Ok(answer) => answer["data"].as_array().map_or(0, Vec::len),
            Err(trouble) => {
                let remedy = "set address to the Loki API, for example http://localhost:3100";
                return vec![Check::fails("labels", trouble.message, remedy)];
            }
        };
        let asked = self.client.json("/loki/api/v1/query_range", &[("query", &self.query), ("limit", "1")]);
        let lines = match asked {
            Ok(answer) if answer["data"]["resultType"] == "streams" => {
                Check::works("query", self.query.clone())
            }
            Ok(_) => Check::lacks(
                "query",
                "the query returns numbers, not log lines",
                "query = \"{app=\\\"worker\\\"}\"",
            ),
            Err(trouble) => Check::lacks("query", trouble.message, "query = \"{app=\\\"worker\\\"}\""),
        };
        vec![Check::works("labels", format!("{labels}")), lines]
    }

    fn period(&self) -> Option<Duration> {
        None
    }

    fn sample(&mut self, _now: Moment) -> Result<Evidence, SourceError> {
        Ok(Evidence::default())
    }

    fn look_back(&mut self, period: &Period) -> Result<Evidence, SourceError> {
        let begun = SystemClock::now();
        let mut counts: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
        let mut from_ns = period.from.wall_ns;
        let (mut lines, mut reason) = (0, None);
        loop {
            let is_late = SystemClock::now().since(begun) > BEGIN_LIMIT;
            if lines >= LINES_MAX || is_late {
                reason = Some(format!("only the first {lines} lines were read within the time limit"));
                break;
            }
            let page = match self.page(from_ns, period.to.wall_ns.max(from_ns + 1)) {
                Ok(page) => page,
                Err(trouble) if lines == 0 => return Err(trouble),
                Err(trouble) => {
                    reason = Some(trouble.message);
                    break;
                }
            };
            let (kept, next_ns) = complete(page);
            lines += kept.len();
            for entry in kept {
                let at = period.instant(entry.wall_ns);
                let is_error = self.lines.look(&self.about.name, &entry.stream, at, &entry.line);
                let step = second(period, entry.wall_ns);
                let [all, errors] = counts.entry(step).or_default();
                *all += 1;
                *errors += u64::from(is_error);
            }
            from_ns = next_ns.unwrap_or(period.to.wall_ns);
            if from_ns >= period.to.wall_ns {
                break;
            }
        }
        let mut records = self.lines.take_errors();
        records.extend(self.lines.take_tasks(&self.about.name, period.to.at));
        let gap = reason.map(|reason| Gap {
            source: self.about.name.clone(),
            from: period.instant(from_ns),
            to: period.to.at,
            reason,
        });
        let signals = self.signals(period, from_ns, &counts);
        Ok(Evidence { signals, records, gaps: gap.into_iter().collect(), ..Evidence::default() })
    }
}

impl Loki {
    /// Returns one page of lines from an instant on, in order.
    fn page(&self, from_ns: i64, to_ns: i64) -> Result<Vec<Entry>, SourceError> {
        let (start, end, limit) = (from_ns.to_string(), to_ns.to_string(), PAGE_LINES.to_string());
        let parameters = [
            ("query", &*self.query),
            ("start", &*start),
            ("end", &*end),
            ("limit", &*limit),
            ("direction", "forward"),
        ];
        let text = self.client.text("/loki/api/v1/query_range", &parameters)?;
        entries(&text).map_err(|why| {
            SourceError::new(format!("GET {}/loki/api/v1/query_range: {why}", self.client.base()))
        })
    }

    /// Returns lines and errors per second, until the end of the lines read.
    fn signals(&self, period: &Period, read_ns: i64, counts: &BTreeMap<u64, [u64; 2]>) -> Vec<Signal> {
        let steps = second(period, read_ns).min(STEPS_MAX);
        let query = format!(
            "{} [start={} end={}]",
            self.query,
            wall::utc(period.from.wall_ns),
            wall::utc(period.to.wall_ns)
        );
        let of = |place: usize, signal: SignalId| Signal {
            source: self.about.name.clone(),
            name: signal.into(),
            labels: BTreeMap::new(),
            unit: signal.unit().to_owned(),
            query: query.clone(),
            step: STEP,
            points: (0..steps)
                .map(|step| {
                    let at = Instant::from_ns(period.from.at.as_ns() + (step + 1) * 1_000_000_000);
                    (at, counts.get(&step).map_or(0.0, |counts| counts[place] as f64))
                })
                .collect(),
        };
        vec![of(0, SignalId::LogLines), of(1, SignalId::LogErrors)]
    }
}

/// Returns the second of the run.
fn second(period: &Period, wall_ns: i64) -> u64 {
    u64::try_from(wall_ns.saturating_sub(period.from.wall_ns) / 1_000_000_000).unwrap_or(0)
}

/// Returns the entries that a page contains completely, and the start of the next page. A full page may end within lines of the
/// same time, so its last time is left to the next page.
fn complete(mut page: Vec<Entry>) -> (Vec<Entry>, Option<i64>) {
    if page.len() < PAGE_LINES {
        return (page, None);
    }
    let last_ns = page.last().map_or(0, |entry| entry.wall_ns);
    if page.first().is_some_and(|entry| entry.wall_ns == last_ns) {
        // If more lines than a page share one time, the rest cannot be queried.
        return (page, Some(last_ns + 1));
    }
    page.retain(|entry| entry.wall_ns < last_ns);
    (page, Some(last_ns))
}

fn entries(text: &str) -> Result<Vec<Entry>, String> {
    let body: Body = serde_json::from_str(text).map_err(|error| format!("unexpected response: {error}"))?;
    if body.data.result_type != "streams" {
        return Err(format!(
            "expected log lines, got a {:?}; use a LogQL query without an aggregation",
            body.data.result_type
        ));
    }
    let mut entries = Vec::new();
    for stream in body.data.result {
        let labels: Vec<String> =
            stream.stream.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
        let name = harmless(&format!("{{{}}}", labels.join(",")), STREAM_CHARS_MAX);
        for value in stream.values.into_iter().take(PAGE_LINES) {
            let [serde_json::Value::String(wall_ns), serde_json::Value::String(line), ..] = &value[..] else {
                return Err("a line lacks its time stamp or its text".to_owned());
            };
            let wall_ns = wall_ns.parse().map_err(|_| format!("invalid time stamp {wall_ns:?}"))?;
            entries.push(Entry { wall_ns, stream: name.clone(), line: line.clone() });
        }
    }
    entries.sort();
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use model::Epoch;

    use super::*;
    use crate::contract::promises;
    use crate::lines::shown;
    use crate::stage::Pages;

    const LABELS: &str = r#"{"status":"success","data":["app","pod"]}"#;

    fn source(address: &str, query: &str) -> Result<Box<dyn Source>, SettingsError> {
        let values = [("query", query), ("pattern", r"(?<task>\S+) took (?<duration>[\d.]+)s")];
        crate::sources::open(&Settings {
            name: "logs".to_owned(),
            kind: "loki".to_owned(),
            address: address.to_owned(),
            credential: Some("t0psecret".to_owned()),
            values: values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        })
    }

    fn parameter(path: &str, name: &str) -> i64 {
        let (_, rest) = path.split_once(&format!("{name}=")).expect("it is asked with it");
        rest.split('&').next().expect("a value").parse().expect("a number")
    }

    /// A Loki with a line every `every_ns`: tasks on one stream and an error on every tenth.
    fn loki(every_ns: i64) -> Pages {
        Pages::start(move |path| {
            if path.starts_with("/loki/api/v1/labels") {
                return (200, LABELS.to_owned());
            }
            if !path.contains("start=") {
                return (
                    200,
                    r#"{"status":"success","data":{"resultType":"streams","result":[]}}"#.to_owned(),
                );
            }
            let (start, end) = (parameter(path, "start"), parameter(path, "end"));
            let limit = parameter(path, "limit") as usize;
            let first = (start + every_ns - 1) / every_ns;
            let lines = (first..).map(|number| (number, number * every_ns)).take_while(|(_, at)| *at < end);
            let lines = lines.take(limit).map(|(number, at)| {
                let text = if number % 10 == 0 { "ERROR out of ink" } else { "scan.rule took 0.5s" };
                format!("[\"{at}\",\"{text}\"]")
            });
            let lines: Vec<String> = lines.collect();
            let stream = format!("{{\"stream\":{{\"app\":\"worker\"}},\"values\":[{}]}}", lines.join(","));
            (
                200,
                format!(
                    "{{\"status\":\"success\",\"data\":{{\"resultType\":\"streams\",\"result\":[{stream}]}}}}"
                ),
            )
        })
    }

    #[test]
    fn promises_are_kept_with_the_published_api() {
        let loki = loki(1_000_000_000);
        let mut source = source(&loki.url(""), "{app=\"worker\"}").expect("settings that are right");
        promises::of_a_source(source.as_mut(), Some("t0psecret"));
    }

    #[test]
    fn lines_are_read_page_by_page_and_each_once() {
        let loki = loki(1_000_000);
        let mut source = source(&loki.url(""), "{app=\"worker\"}").expect("settings that are right");
        let epoch = Epoch { at: Instant::ZERO, wall_unix_ns: 1_700_000_000_000_000_000 };
        let moment = |second: u64| Moment::new(Instant::from_ns(second * 1_000_000_000), &epoch);
        let evidence = source.look_back(&Period { from: moment(0), to: moment(12) }).expect("it is there");
        assert_eq!(evidence.gaps, []);
        let sums: Vec<(f64, usize)> = evidence
            .signals
            .iter()
            .map(|signal| (signal.points.iter().map(|(_, value)| value).sum(), signal.points.len()))
            .collect();
        assert_eq!(sums, [(12_000.0, 12), (1_200.0, 12)]);
        let task =
            evidence.records.iter().map(shown).find(|record| record.starts_with("task")).expect("a task");
        assert_eq!(task, "task scan.rule: avg_ms=500 count=10800 max_ms=500 min_ms=500 p95_ms=500");
        let line = shown(&evidence.records[0]);
        assert_eq!(line, "line {app=\"worker\"}: text=ERROR out of ink");
    }

    #[test]
    fn a_page_ends_before_what_may_go_on() {
        let entry = |wall_ns| Entry { wall_ns, stream: String::new(), line: String::new() };
        let page =
            |times: &dyn Fn(i64) -> i64| (0..PAGE_LINES as i64).map(|place| entry(times(place))).collect();
        let (kept, next) = complete(page(&|place| place / 2));
        assert_eq!((kept.len(), next), (PAGE_LINES - 2, Some(PAGE_LINES as i64 / 2 - 1)));
        let (kept, next) = complete(page(&|_| 7));
        assert_eq!((kept.len(), next), (PAGE_LINES, Some(8)));
        assert_eq!(complete(vec![entry(7)]), (vec![entry(7)], None));
    }

    #[test]
    fn what_is_no_answer_is_trouble() {
        let check = |text: &str| assert!(entries(text).is_err(), "{text}");
        check("");
        check(r#"{"data":{"resultType":"matrix","result":[]}}"#);
        check(r#"{"data":{"resultType":"streams","result":[{"stream":{},"values":[["1"]]}]}}"#);
        check(r#"{"data":{"resultType":"streams","result":[{"stream":{},"values":[["one","line"]]}]}}"#);
        assert!(source("http://h", "rate({app=\"x\"}[1m])").is_err());
    }

    #[test]
    fn promises_are_kept_without_a_server() {
        let mut source = source("http://127.0.0.1:9", "{app=\"worker\"}").expect("settings that are right");
        promises::of_an_absent_server(source.as_mut());
    }
}
