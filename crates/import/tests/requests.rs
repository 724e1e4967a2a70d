//! Results of JMeter, vegeta, Gatling, Locust and oha give the numbers that the tool printed.

use std::sync::Arc;

use import::{Kind, Samples, Stated, Survey};
use model::{Aggregate, MetricRegistry, Quantile, TagInterner};
use tally::{Stat, Thresholds, Totals, View};

/// `vegeta attack -rate 30 -duration 2s` against a server that refuses every second request, encoded in both ways.
const VEGETA_JSON: &[u8] = include_bytes!("../fixtures/vegeta.json");
const VEGETA_CSV: &[u8] = include_bytes!("../fixtures/vegeta.csv");
const JTL: &[u8] = include_bytes!("../fixtures/jmeter.jtl");
const GATLING: &[u8] = include_bytes!("../fixtures/gatling.log");
const LOCUST: &[u8] = include_bytes!("../fixtures/locust_stats.csv");

fn view(kind: Kind, bytes: &[u8]) -> (Survey, View) {
    let (registry, tags) = (Arc::<MetricRegistry>::default(), Arc::<TagInterner>::default());
    // A small buffer puts its seams everywhere.
    let reader = || std::io::BufReader::with_capacity(61, bytes);
    let survey = Survey::read(kind, &mut reader(), &registry).expect("a survey");
    let mut second = reader();
    let samples = Samples::new(kind, &mut second, &survey, registry.clone(), tags.clone()).expect("samples");
    let thresholds = Thresholds::parse(&[], &registry).expect("none");
    let mut totals = Totals::new(registry.clone(), tags.clone(), thresholds);
    samples.for_each(|window| totals.absorb(&window.expect("a window")));
    let elapsed = std::time::Duration::from_nanos(survey.ended_unix_ns.abs_diff(survey.started_unix_ns));
    totals.evaluate_at_end(elapsed);
    let view = totals.view(elapsed);
    (survey, view)
}

fn read(aggregate: &Aggregate, stat: &str) -> f64 {
    let read = Stat::parse(stat).and_then(|stat| stat.read(aggregate, std::time::Duration::from_secs(1)));
    match read {
        Some(Quantile::Value(value)) => value,
        other => panic!("{stat}: {other:?}"),
    }
}

fn metric<'a>(view: &'a View, name: &str) -> &'a Aggregate {
    &view.metric(name).unwrap_or_else(|| panic!("no {name}")).aggregate
}

#[track_caller]
fn is_near(value: f64, expect: f64) {
    assert!((value - expect).abs() <= expect.abs() * 1e-6 + 1e-9, "{value}, expected {expect}");
}

#[test]
fn vegeta_counts_and_times_are_those_of_its_report() {
    for (kind, bytes) in [(Kind::Vegeta, VEGETA_JSON), (Kind::Vegeta, VEGETA_CSV)] {
        assert_eq!(Kind::detect(bytes), Some(kind));
        let (survey, view) = view(kind, bytes);
        // `vegeta report -type=json`: requests, success, latencies.
        is_near(read(metric(&view, "http_reqs"), "count"), 60.0);
        is_near(read(metric(&view, "http_req_failed"), "rate"), 0.5);
        let times = metric(&view, "http_req_duration");
        is_near(read(times, "min"), 0.36224);
        is_near(read(times, "max"), 62.748497);
        is_near(read(times, "avg"), 745.251812 / 60.0);
        // vegeta's quantiles are estimates by a t-digest: they lie between neighbours of the exact ones.
        let between = |low: &str, estimate: f64, high: &str| {
            assert!((read(times, low)..=read(times, high)).contains(&estimate), "{low} {estimate} {high}");
        };
        between("p(45)", 17.078165, "p(55)");
        between("p(85)", 23.180672, "p(95)");
        between("p(90)", 30.146051, "p(99)");
        // Attack and wait: from the first request's start to the last one's end.
        let elapsed_ns = survey.ended_unix_ns - survey.started_unix_ns;
        assert_eq!(elapsed_ns, 1_966_692_639 + 631_302);
    }
}

#[test]
fn jmeter_rows_are_requests_and_transactions_are_groups() {
    assert_eq!(Kind::detect(JTL), Some(Kind::Jtl));
    let (survey, view) = view(Kind::Jtl, JTL);
    is_near(read(metric(&view, "http_reqs"), "count"), 4.0);
    is_near(read(metric(&view, "http_req_failed"), "rate"), 0.5);
    is_near(read(metric(&view, "http_req_duration"), "avg"), (21.0 + 23.0 + 2.0 + 5.0) / 4.0);
    is_near(read(metric(&view, "http_req_waiting"), "max"), 21.0);
    is_near(read(metric(&view, "group_duration"), "max"), 24.0);
    is_near(read(metric(&view, "data_received"), "count"), 1460.0 * 2.0 + 120.0 + 2500.0);
    assert_eq!(survey.scenarios, ["Visitors"]);
    assert_eq!(survey.started_unix_ns, 1_795_676_543_100_000_000);
}

#[test]
fn gatling_logs_are_read_as_text() {
    assert_eq!(Kind::detect(GATLING), Some(Kind::Gatling));
    let (_, view) = view(Kind::Gatling, GATLING);
    is_near(read(metric(&view, "http_reqs"), "count"), 3.0);
    is_near(read(metric(&view, "http_req_failed"), "rate"), 1.0 / 3.0);
    is_near(read(metric(&view, "http_req_duration"), "max"), 23.0);
    is_near(read(metric(&view, "group_duration"), "max"), 40.0);
}

#[test]
fn locust_figures_are_those_of_its_table() {
    assert_eq!(Kind::detect(LOCUST), Some(Kind::LocustCsv));
    let stated: Stated = import::read_locust(&mut &LOCUST[..]).expect("a table");
    let metric = |name: &str| stated.metrics.iter().find(|metric| metric.name == name).expect(name);
    assert_eq!(metric("http_reqs").value("count"), Some(298.0));
    assert_eq!(metric("http_req_failed").value("passes"), Some(74.0));
    assert_eq!(metric("http_req_duration").value("med"), Some(21.0));
    assert_eq!(metric("http_req_duration").value("p(99)"), Some(42.0));
    assert_eq!(metric("http_req_duration{name:GET /products}").value("p(95)"), Some(24.0));
}

#[test]
fn other_files_are_refused_with_the_next_step() {
    let refusal = |kind: Kind, text: &str| {
        let error =
            Survey::read(kind, &mut text.as_bytes(), &MetricRegistry::default()).expect_err("refused");
        error.to_string()
    };
    assert!(refusal(Kind::Jtl, "<?xml version=\"1.0\"?><testResults>").contains("output_format=csv"));
    assert!(refusal(Kind::Jtl, "1,2,3\n").contains("print_field_names=true"));
    assert!(refusal(Kind::Gatling, "\0\0\0\u{5}3.13").contains("3.10"));
    assert!(refusal(Kind::Vegeta, "\u{7}gob").contains("vegeta"));
    assert!(import::read_locust(&mut "a,b\n".as_bytes()).is_err());
}
