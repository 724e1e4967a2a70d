use super::*;
use crate::{CheckView, GroupView, MetricView, View};
use model::metric::builtin::{
    HTTP_REQ_RESPONSE_TIME, HTTP_REQS, ITERATION_DURATION, ITERATION_RESPONSE_TIME, ITERATIONS,
};
use model::plan::{ThresholdCondition, ThresholdSpec};
use model::{Instant, Mark, Quantile, TagSet, Trend};
use proptest::prelude::*;

const ELAPSED: Duration = Duration::from_secs(10);

/// A run made of samples that a test writes down.
struct Run {
    tags: Arc<TagInterner>,
    recorder: crate::Recorder,
    totals: Totals,
}

impl Run {
    /// Thresholds as `(selector, condition)`; an empty condition stands for none.
    fn new(thresholds: &[(&str, &str)]) -> Run {
        let specs: Vec<_> =
            thresholds.iter().map(|(selector, source)| spec(selector, source, None)).collect();
        Run::with_specs(&specs)
    }

    fn with_specs(specs: &[ThresholdSpec]) -> Run {
        let (registry, tags) = (Arc::<MetricRegistry>::default(), Arc::<TagInterner>::default());
        let thresholds = Thresholds::parse(specs, &registry).expect("well-formed thresholds");
        Run {
            recorder: crate::Recorder::new(registry.clone()),
            totals: Totals::new(registry, tags.clone(), thresholds),
            tags,
        }
    }

    fn record(&mut self, metric: MetricId, tags: &[(&str, &str)], value: f64) -> &mut Run {
        self.record_marked(metric, tags, value, Mark::Measured)
    }

    fn record_marked(&mut self, metric: MetricId, tags: &[(&str, &str)], value: f64, mark: Mark) -> &mut Run {
        let tags = self.tags.intern(tag_set(tags));
        self.recorder.record(metric, tags, value, mark, Instant::ZERO);
        self
    }

    fn view(&mut self) -> View {
        self.totals.absorb(&window(self.recorder.take_window()));
        self.totals.evaluate_at_end(ELAPSED);
        self.totals.view(ELAPSED)
    }
}

fn tag_set(tags: &[(&str, &str)]) -> TagSet {
    TagSet::new(tags.iter().map(|(name, value)| ((*name).into(), (*value).into())))
}

fn window(series: Vec<(SeriesKey, Aggregate)>) -> Window {
    Window { series, ..Window::default() }
}

fn spec(selector: &str, source: &str, abort_after: Option<Duration>) -> ThresholdSpec {
    let condition = ThresholdCondition {
        source: source.to_owned(),
        abort_on_fail: abort_after.is_some(),
        delay_abort_eval: abort_after.unwrap_or_default(),
    };
    let conditions = if source.is_empty() { vec![] } else { vec![condition] };
    ThresholdSpec { selector: selector.to_owned(), conditions }
}

#[track_caller]
fn check_stat(view: &View, selector: &str, stat: &str, expect: Quantile) {
    let (name, _) = selector.split_once('{').unwrap_or((selector, ""));
    let metric = view.metric(name).expect("a metric of this name");
    let sub_metric = metric.sub_metrics.iter().find(|sub_metric| sub_metric.name == selector);
    let actual = sub_metric.map_or_else(|| metric.stat(stat), |sub_metric| sub_metric.stat(stat));
    assert_eq!(actual, Some(expect), "{stat} of {selector}");
}

#[test]
fn sub_metrics_take_the_samples_that_have_all_their_tags() {
    let mut run = Run::new(&[
        ("http_reqs{status:200,url:http://a:80/x}", ""),
        ("http_reqs{status:200}", "count>=2"),
        ("http_reqs{status:404}", "count<1"),
        ("http_reqs", "rate<0.5"),
    ]);
    run.record(HTTP_REQS, &[("status", "200"), ("url", "http://a:80/x"), ("name", "x")], 1.0);
    run.record(HTTP_REQS, &[("status", "200"), ("url", "http://a:80/y")], 1.0);
    run.record(HTTP_REQS, &[("status", "500")], 1.0);
    run.record(ITERATIONS, &[("status", "200")], 1.0);
    let view = run.view();
    let value = Quantile::Value;
    check_stat(&view, "http_reqs", "count", value(3.0));
    check_stat(&view, "http_reqs", "rate", value(0.3));
    check_stat(&view, "http_reqs{status:200}", "count", value(2.0));
    check_stat(&view, "http_reqs{status:200,url:http://a:80/x}", "count", value(1.0));
    check_stat(&view, "http_reqs{status:404}", "count", value(0.0));
    let http_reqs = view.metric("http_reqs").expect("it has samples");
    let ok: Vec<_> = http_reqs.sub_metrics.iter().flat_map(|sub| &sub.thresholds).map(|t| t.ok).collect();
    assert_eq!((ok, http_reqs.thresholds[0].ok), (vec![true, true], true));
    assert_eq!(http_reqs.thresholds[0].observed, value(0.3));
}

#[test]
fn expected_responses_are_kept_apart_unasked() {
    let mut run = Run::new(&[]);
    let view = run.view();
    assert_eq!(view.metrics, [], "nothing to show without samples");
    run.record(HTTP_REQ_DURATION, &[("expected_response", "true")], 5.0);
    run.record(HTTP_REQ_DURATION, &[("expected_response", "false")], 7.0);
    let view = run.view();
    check_stat(&view, "http_req_duration", "max", Quantile::Value(7.0));
    check_stat(&view, "http_req_duration{expected_response:true}", "max", Quantile::Value(5.0));
    assert_eq!(view.metrics[0].sub_metrics.len(), 1);
}

#[test]
fn metrics_named_by_thresholds_are_shown_without_samples() {
    let view = Run::new(&[("iterations{a:b}", ""), ("http_reqs", "")]).view();
    let names: Vec<_> = view.metrics.iter().map(|metric| &*metric.metric.name).collect();
    assert_eq!(names, ["http_reqs", "iterations"]);
    check_stat(&view, "iterations{a:b}", "count", Quantile::Value(0.0));
}

#[test]
fn aborting_waits_for_samples_and_for_its_delay() {
    let second = Duration::from_secs(1);
    let mut run = Run::with_specs(&[
        spec("http_req_duration", "avg>100", None),
        spec("http_req_duration", "avg>4", Some(5 * second)),
    ]);
    assert!(run.totals.evaluate(9 * second).ok(), "nothing is judged without samples");
    run.record(HTTP_REQ_DURATION, &[], 1.0);
    run.totals.absorb(&window(run.recorder.take_window()));
    let early = run.totals.evaluate(5 * second);
    assert_eq!((early.ok(), early.abort), (false, None), "crossed, but not for long enough");
    let abort = Abort { selector: "http_req_duration".to_owned(), source: "avg>4".to_owned() };
    let late = run.totals.evaluate(6 * second);
    assert_eq!(late.abort, Some(abort));
    assert_eq!(late.crossed(), ["http_req_duration"]);
    assert_eq!(run.totals.results(), late.results);
}

#[test]
fn at_the_end_zero_is_read_without_samples() {
    let mut run = Run::new(&[("http_req_duration", "p(95)>1"), ("checks", "rate>0.9")]);
    assert!(run.totals.evaluate(ELAPSED).ok());
    assert_eq!(run.totals.evaluate_at_end(ELAPSED).crossed(), ["http_req_duration"]);
}

/// 90 iterations with two requests each, and 10 that were dropped.
fn run_with_drops(thresholds: &[(&str, &str)]) -> Run {
    let mut run = Run::new(thresholds);
    let tags: &[_] = &[("scenario", "open")];
    for i in 0..90 {
        run.record(ITERATION_RESPONSE_TIME, tags, 10.0);
        run.record(HTTP_REQ_RESPONSE_TIME, tags, 1.0 + f64::from(i) / 1000.0);
        run.record(HTTP_REQ_RESPONSE_TIME, &[("scenario", "open"), ("name", "b")], 2.0);
    }
    for _ in 0..10 {
        run.record_marked(ITERATION_RESPONSE_TIME, tags, 0.0, Mark::Dropped);
    }
    run
}

#[test]
fn drops_are_charged_to_the_requests_they_took_along() {
    let mut run = run_with_drops(&[
        ("http_req_response_time", "p(95)<1000"),
        ("http_req_response_time", "p(80)<=2"),
        ("http_req_response_time{name:b}", "p(95)<1000"),
        ("iteration_response_time", "p(95)<1000"),
    ]);
    let view = run.view();
    let dropped = |bound| Quantile::AtLeast { bound, why: Mark::Dropped };
    for (selector, bound) in [
        ("http_req_response_time", 2.0),
        ("http_req_response_time{name:b}", 2.0),
        ("iteration_response_time", 10.0),
    ] {
        check_stat(&view, selector, "p(95)", dropped(bound));
        check_stat(&view, selector, "p(89)", Quantile::Value(bound));
    }
    let ok: Vec<_> = run.totals.results().iter().map(|result| result.ok).collect();
    assert_eq!(ok, [false, true, false, false]);
    let parts = [&view.scenarios[0]];
    let requests = parts[0].metrics.iter().find(|metric| metric.metric.id == HTTP_REQ_RESPONSE_TIME);
    assert_eq!(requests.and_then(|metric| metric.stat("p(95)")), Some(dropped(2.0)));
    // 180 requests of 90 started iterations: 20 are missing beside them.
    let Some(Aggregate::Trend(Trend { failures: Some(failures), .. })) =
        requests.map(|metric| &metric.aggregate)
    else {
        panic!("a trend with drops");
    };
    assert_eq!(failures.dropped, 20);
}

#[test]
fn each_scenario_has_its_own_share_of_drops() {
    let mut run = run_with_drops(&[("http_req_response_time{scenario:other}", "p(99)<5")]);
    for _ in 0..50 {
        run.record(ITERATION_RESPONSE_TIME, &[("scenario", "other")], 1.0);
        run.record(HTTP_REQ_RESPONSE_TIME, &[("scenario", "other")], 4.0);
    }
    // A scenario that never started anything has no requests to be missing.
    run.record_marked(ITERATION_RESPONSE_TIME, &[("scenario", "stuck")], 0.0, Mark::Dropped);
    let view = run.view();
    check_stat(&view, "http_req_response_time{scenario:other}", "p(99)", Quantile::Value(4.0));
    let all = view.metric("http_req_response_time").expect("it has samples");
    let Aggregate::Trend(trend) = &all.aggregate else { panic!("a trend") };
    assert_eq!(trend.population(), 180 + 50 + 20);
    // Of drops, the average knows nothing.
    assert_eq!(all.stat("count"), Some(Quantile::Value(230.0)));
}

fn outline(group: &GroupView) -> String {
    let checks: Vec<_> =
        group.checks.iter().map(|c| format!("{} {}/{}", c.path, c.passes, c.fails)).collect();
    let groups: Vec<_> = group.groups.iter().map(outline).collect();
    format!("{}[{}]({})", group.name, checks.join(", "), groups.join(" "))
}

#[test]
fn checks_stand_in_the_tree_of_groups_in_order_of_first_sight() {
    let mut run = Run::new(&[]);
    let check = |run: &mut Run, group: &str, name: &str, value: f64| {
        run.record(CHECKS, &[("group", group), ("check", name), ("scenario", "default")], value);
    };
    check(&mut run, "::setup", "ready", 1.0);
    check(&mut run, "", "z first", 0.0);
    check(&mut run, "", "a second", 1.0);
    check(&mut run, "::b::inner", "deep", 1.0);
    check(&mut run, "::b", "shallow", 1.0);
    check(&mut run, "::b", "shallow", 0.0);
    // The same check with further tags is the same check.
    run.record(CHECKS, &[("group", "::b"), ("check", "shallow"), ("more", "tags")], 0.0);
    run.record(GROUP_DURATION, &[("group", "::a")], 1.0);
    run.record(HTTP_REQS, &[("group", "::made::up")], 1.0);
    let view = run.view();
    assert_eq!(
        outline(&view.root_group),
        "[::z first 0/1, ::a second 1/0](setup[::setup::ready 1/0]() \
         b[::b::shallow 1/2](inner[::b::inner::deep 1/0]()) a[]())"
    );
    let names: Vec<_> = view.checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names, ["ready", "z first", "a second", "deep", "shallow"]);
    check_stat(&view, "checks", "passes", Quantile::Value(4.0));
}

#[test]
fn scenarios_and_groups_have_metrics_of_their_own() {
    let mut run = Run::new(&[]);
    run.record(HTTP_REQS, &[("scenario", "two"), ("group", "::g")], 1.0);
    run.record(HTTP_REQS, &[("scenario", "one"), ("group", "")], 1.0);
    run.record(ITERATION_DURATION, &[("scenario", "two")], 5.0);
    run.record(GROUP_DURATION, &[("scenario", "two"), ("group", "::g")], 5.0);
    let view = run.view();
    let names = |metrics: &[MetricView]| -> Vec<String> {
        metrics.iter().map(|metric| metric.metric.name.to_string()).collect()
    };
    let [two, one] = &view.scenarios[..] else { panic!("two scenarios") };
    assert_eq!((&*two.name, &*one.name), ("two", "one"));
    assert_eq!(names(&two.metrics), ["group_duration", "http_reqs", "iteration_duration"]);
    assert_eq!(names(&one.metrics), ["http_reqs"]);
    assert_eq!(names(&two.root_group.groups[0].metrics), ["group_duration", "http_reqs"]);
    assert_eq!(one.root_group.groups, []);
    assert_eq!(view.root_group.groups[0].metrics, [], "groups of the whole run have none");
}

#[test]
fn each_scenario_has_its_own_groups_and_checks() {
    let mut run = Run::new(&[]);
    let mut check = |scenario: &[(&str, &str)], group: &str, value: f64| {
        let tags = [&[("group", group), ("check", "c")], scenario].concat();
        run.record(CHECKS, &tags, value);
    };
    check(&[], "::setup", 1.0);
    check(&[("scenario", "one")], "::g", 1.0);
    check(&[("scenario", "two")], "::g", 0.0);
    check(&[("scenario", "two")], "::g::h", 1.0);
    let view = run.view();
    assert_eq!(outline(&view.root_group), "[](setup[::setup::c 1/0]() g[::g::c 1/1](h[::g::h::c 1/0]()))");
    assert_eq!(outline(&view.root_group_outside), "[](setup[::setup::c 1/0]())");
    assert_eq!(outline(&view.scenarios[0].root_group), "[](g[::g::c 1/0]())");
    assert_eq!(outline(&view.scenarios[1].root_group), "[](g[::g::c 0/1](h[::g::h::c 1/0]()))");
    let checks = |checks: &[CheckView]| checks.iter().map(|c| (c.passes, c.fails)).collect::<Vec<_>>();
    assert_eq!(checks(&view.checks), [(1, 0), (1, 1), (1, 0)]);
    assert_eq!(checks(&view.scenarios[1].checks), [(0, 1), (1, 0)]);
}

#[test]
fn groups_below_the_deepest_count_with_it() {
    let mut run = Run::new(&[]);
    let deep = "::g".repeat(100_000);
    run.record(CHECKS, &[("group", &deep), ("check", "c")], 1.0);
    let view = run.view();
    let mut group = &view.root_group;
    let mut depth = 0;
    while let [inner] = &group.groups[..] {
        (group, depth) = (inner, depth + 1);
    }
    assert_eq!((depth, group.checks.len()), (crate::GROUP_DEPTH_MAX, 1));
}

#[test]
fn response_times_that_were_never_measured_pass_nothing() {
    let mut run = Run::new(&[
        ("http_req_response_time", "p(95)<500"),
        ("http_req_response_time{name:a}", "avg<500"),
        ("http_req_duration", "p(95)<500"),
    ]);
    assert!(run.totals.evaluate(ELAPSED).ok(), "samples may still come");
    run.view();
    let ok: Vec<_> = run.totals.results().iter().map(|result| result.ok).collect();
    assert_eq!(ok, [false, false, true]);
}

#[test]
fn groups_beyond_the_limit_are_only_in_the_totals() {
    let mut run = Run::new(&[]);
    for i in 0..PARTS_DETAILED_MAX + 5 {
        run.record(GROUP_DURATION, &[("group", &format!("::{i}"))], 1.0);
        run.record(HTTP_REQS, &[("group", &format!("::{i}"))], 1.0);
    }
    let view = run.view();
    let groups = &view.root_group_outside.groups;
    let detailed = groups.iter().filter(|group| !group.metrics.is_empty()).count();
    assert_eq!(detailed, PARTS_DETAILED_MAX as usize);
    check_stat(&view, "http_reqs", "count", Quantile::Value(f64::from(PARTS_DETAILED_MAX + 5)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_order_of_windows_does_not_matter(
        samples in prop::collection::vec((0usize..4, 0usize..6, 0.0..1e4f64, any::<bool>()), 0..60), windows in 1usize..6,
    ) {
        let metrics = [HTTP_REQS, HTTP_REQ_RESPONSE_TIME, ITERATION_RESPONSE_TIME, CHECKS];
        let tags: [&[(&str, &str)]; 6] = [
            &[("scenario", "one"), ("check", "c")],
            &[("scenario", "two"), ("check", "d")],
            &[("group", "::g"), ("check", "c")],
            &[("scenario", "one"), ("group", "::h"), ("check", "d")],
            &[("scenario", "two"), ("group", "::g"), ("check", "d"), ("x", "1")],
            &[("scenario", "one"), ("check", "c"), ("x", "1")],
        ];
        let thresholds = [("http_req_response_time{scenario:one}", "p(90)<100")];
        let view_of = |backwards: bool| {
            let mut run = Run::new(&thresholds);
            // The tag sets have numbers before any window arrives, as in a run.
            tags.iter().for_each(|tag| { run.tags.intern(tag_set(tag)); });
            let mut parts: Vec<_> = samples.chunks(samples.len() / windows + 1).collect();
            if backwards {
                parts.reverse();
            }
            for part in parts {
                for &(metric, tag, value, measured) in part {
                    let mark = if measured { Mark::Measured } else { Mark::Dropped };
                    run.record_marked(metrics[metric], tags[tag], value, mark);
                }
                run.totals.absorb(&window(run.recorder.take_window()));
            }
            run.view()
        };
        prop_assert_eq!(view_of(false), view_of(true));
    }
}
