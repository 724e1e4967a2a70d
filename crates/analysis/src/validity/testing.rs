//! Runs for the tests of the rules: clean ones, and what a test changes.

use std::collections::BTreeMap;

use model::metric::builtin::{
    DATA_RECEIVED, DROPPED_ITERATIONS, HTTP_REQ_BLOCKED, HTTP_REQ_CONNECTING, HTTP_REQ_DURATION, HTTP_REQS,
    ITERATION_LATENESS,
};
use model::{
    Aggregate, ErrorCount, Fault, GeneratorState, Grade, Instant, Load, Mark, MetricId, MetricKind, Reading,
    SeriesKey, TagSetId, Vital, Window, Work,
};

use super::facts::{ClockAnchor, DropTotals, Facts, Losses, ScenarioKind, Whole};
use super::judge::{Case, Ruling};
use super::rules;

/// Requests of a second, and iterations.
const PER_SECOND: u64 = 100;

/// A second of a run, as a test describes it.
#[derive(Clone, Debug)]
pub(super) struct TestSecond {
    pub(super) length_ms: u64,
    pub(super) lateness_ms: f64,
    pub(super) dropped: u64,
    pub(super) recorded: u64,
    pub(super) duration_ms: f64,
    pub(super) in_flight_ms: f64,
    pub(super) connects_ms: Vec<f64>,
    pub(super) exhausted: u64,
    pub(super) received: f64,
    pub(super) clock_step_ms: i64,
    pub(super) vitals: BTreeMap<Vital, f64>,
}

impl TestSecond {
    fn clean() -> TestSecond {
        let vitals = [
            (Vital::WorkerCpu, 0.3),
            (Vital::WorkerRunDelay, 0.001),
            (Vital::HostSteal, 0.0),
            (Vital::Throttled, 0.0),
            (Vital::TimerLag, 0.1),
            (Vital::Ports, 100.0),
            (Vital::PortsMax, 28_232.0),
            (Vital::Descriptors, 100.0),
            (Vital::DescriptorsMax, 1_024.0),
            (Vital::SegmentsSent, 1_000.0),
            (Vital::SegmentsRepeated, 0.0),
        ];
        TestSecond {
            length_ms: 1_000,
            lateness_ms: 0.2,
            dropped: 0,
            recorded: PER_SECOND,
            duration_ms: 20.0,
            in_flight_ms: 20.0 * PER_SECOND as f64,
            connects_ms: vec![0.5],
            exhausted: 0,
            received: 10_000.0,
            clock_step_ms: 0,
            vitals: vitals.into(),
        }
    }

    pub(super) fn set(&mut self, vital: Vital, value: f64) {
        self.vitals.insert(vital, value);
    }
}

/// A run, as a test describes it.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) seconds: Vec<TestSecond>,
    pub(super) is_open: bool,
    pub(super) drops: Option<DropTotals>,
    pub(super) losses: Losses,
    /// Windows that are not there.
    pub(super) missing: Vec<u32>,
}

impl Run {
    pub(super) fn clean(seconds: usize) -> Run {
        Run {
            seconds: vec![TestSecond::clean(); seconds],
            is_open: true,
            drops: Some(DropTotals::default()),
            losses: Losses::default(),
            missing: Vec::new(),
        }
    }

    pub(super) fn change(mut self, mut change: impl FnMut(u32, &mut TestSecond)) -> Run {
        (0..).zip(&mut self.seconds).for_each(|(index, second)| change(index, second));
        self
    }

    pub(super) fn facts(&self) -> Facts {
        let at = |ms: u64| Instant::from_ns(ms * 1_000_000);
        let begin_ms = 5_000;
        let total_ms: u64 = self.seconds.iter().map(|second| second.length_ms).sum();
        let kinds = vec![ScenarioKind { is_open: self.is_open, is_constant: true }];
        let mut facts = Facts::new(kinds, false, true);
        facts.scenarios_started = Some(at(begin_ms));
        facts.scenarios_ended = Some(at(begin_ms + total_ms));
        facts.drops = self.drops;
        facts.losses = self.losses;
        let mut lateness = Aggregate::empty(MetricKind::Trend);
        let (mut start_ms, mut wall_ms) = (begin_ms, 1_700_000_000_000i64);
        for (index, second) in (0..).zip(&self.seconds) {
            let end_ms = start_ms + second.length_ms;
            wall_ms += second.length_ms as i64 + second.clock_step_ms;
            if !self.missing.contains(&index) {
                let window = second.window(index, at(start_ms), at(end_ms), self.is_open);
                let of_window = window.series.iter().filter(|(key, _)| key.metric == ITERATION_LATENESS);
                of_window.for_each(|(_, trend)| lateness.merge(trend));
                facts.add_window(&window);
                facts.add_anchor(ClockAnchor { at: at(end_ms), wall_unix_ns: wall_ms * 1_000_000 });
                let reading =
                    |(vital, value): (&Vital, &f64)| Reading { vital: *vital, worker: None, value: *value };
                let readings = second.vitals.iter().map(reading).collect();
                facts.add_state(&GeneratorState { at: at(end_ms), readings });
            }
            start_ms = end_ms;
        }
        let duration = self.seconds.first().map(|second| trend(&[second.duration_ms]));
        facts.whole = Whole::new(self.is_open.then_some(&lateness), duration.as_ref(), None);
        facts
    }
}

impl TestSecond {
    fn window(&self, index: u32, start: Instant, end: Instant, is_open: bool) -> Window {
        let series =
            |metric: MetricId, aggregate| (SeriesKey { metric, tags: TagSetId::default() }, aggregate);
        let mut all = vec![
            series(HTTP_REQ_DURATION, trend(&vec![self.duration_ms; self.recorded as usize])),
            series(HTTP_REQ_BLOCKED, trend(&[0.0])),
            series(HTTP_REQ_CONNECTING, trend(&self.connects_ms)),
            series(HTTP_REQS, counter(&vec![1.0; self.recorded as usize])),
            series(DROPPED_ITERATIONS, counter(&[self.dropped as f64])),
            series(DATA_RECEIVED, counter(&[self.received])),
        ];
        if is_open {
            all.push(series(ITERATION_LATENESS, trend(&[self.lateness_ms; 10])));
        }
        let load = |work, in_flight_ns| Load {
            scenario: None,
            work,
            started: PER_SECOND,
            finished: PER_SECOND,
            in_flight_ns,
        };
        let error = ErrorCount {
            code: 1200,
            message: "dial: too many open files: raise this process's limit".into(),
            tags: TagSetId::default(),
            count: self.exhausted,
            example: "".into(),
        };
        Window {
            index,
            start,
            end,
            series: all,
            load: vec![load(Work::Iterations, 1), load(Work::Requests, (self.in_flight_ms * 1e6) as u64)],
            exemplars: Vec::new(),
            errors: vec![error],
            leased: Vec::new(),
        }
    }
}

fn trend(values: &[f64]) -> Aggregate {
    recorded(MetricKind::Trend, values)
}

fn counter(values: &[f64]) -> Aggregate {
    recorded(MetricKind::Counter, values)
}

fn recorded(kind: MetricKind, values: &[f64]) -> Aggregate {
    let mut aggregate = Aggregate::empty(kind);
    values.iter().for_each(|value| aggregate.record(*value, Mark::Measured, Instant::ZERO));
    aggregate
}

/// The grade of a run by a rule, [`Grade::Unmeasured`] without evidence.
pub(super) fn grade(fault: Fault, run: &Run) -> Grade {
    let facts = run.facts();
    match ruling(fault, &Case::new(&facts)) {
        Ruling::NotApplicable | Ruling::Fine => Grade::Valid,
        Ruling::Unmeasured => Grade::Unmeasured,
        Ruling::Bad(reason, _) => reason.grade,
    }
}

/// The judgement of a rule on a case.
pub(super) fn ruling(fault: Fault, case: &Case<'_>) -> Ruling {
    let rule = rules::ALL.iter().find(|known| known.fault == fault).expect("the rule is in the list");
    (rule.judge)(case)
}

/// A rule that looks at one vital: what each value in every second of a clean run makes of it, and that it needs evidence.
#[track_caller]
pub(super) fn check_vital(fault: Fault, vital: Vital, expect: &[(f64, Grade)]) {
    for (value, expect) in expect {
        let run = Run::clean(30).change(|_, second| second.set(vital, *value));
        assert_eq!(grade(fault, &run), *expect, "{fault:?}: {vital:?} = {value}");
    }
    let unread = Run::clean(30).change(|_, second| {
        second.vitals.remove(&vital);
    });
    assert_eq!(grade(fault, &unread), Grade::Unmeasured, "{fault:?} without {vital:?}");
}
