//! Metrics pages that are read directly, without a Prometheus: `/metrics`, `/actuator/prometheus`.
//!
//! A page is read once per period, in Prometheus' text format or OpenMetrics. If a pack knows the metrics, signals have the pack's
//! names; others keep their own: gauges as levels, counters as rates, histograms and summaries as a rate and a mean.
//! Buckets and quantiles are ignored, because they cover a process's whole life.

mod exposition;
mod rates;
mod statements;

use std::collections::BTreeMap;
use std::time::Duration;

use model::{Datum, Evidence, Instant, Record, RecordKind, Signal};

use super::Kind;
use crate::contract::{About, Check, Moment, Period, Source, SourceError};
use crate::gathered::Gathered;
use crate::http::{self, Client, Door};
use crate::settings::{Settings, SettingsError};
use exposition::Page;
use rates::{Rates, Value};
use statements::Statements;

/// This kind of source.
pub(super) const KIND: Kind = Kind {
    name: "scrape",
    provides: "Metrics endpoints in Prometheus' text format or OpenMetrics, scraped directly once a second.",
    example: "http://localhost:8080/actuator/prometheus",
    settings: &[
        ("step", "interval between readings [default: 1s]"),
        ("user", "user name for the credential"),
    ],
    open,
};

/// Maximum number of series kept from one page; the rest is counted.
const SERIES_MAX: usize = 2_000;
/// Default and minimum interval between reads.
const STEP: Duration = Duration::from_secs(1);
const STEP_MIN: Duration = Duration::from_millis(50);
/// Default path of metrics.
const USUAL_PATH: &str = "/metrics";

struct Scrape {
    about: About,
    client: Client,
    path: String,
    step: Duration,
    rates: Rates,
    statements: Statements,
    gathered: Gathered,
    last_at: Option<Instant>,
    wrong: u64,
    beyond: u64,
}

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    let Door { base, authorization, .. } = http::door(settings)?;
    let step = settings.duration("step", STEP)?;
    if step < STEP_MIN {
        return Err(settings.wrong("step", "the minimum is 50ms"));
    }
    let path = if has_path(&base) { String::new() } else { USUAL_PATH.to_owned() };
    let about = About { name: settings.name.clone(), kind: KIND.name, address: format!("{base}{path}") };
    Ok(Box::new(Scrape {
        about,
        client: Client::new(&base, authorization),
        path,
        step,
        rates: Rates::new(),
        statements: Statements::default(),
        gathered: Gathered::new(SERIES_MAX),
        last_at: None,
        wrong: 0,
        beyond: 0,
    }))
}

fn has_path(base: &str) -> bool {
    base.split_once("://").is_some_and(|(_, rest)| rest.contains('/'))
}

impl Source for Scrape {
    fn about(&self) -> About {
        self.about.clone()
    }

    fn probe(&mut self) -> Vec<Check> {
        let page = match self.client.text(&self.path, &[]) {
            Ok(text) => Page::parse(&text),
            Err(trouble) => {
                let remedy = "set address to the metrics endpoint, for example http://localhost:8080/actuator/prometheus";
                return vec![Check::fails("metrics endpoint", trouble.message, remedy)];
            }
        };
        if page.samples.is_empty() {
            let why = format!("{} serves no metrics in Prometheus' text format", self.about.address);
            return vec![Check::fails("metrics endpoint", why, "set address to the metrics endpoint")];
        }
        let mut checks = vec![Check::works("metrics endpoint", format!("{} series", page.samples.len()))];
        checks.push(match Rates::packs_of(&page)[..] {
            [] => Check::works("packs", "no known exporter; metrics keep their own names"),
            ref packs => Check::works("packs", packs.join(", ")),
        });
        if page.wrong > 0 {
            let why = format!("{} lines cannot be parsed", page.wrong);
            checks.push(Check::lacks("format", why, "serve Prometheus' text format or OpenMetrics"));
        }
        checks
    }

    fn period(&self) -> Option<Duration> {
        Some(self.step)
    }

    fn sample(&mut self, now: Moment) -> Result<Evidence, SourceError> {
        let page = Page::parse(&self.client.text(&self.path, &[])?);
        if page.samples.is_empty() {
            return Err(SourceError::new(format!(
                "{} serves no metrics in Prometheus' text format",
                self.about.address
            )));
        }
        self.wrong = self.wrong.max(page.wrong);
        self.beyond = self.beyond.max(page.dropped);
        let elapsed_s = self.last_at.map_or(0.0, |last| now.at.since(last).as_secs_f64());
        self.statements.read(&page);
        for value in self.rates.read(page, elapsed_s) {
            let signal = self.signal(value, now.at);
            self.gathered.add(signal);
        }
        self.last_at = Some(now.at);
        Ok(Evidence { signals: self.gathered.take_due(now.at), ..Evidence::default() })
    }

    fn look_back(&mut self, period: &Period) -> Result<Evidence, SourceError> {
        let signals = self.gathered.take();
        let lost = [
            ("points_dropped", self.gathered.dropped as f64),
            ("series_beyond_limit", self.beyond as f64),
            ("lines_not_understood", self.wrong as f64),
        ];
        let lost: BTreeMap<String, Datum> = lost
            .into_iter()
            .filter(|(_, count)| *count > 0.0)
            .map(|(name, count)| (name.to_owned(), count.into()))
            .collect();
        let warning = |mut fields: BTreeMap<String, Datum>| {
            fields.insert("series_max".to_owned(), (SERIES_MAX as f64).into());
            let subject = "metrics are incomplete".to_owned();
            Record {
                source: self.about.name.clone(),
                kind: RecordKind::Warning,
                at: period.to.at,
                subject,
                fields,
            }
        };
        let statement = |(subject, fields): (String, BTreeMap<String, Datum>)| Record {
            source: self.about.name.clone(),
            kind: RecordKind::Statement,
            at: period.to.at,
            subject,
            fields,
        };
        let mut records: Vec<Record> = self.statements.records().into_iter().map(statement).collect();
        records.extend((!lost.is_empty()).then(|| warning(lost)));
        Ok(Evidence { signals, records, ..Evidence::default() })
    }
}

impl Scrape {
    fn signal(&self, value: Value, at: Instant) -> Signal {
        let step = format!("{}ms", self.step.as_millis());
        Signal {
            source: self.about.name.clone(),
            name: value.signal,
            labels: value.labels,
            unit: value.unit.to_owned(),
            query: format!("{} [{}]", value.query.replace("$step", &step), self.about.address),
            step: self.step,
            points: vec![(at, value.value)],
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Epoch, SystemClock};

    use super::*;
    use crate::Collector;
    use crate::contract::promises;
    use crate::stage::{Pages, server};

    fn source(address: &str) -> Box<dyn Source> {
        let values = BTreeMap::from([("step".to_owned(), "100ms".to_owned())]);
        let settings = Settings {
            name: "page".to_owned(),
            kind: "scrape".to_owned(),
            address: address.to_owned(),
            credential: Some("t0psecret".to_owned()),
            values,
        };
        crate::sources::open(&settings).expect("settings that are right")
    }

    /// Prometheus exposes metrics of its own, like any Go program.
    #[test]
    fn promises_are_kept_with_a_real_page() {
        let Some(lab) = server(lab::PROMETHEUS) else { return };
        let mut source = source(&lab.url("prometheus"));
        let evidence = promises::of_a_source(source.as_mut(), Some("t0psecret"));
        let has = |name: &str| evidence.signals.iter().any(|signal| signal.name == name);
        assert!(has("go_goroutines") && has("process_memory") && has("process_cpu"), "{evidence:?}");
        assert!(has("prometheus_http_requests_total"), "what no pack knows keeps its name");
        assert!(!has("go_memstats_heap_inuse_bytes"), "a metric of a pack has no second series");
    }

    #[test]
    fn promises_are_kept_without_a_server() {
        promises::of_an_absent_server(source("http://127.0.0.1:9").as_mut());
    }

    /// A server that stops during the run: earlier points stay, and the rest is a gap.
    #[test]
    fn a_server_that_ends_in_mid_run_leaves_a_gap() {
        let page = Pages::start(|_| (200, "pool_size 4\n".to_owned()));
        let epoch = Epoch::anchor(&SystemClock);
        let from = SystemClock::now();
        let collector = Collector::start(vec![source(&page.url("/metrics"))], epoch).expect("a thread");
        std::thread::sleep(Duration::from_millis(700));
        drop(page);
        std::thread::sleep(Duration::from_millis(700));
        let to = SystemClock::now();
        let evidence = collector.finish(from, to, &[], Duration::from_secs(5));
        let points: usize = evidence.signals.iter().map(|signal| signal.points.len()).sum();
        assert!((2..=9).contains(&points), "{evidence:?}");
        let [gap] = &evidence.gaps[..] else { panic!("one gap: {evidence:?}") };
        assert!(gap.reason.contains("/metrics") && gap.to == to, "{gap:?}");
        let last = evidence.signals.iter().flat_map(|signal| &signal.points).map(|(at, _)| *at).max();
        assert!(last.is_some_and(|last| last <= gap.from), "nothing is known within the gap");
    }

    #[test]
    fn addresses_without_a_path_mean_the_usual_one() {
        assert_eq!(source("http://h:1").about().address, "http://h:1/metrics");
        assert_eq!(
            source("http://h:1/actuator/prometheus/").about().address,
            "http://h:1/actuator/prometheus"
        );
    }
}
