use std::sync::Arc;
use std::time::Duration;

use api::page::{Evidence, Lane};
use model::{Datum, Gap, RecordKind, Signal};

use super::scene::{self, at, curve, hill, record, signal};
use super::{Collected, EvidenceView};
use crate::Lang;

/// Evidence of a run of 220 s.
fn view_of(signals: Vec<Signal>) -> EvidenceView {
    scene::view_of(signals, 220.0)
}

fn all_of(view: &mut EvidenceView) -> &mut Collected {
    Arc::make_mut(&mut view.all)
}

fn shown(view: &EvidenceView) -> Evidence {
    view.shown(Lang::En, 1_500)
}

fn lane<'a>(evidence: &'a Evidence, key: &str) -> &'a Lane {
    let found = evidence.lanes.iter().find(|lane| lane.key == key);
    found.unwrap_or_else(|| {
        panic!("{key} among {:?}", evidence.lanes.iter().map(|lane| &lane.key).collect::<Vec<_>>())
    })
}

fn sentences(evidence: &Evidence) -> Vec<String> {
    evidence.story.iter().map(|line| format!("{} {}", line.clock, line.text)).collect()
}

fn queues() -> EvidenceView {
    let peaks = [
        ("scan.vision", 40.0, 352.0),
        ("scan.rule", 70.0, 268.0),
        ("scan.answer", 100.0, 258.0),
        ("scan.reward", 130.0, 155.0),
    ];
    let mut signals = Vec::new();
    for (queue, peak_at, peak) in peaks {
        let labels = [("queue", queue)];
        signals.push(signal(
            "rabbitmq",
            "queue_ready",
            &labels,
            "",
            &curve(|second| hill(second, peak_at, peak)),
        ));
        signals.push(signal("rabbitmq", "queue_unacked", &labels, "", &curve(|_| 3.0)));
        let consumers = curve(|second| if second < 15.0 { 1.0 } else { 3.0 });
        signals.push(signal("rabbitmq", "queue_consumers", &labels, "", &consumers));
    }
    view_of(signals)
}

#[test]
fn a_queue_has_the_same_peak_everywhere() {
    let evidence = shown(&queues());
    let depth = lane(&evidence, "queue_depth.rabbitmq");
    let vision =
        depth.series.iter().find(|series| series.label == "scan.vision").expect("a series of the queue");
    assert_eq!((vision.peak.t.0, vision.peak.value.text.as_str()), (40.0, "352"));
    let row = evidence.queues.iter().find(|row| row.queue == "scan.vision").expect("a row of the queue");
    assert_eq!((row.peak.text.as_str(), row.peak_clock.as_str()), ("352", "0:40"));
    assert_eq!((row.start.text.as_str(), row.end.text.as_str()), ("117", "0"));
    let consumers =
        [&row.consumers_min, &row.consumers_steady, &row.consumers_max].map(|value| value.text.as_str());
    assert_eq!(consumers, ["1", "3", "3"]);
    assert_eq!(row.unacked_peak.text, "3", "what consumers hold is apart from what is ready");
    let view = "0:40–2:10 Queue depth (ready): peaks in order: scan.vision 352 at 0:40, scan.rule 268 at 1:10, \
                scan.answer 258 at 1:40, scan.reward 155 at 2:10";
    assert!(sentences(&evidence).contains(&view.to_owned()), "{:#?}", sentences(&evidence));
}

#[test]
fn a_queue_that_two_kinds_of_source_tell_of_is_one_row() {
    let of = |source, name, labels: &[_], points: &[_]| signal(source, name, labels, "", points);
    let (here, labelled) =
        ([("queue", "jobs")], [("instance", "mq:15692"), ("vhost", "/"), ("queue", "jobs")]);
    let signals = vec![
        of("rabbitmq", "queue_ready", &here, &[(0.0, 1.0), (5.0, 7.0), (10.0, 2.0)]),
        of("rabbitmq", "queue_prefetch", &here, &[(0.0, 4.0)]),
        of("prometheus", "queue_ready", &labelled, &[(0.0, 1.0), (10.0, 3.0)]),
        of("prometheus", "queue_unacked", &labelled, &[(0.0, 4.0)]),
        // Another virtual host is another queue.
        of("prometheus", "queue_ready", &[("vhost", "b"), ("queue", "jobs")], &[(0.0, 9.0)]),
    ];
    let rows = shown(&view_of(signals)).queues;
    let found: Vec<_> =
        rows.iter().map(|row| (row.queue.as_str(), row.sources.join(" "), row.peak.text.as_str())).collect();
    assert_eq!(found, [("b/jobs", "prometheus".into(), "9"), ("jobs", "rabbitmq prometheus".into(), "7")]);
    assert_eq!((rows[1].unacked_peak.text.as_str(), rows[1].prefetch.text.as_str()), ("4", "4"));
}

#[test]
fn two_brokers_may_have_queues_of_one_name() {
    let of = |source, peak| signal(source, "queue_ready", &[("queue", "jobs")], "", &[(0.0, peak)]);
    let kind =
        |source| record(source, RecordKind::Source, 0.0, source, &[("kind", Datum::Text("rabbitmq".into()))]);
    let mut view = view_of(vec![of("east", 3.0), of("west", 5.0)]);
    all_of(&mut view).records = vec![kind("east"), kind("west")];
    let peaks: Vec<_> = shown(&view).queues.iter().map(|row| row.peak.text.clone()).collect();
    assert_eq!(peaks, ["3", "5"]);
}

#[test]
fn limits_are_lines_and_no_lanes() {
    let pods = [("pod", "a"), ("container", "worker")];
    let cpu = curve(|second| if (40.0..=180.0).contains(&second) { 0.9 } else { 0.2 });
    let evidence = shown(&view_of(vec![
        signal("prometheus", "container_cpu", &pods, "{cpu}", &cpu),
        signal("prometheus", "container_cpu_limit", &pods, "{cpu}", &curve(|_| 1.0)),
        signal("prometheus", "container_memory", &pods, "By", &curve(|_| 5e8)),
        // Servers write zero where there is no limit.
        signal("prometheus", "container_memory_limit", &pods, "By", &curve(|_| 0.0)),
    ]));
    let keys: Vec<&str> = evidence.lanes.iter().map(|lane| lane.key.as_str()).collect();
    assert_eq!(keys, ["container_cpu.prometheus.{cpu}", "container_memory.prometheus.By"]);
    assert_eq!(
        lane(&evidence, keys[0]).limits.iter().map(|limit| limit.text.as_str()).collect::<Vec<_>>(),
        ["limit 1"]
    );
    assert!(lane(&evidence, keys[1]).limits.is_empty());
    assert_eq!(sentences(&evidence), ["0:40–3:00 Container CPU exceeded 85.00% of its limit for 2m20s"]);
}

#[test]
fn a_limit_of_all_together_is_reached_together() {
    let state = |state, value| {
        signal(
            "postgresql",
            "connections",
            &[("state", state)],
            "",
            &curve(move |second| if second < 60.0 { value } else { 1.0 }),
        )
    };
    let evidence = shown(&view_of(vec![
        state("active", 40.0),
        state("idle", 57.0),
        signal("postgresql", "connections_max", &[], "", &curve(|_| 100.0)),
    ]));
    assert_eq!(sentences(&evidence), ["0:00–0:55 Connections exceeded 95.00% of its limit for 55s"]);
}

#[test]
fn gaps_stay_gaps_and_say_why() {
    let mut view = view_of(vec![signal(
        "redis",
        "memory_used",
        &[],
        "By",
        &[(0.0, 1.0), (5.0, 1.0), (60.0, 2.0), (65.0, 2.0), (110.0, 3.0)],
    )]);
    all_of(&mut view).gaps = vec![Gap {
        source: "redis".to_owned(),
        from: at(6.0),
        to: at(60.0),
        reason: "connection refused".to_owned(),
    }];
    let evidence = shown(&view);
    let memory = &lane(&evidence, "cache_memory.redis.By");
    let holes = memory.series[0].values.iter().filter(|value| value.is_none()).count();
    assert_eq!(holes, 2, "{:?}", memory.series[0]);
    let gaps: Vec<_> = memory.gaps.iter().map(|gap| (gap.from.0, gap.to.0, gap.reason.as_str())).collect();
    let unsaid = "no data; the source reported no reason";
    assert_eq!(gaps, [(6.0, 60.0, "connection refused"), (70.0, 110.0, unsaid)]);
    assert_eq!(evidence.sources[0].health, "gaps");
    assert!(sentences(&evidence)[0].contains("connection refused"), "{:?}", sentences(&evidence));
}

#[test]
fn a_zoom_moves_every_number() {
    let view = EvidenceView { part_s: 60.0..80.0, ..queues() };
    let evidence = shown(&view);
    let row = evidence.queues.iter().find(|row| row.queue == "scan.vision").expect("a row of the queue");
    assert_eq!(
        (row.peak.text.as_str(), row.peak_clock.as_str(), row.end.text.as_str()),
        ("235", "1:00", "117")
    );
    let times = lane(&evidence, "queue_depth.rabbitmq").series.iter().flat_map(|series| &series.t);
    assert!(times.into_iter().all(|t| (60.0..=80.0).contains(&t.0)));
}

#[test]
fn servers_that_work_on_after_the_run_are_not_looked_at() {
    let evidence = shown(&view_of(vec![signal(
        "rabbitmq",
        "queue_ready",
        &[("queue", "q")],
        "",
        &[(-5.0, 9e9), (10.0, 20.0), (225.0, 9e9)],
    )]));
    assert_eq!(evidence.queues[0].peak.text, "20");
    assert_eq!(evidence.sources[0].points, 1);
}

#[test]
fn a_way_is_its_parts_and_little_says_the_same() {
    let view = scene::scan();
    let evidence = shown(&view);
    let [way] = &evidence.ways[..] else { panic!("one way: {:?}", evidence.ways) };
    let parts: Vec<_> = way.parts.iter().map(|part| (part.kind, part.mean.text.as_str())).collect();
    assert_eq!(parts[..3], [("submit", "150ms"), ("queue", "20s"), ("work", "4.5s")]);
    assert_eq!(parts.last(), Some(&("poll", "1s")));
    assert_eq!((way.sum.text.as_str(), way.sum_off.text.as_str()), ("1m7s", "0.00%"));
    let measured = way.measured.as_ref().expect("the stages that waited were measured");
    assert_eq!(
        (measured.count, measured.mean.text.as_str(), measured.off.text.as_str()),
        (1_336, "1m8s", "-0.73%")
    );
    let queues: Vec<_> = way.laws.iter().map(|law| law.queue.as_str()).collect();
    assert_eq!(queues, ["scan.vision", "scan.rule", "scan.answer", "scan.reward"]);
    let law = &way.laws[0];
    let number = |value: &api::page::Value| value.value.expect("a number").0;
    assert_eq!((law.wait.text.as_str(), law.stay.text.as_str()), ("20s", "24.5s"));
    assert!((number(&law.wait_by_law) - number(&law.ready) / number(&law.rate) * 1e3).abs() < 1e-6);
    assert!((number(&law.wait_off) - (number(&law.wait_by_law) / 20_000.0 - 1.0)).abs() < 1e-9);
    let all = number(&law.ready) + number(&law.unacked);
    assert!((number(&law.stay_by_law) - all / number(&law.rate) * 1e3).abs() < 1e-6);
    // Who only counts messages does not contradict; two brokers with a queue of this name do.
    let twins = |is_one: fn(&Signal) -> bool| {
        let mut two = view.clone();
        let of_queue =
            |signal: &&Signal| signal.labels.get("queue").is_some_and(|queue| queue == "scan.vision");
        let twin = |signal: &Signal| Signal { source: "other".to_owned(), ..signal.clone() };
        let twins = view.all.signals.iter().filter(of_queue).filter(|signal| is_one(signal)).map(twin);
        all_of(&mut two).signals.extend(twins);
        shown(&two).ways[0].laws.len()
    };
    assert_eq!(twins(|signal| signal.name == "queue_ready"), 4);
    assert_eq!(twins(|_| true), 3);
}

#[test]
fn sessions_are_added_up_by_what_they_wait_for() {
    let of = |kind, event, points: &[(f64, f64)]| {
        signal("postgresql", "active_sessions", &[("wait_type", kind), ("wait_event", event)], "", points)
    };
    let evidence = shown(&view_of(vec![
        of("Lock", "tuple", &[(0.0, 2.0), (5.0, 2.0)]),
        of("Lock", "transactionid", &[(5.0, 4.0)]),
        of("", "", &[(0.0, 1.0)]),
    ]));
    let sessions = lane(&evidence, "sessions.postgresql");
    let series: Vec<_> = sessions
        .series
        .iter()
        .map(|series| (series.label.as_str(), series.peak.value.text.as_str()))
        .collect();
    assert_eq!(series, [("Lock", "6"), ("running", "1")]);
    assert_eq!(sessions.series[1].end.text, "0", "a series without a point while others have points is zero");
    let waits: Vec<_> = evidence
        .waits
        .iter()
        .map(|wait| (wait.event.as_str(), wait.mean.text.as_str(), wait.share.text.as_str()))
        .collect();
    assert_eq!(waits, [("tuple", "2", "44.44%"), ("transactionid", "2", "44.44%"), ("", "0.5", "11.11%")]);
}

#[test]
fn sources_say_how_they_are() {
    let of = |name: &str, fields: &[(&str, Datum)]| record(name, RecordKind::Source, 220.0, name, fields);
    let mut view = view_of(vec![signal("redis", "ops", &[], "", &[(1.0, 7.0)])]);
    all_of(&mut view).records = vec![
        of("otlp", &[("kind", "otlp".into()), ("spans_received", 5_000.0.into())]),
        of("prometheus", &[("answers", 3.0.into()), ("failures", 0.0.into())]),
        of("redis", &[("answers", 3.0.into()), ("trouble", "timed out".into())]),
    ];
    let evidence = shown(&view);
    let health: Vec<_> =
        evidence.sources.iter().map(|source| (source.name.as_str(), source.health)).collect();
    assert_eq!(health, [("otlp", "ok"), ("prometheus", "silent"), ("redis", "gaps")]);
    assert_eq!((evidence.sources[0].facts[0].value.as_str(), evidence.sources[1].answers), ("5000", Some(3)));
}

#[test]
fn what_no_row_names_has_a_lane_of_its_own() {
    let evidence = shown(&view_of(vec![signal("mine", "made_up", &[], "{thing}", &[(1.0, 7.0)])]));
    let other = lane(&evidence, "other.mine.made_up.{thing}");
    assert_eq!(
        (other.group, other.title.as_str(), other.series[0].label.as_str()),
        ("other", "made_up", "made_up")
    );
}

#[test]
fn changes_are_told_once() {
    let replicas = |labels: &[(&str, &str)]| {
        signal("kubernetes", "replicas", labels, "", &curve(|second| if second < 15.0 { 1.0 } else { 3.0 }))
    };
    let mut view = view_of(vec![replicas(&[("name", "scan-worker")]), replicas(&[("name", "scan-api")])]);
    let reason = Datum::from("1 to 3, vision above 10");
    all_of(&mut view).records =
        vec![record("kubernetes", RecordKind::Happening, 14.0, "scan-worker", &[("text", reason)])];
    let evidence = shown(&view);
    let expect = ["0:14 scan-worker: 1 to 3, vision above 10", "0:15 Replicas: scan-api changed from 1 to 3"];
    assert_eq!(sentences(&evidence), expect);
}

#[test]
fn statements_are_ordered_by_their_share_of_the_time() {
    let statement = |text, calls: f64, total_ms: f64| {
        record(
            "postgresql",
            RecordKind::Statement,
            220.0,
            text,
            &[("calls", calls.into()), ("total_ms", total_ms.into()), ("rows", 5.0.into())],
        )
    };
    let mut view = view_of(Vec::new());
    all_of(&mut view).records =
        vec![statement("SELECT 1", 1000.0, 250.0), statement("SELECT rating", 100.0, 750.0)];
    let evidence = shown(&view);
    let rows: Vec<_> = evidence
        .statements
        .iter()
        .map(|row| [&row.share, &row.calls, &row.mean].map(|value| value.text.as_str()))
        .collect();
    assert_eq!(rows, [["75.00%", "100", "7.5ms"], ["25.00%", "1,000", "250µs"]]);
    assert_eq!(evidence.statements[0].facts.len(), 1, "fields without a column are shown as well");
    all_of(&mut view).records[1].fields.insert("share_of_db_time".to_owned(), 0.5.into());
    assert_eq!(
        shown(&view).statements[0].share.text,
        "50.00%",
        "a share counted over all statements takes precedence"
    );
}

#[test]
fn answers_are_bounded() {
    let many = |second: f64| if second == 100.0 { 9.0 } else { 1.0 };
    let points: Vec<(f64, f64)> =
        (0..200_000).map(|step| (f64::from(step) / 1000.0, many(f64::from(step) / 1000.0))).collect();
    let signals = (0..300).map(|number| {
        let label = format!("{number:03}");
        let mut one = signal("mine", &format!("s{}", number / 20), &[("of", &label)], "", &points[..2_000]);
        one.step = Duration::from_millis(1);
        one
    });
    let mut signals: Vec<Signal> = signals.collect();
    signals.push(Signal { step: Duration::from_millis(1), ..signal("mine", "long", &[], "", &points) });
    let evidence = shown(&view_of(signals));
    let drawn: usize = evidence.lanes.iter().flat_map(|lane| &lane.series).map(|series| series.t.len()).sum();
    assert!(drawn < 200_000, "{drawn}");
    assert_eq!(evidence.lanes.iter().map(|lane| lane.series_beyond).sum::<u64>(), 15 * 8);
    let long = &lane(&evidence, "other.mine.long").series[0];
    assert_eq!((long.peak.t.0, long.peak.value.text.as_str()), (100.0, "9"));
    assert!(long.values.iter().flatten().any(|value| value.0 == 9.0), "the peak is drawn");
}

/// The page is tested with what the program answers. `UPDATE_EXPECT=1 cargo test -p report` writes it anew.
#[test]
fn the_pages_made_up_run_is_what_would_be_answered() {
    let text = serde_json::to_string(&shown(&scene::scan())).expect("an answer is JSON") + "\n";
    expect_test::expect_file!["../../../../ui/tests/fixtures/evidence.json"].assert_eq(&text);
}

#[test]
fn both_languages_tell_the_same() {
    let view = scene::scan();
    let (english, korean) = (view.shown(Lang::En, 1_500), view.shown(Lang::Ko, 1_500));
    let clocks =
        |evidence: &Evidence| evidence.story.iter().map(|line| line.clock.clone()).collect::<Vec<_>>();
    assert_eq!(clocks(&english), clocks(&korean));
    assert_eq!(english.queues, korean.queues);
    assert!(korean.story.iter().any(|line| line.text.contains("한도의")), "{:#?}", korean.story);
}
