//! The source against a real Prometheus.

use std::time::Duration;

use model::{Datum, Epoch, RecordKind, SystemClock};

use crate::contract::{Moment, Period, Source, promises};
use crate::settings::Settings;
use crate::stage::{Pages, prometheus_of, server, wait_for_scrapes};

fn settings(address: &str, values: &[(&str, &str)]) -> Settings {
    Settings {
        name: "metrics".to_owned(),
        kind: "prometheus".to_owned(),
        address: address.to_owned(),
        credential: Some("t0psecret".to_owned()),
        values: values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    }
}

fn source(address: &str, values: &[(&str, &str)]) -> Box<dyn Source> {
    crate::sources::open(&settings(address, values)).expect("settings that are right")
}

#[test]
fn promises_are_kept_with_a_real_server() {
    let Some(lab) = server(lab::PROMETHEUS) else { return };
    let own = [("query.scraped", "up"), ("query.wrong", "rate(up)"), ("query.grown", "rate(up[$window])")];
    let mut source = source(&lab.url("prometheus"), &own);
    let checks = source.probe();
    let wrong: Vec<&str> =
        checks.iter().filter(|check| check.outcome.is_err()).map(|check| check.what.as_str()).collect();
    // It has just started and has scraped no metric of a pack.
    assert_eq!(wrong, ["packs", "query.wrong"], "{checks:?}");
    assert!(checks.iter().any(|check| check.outcome.as_deref() == Ok("1s")), "{checks:?}");
    // Its target is unreachable, so `up` is zero.
    wait_for_scrapes(&lab);
    let evidence = promises::of_a_source(source.as_mut(), Some("t0psecret"));
    let scraped = evidence
        .signals
        .iter()
        .find(|signal| signal.name == "scraped")
        .expect("its own question is answered");
    assert!(!scraped.labels.contains_key("__name__") && scraped.labels["job"] == "service", "{scraped:?}");
    assert!(
        scraped.query.starts_with("up [start=2") && scraped.query.ends_with("Z step=1s]"),
        "{}",
        scraped.query
    );
    let warnings: Vec<&str> = evidence
        .records
        .iter()
        .filter(|record| record.kind == RecordKind::Warning)
        .map(|record| record.subject.as_str())
        .collect();
    assert_eq!(warnings, ["wrong", "too few scrapes for this run: peaks between them are not visible"]);
}

#[test]
fn points_are_where_the_run_was() {
    let Some(lab) = server(lab::PROMETHEUS) else { return };
    let epoch = Epoch::anchor(&SystemClock);
    let mut source = source(&lab.url("prometheus"), &[("query.now", "time()")]);
    let from = SystemClock::now();
    std::thread::sleep(Duration::from_secs(2));
    let period = Period { from: Moment::new(from, &epoch), to: Moment::new(SystemClock::now(), &epoch) };
    let evidence = source.look_back(&period).expect("it is there");
    let [signal] = &evidence.signals[..] else { panic!("one series: {evidence:?}") };
    for (at, unix_s) in &signal.points {
        let wall_s = epoch.wall_unix_ns(*at) as f64 / 1e9;
        assert!((wall_s - unix_s).abs() < 0.002, "{wall_s} is said to be {unix_s}");
    }
    let first = signal.points[0].0;
    assert!(first < from && from.since(first) <= Duration::from_millis(1_001), "padded by a scrape");
}

#[test]
fn promises_are_kept_without_a_server() {
    promises::of_an_absent_server(source("http://127.0.0.1:9", &[]).as_mut());
}

#[test]
fn settings_are_checked() {
    let check = |address: &str, values: &[(&str, &str)], expect: &str| {
        let error = crate::sources::open(&settings(address, values)).err().map(|error| error.to_string());
        assert!(error.as_ref().is_some_and(|error| error.contains(expect)), "{error:?}");
    };
    check("http://u:p@h", &[], "password");
    check("http://h", &[("querry.a", "up")], "querry.a");
    check("http://h", &[("query.", "up")], "query.");
    check("http://h", &[("interval", "often")], "interval");
}

/// Prometheus itself accepts the PromQL of all packs, with and without a selector.
#[test]
fn every_question_of_the_packs_is_understood() {
    let Some(lab) = server(lab::PROMETHEUS) else { return };
    let client = crate::http::Client::new(&lab.url("prometheus"), None);
    for row in crate::packs::PACKS.iter().flat_map(|pack| pack.rows) {
        for also in ["", "namespace=\"shop\",cluster=~\"a|b\""] {
            let promql = row.promql("60s", also);
            let answer = client.json("/api/v1/query", &[("query", promql.as_str())]);
            assert!(answer.is_ok(), "{promql}: {answer:?}");
        }
    }
}

/// A metrics page like those of cAdvisor and kube-state-metrics: the pod's own cgroup is left out, and usage comes with its
/// limit.
#[test]
fn packs_are_found_by_their_metrics_and_joined_with_limits() {
    let begun = SystemClock::now();
    let page = Pages::start(move |_| {
        // Half a core.
        let used_s = SystemClock::now().since(begun).as_secs_f64() / 2.0;
        let container = "namespace=\"shop\",pod=\"web-1\",container=\"app\"";
        (
            200,
            format!(
                "container_cpu_usage_seconds_total{{{container},image=\"i\"}} {used_s}\n\
                 container_cpu_usage_seconds_total{{namespace=\"shop\",pod=\"web-1\"}} {used_s}\n\
                 container_cpu_usage_seconds_total{{namespace=\"other\",pod=\"x\",container=\"c\",image=\"i\"}} 1\n\
                 kube_pod_info{{namespace=\"shop\",pod=\"web-1\"}} 1\n\
                 kube_pod_container_resource_limits{{{container},resource=\"cpu\",unit=\"core\"}} 2\n"
            ),
        )
    });
    let Some(lab) = prometheus_of(page.address) else { return };
    wait_for_scrapes(&lab);
    let mut source = source(&lab.url("prometheus"), &[("selector", "namespace=\"shop\"")]);
    let epoch = Epoch::anchor(&SystemClock);
    let from = Moment::new(SystemClock::now(), &epoch);
    std::thread::sleep(Duration::from_millis(3_600));
    let evidence =
        source.look_back(&Period { from, to: Moment::new(SystemClock::now(), &epoch) }).expect("it is there");
    let of = |name: &str| evidence.signals.iter().filter(|signal| signal.name == name).collect::<Vec<_>>();
    let [used] = of("container_cpu")[..] else { panic!("one container: {evidence:?}") };
    let [limit] = of("container_cpu_limit")[..] else { panic!("one limit: {evidence:?}") };
    assert_eq!(used.labels, limit.labels);
    assert_eq!(used.labels.keys().collect::<Vec<_>>(), ["container", "namespace", "pod"]);
    let (_, cores) = used.points.last().expect("points");
    assert!((0.4..0.6).contains(cores), "{used:?}");
    assert!(limit.points.iter().all(|(_, value)| *value == 2.0), "{limit:?}");
    let about = evidence.records.iter().find(|record| record.kind == RecordKind::Source).expect("queries");
    assert_eq!(about.fields["packs"], Datum::from("kube-state-metrics, cAdvisor, process, Go"));
    assert_eq!(about.fields["interval_s"], Datum::from(0.5));
}

/// A node outside the selector that is nearly out of memory.
#[test]
fn full_nodes_are_warned_of() {
    let page = Pages::start(|_| {
        let text = "node_cpu_seconds_total{mode=\"idle\",cpu=\"0\"} 1\n\
                    node_memory_MemTotal_bytes 100\nnode_memory_MemAvailable_bytes 6\n";
        (200, text.to_owned())
    });
    let Some(lab) = prometheus_of(page.address) else { return };
    wait_for_scrapes(&lab);
    let mut source = source(&lab.url("prometheus"), &[]);
    let epoch = Epoch::anchor(&SystemClock);
    let from = Moment::new(SystemClock::now(), &epoch);
    std::thread::sleep(Duration::from_millis(1_500));
    let evidence =
        source.look_back(&Period { from, to: Moment::new(SystemClock::now(), &epoch) }).expect("it is there");
    let warning = evidence.records.iter().find(|record| record.subject == "node memory nearly exhausted");
    let fields = &warning.unwrap_or_else(|| panic!("a warning: {evidence:?}")).fields;
    assert_eq!(fields["memory_max_share"], Datum::from(0.94));
    assert_eq!(fields["node"], Datum::from(page.address.to_string()));
}

/// Series beyond the limit are dropped and counted.
#[test]
fn too_many_series_are_counted() {
    let page = Pages::start(|_| {
        (200, (0..250).map(|place| format!("many{{place=\"{place}\"}} {place}\n")).collect())
    });
    let Some(lab) = prometheus_of(page.address) else { return };
    wait_for_scrapes(&lab);
    let mut source = source(&lab.url("prometheus"), &[("query.many", "many")]);
    let epoch = Epoch::anchor(&SystemClock);
    let from = Moment::new(SystemClock::now(), &epoch);
    std::thread::sleep(Duration::from_millis(1_500));
    let evidence =
        source.look_back(&Period { from, to: Moment::new(SystemClock::now(), &epoch) }).expect("it is there");
    assert_eq!(evidence.signals.iter().filter(|signal| signal.name == "many").count(), 200);
    let warning = evidence.records.iter().find(|record| record.subject == "many").expect("a warning");
    assert_eq!(warning.fields["series_dropped"], Datum::from(50.0));
}
