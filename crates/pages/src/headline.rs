//! The head of the page: the strip of checks that validity depends on, the verdict and the key figures.

use std::time::Duration;

use api::page::{Headline, IterationCounts, StripItem, Value};
use model::metric::builtin::{DROPPED_ITERATIONS, ITERATION_LATENESS};
use model::plan::TimeUnit;
use model::{
    Aggregate, Amount, Fault, GeneratorState, Grade, Quantile, Reason, Trend, Validity, Vital, Window, Work,
};

use super::add;
use super::values::{self, FigureTotals};

/// The items of the strip, each with the faults that it covers.
const ITEMS: [(&str, &[Fault]); 12] = [
    (
        "dropped",
        &[Fault::Dropped, Fault::DroppedByTarget, Fault::DroppedByGenerator, Fault::DroppedWhileStarting],
    ),
    ("generator_cpu", &[Fault::WorkerCpu]),
    ("run_delay", &[Fault::RunDelay]),
    ("lateness", &[Fault::StartLag]),
    ("timer_lag", &[Fault::TimerLag]),
    ("sockets", &[Fault::Ports, Fault::Descriptors, Fault::Exhausted]),
    ("network", &[Fault::Network, Fault::Retransmission, Fault::Connects]),
    (
        "recorded",
        &[Fault::Recorded, Fault::WindowsLost, Fault::WorkersLost, Fault::Coverage, Fault::LongWindows],
    ),
    ("steady", &[Fault::Unsteady, Fault::Little]),
    ("clock", &[Fault::Clock]),
    ("throttled", &[Fault::Throttled]),
    ("steal", &[Fault::Steal]),
];

/// Peak readings of the generator, and the other values that the strip shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Peaks {
    worker_cpu: Option<f64>,
    run_delay: Option<f64>,
    throttled: Option<f64>,
    steal: Option<f64>,
    timer_lag_ms: Option<f64>,
    ports: Option<f64>,
    segments_sent: f64,
    segments_repeated: f64,
    has_segments: bool,
}

impl Peaks {
    /// Collects the peaks of some states.
    pub(super) fn from_states<'a>(states: impl IntoIterator<Item = &'a GeneratorState>) -> Peaks {
        let mut peaks = Peaks::default();
        states.into_iter().for_each(|state| peaks.add(state));
        peaks
    }

    /// Adds a state.
    pub(super) fn add(&mut self, state: &GeneratorState) {
        let keep = |known: &mut Option<f64>, value: Option<f64>| {
            if let Some(value) = value {
                *known = Some(known.map_or(value, |known| known.max(value)));
            }
        };
        keep(&mut self.worker_cpu, state.get(Vital::WorkerCpu));
        keep(&mut self.run_delay, state.get(Vital::WorkerRunDelay));
        keep(&mut self.throttled, state.get(Vital::Throttled));
        keep(&mut self.steal, state.get(Vital::HostSteal));
        keep(&mut self.timer_lag_ms, state.get(Vital::TimerLag));
        let taken = |used: Vital, max: Vital| {
            state.get(used).zip(state.get(max)).filter(|(_, max)| *max > 0.0).map(|(used, max)| used / max)
        };
        keep(&mut self.ports, taken(Vital::Ports, Vital::PortsMax));
        keep(&mut self.ports, taken(Vital::Descriptors, Vital::DescriptorsMax));
        if let Some(sent) = state.get(Vital::SegmentsSent) {
            self.has_segments = true;
            self.segments_sent += sent;
            self.segments_repeated += state.get(Vital::SegmentsRepeated).unwrap_or(0.0);
        }
    }
}

/// The facts behind the strip, the figures and the counts; windows are added one by one, or as one sum.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) figures: FigureTotals,
    pub(super) peaks: Peaks,
    pub(super) lateness: Trend,
    dropped: u64,
    started: u64,
    finished: u64,
}

impl Facts {
    /// Returns facts that hold only the generator's peaks.
    pub(super) fn with(peaks: Peaks) -> Facts {
        Facts { peaks, ..Facts::default() }
    }

    /// Adds a window, or the sum of many.
    pub(super) fn add(&mut self, window: &Window) {
        self.figures.add(window);
        for (key, aggregate) in &window.series {
            match aggregate {
                Aggregate::Trend(trend) if key.metric == ITERATION_LATENESS => self.lateness.merge(trend),
                Aggregate::Counter(counter) if key.metric == DROPPED_ITERATIONS => {
                    add(&mut self.dropped, counter.sum.value().max(0.0) as u64);
                }
                _ => {}
            }
        }
        for load in window.load.iter().filter(|load| load.work == Work::Iterations && load.scenario.is_some())
        {
            add(&mut self.started, load.started);
            add(&mut self.finished, load.finished);
        }
    }

    /// Returns the complete head.
    pub(super) fn headline(
        &self,
        verdict: (&'static str, String),
        validity: Option<&Validity>,
        elapsed: Duration,
        unit: Option<TimeUnit>,
    ) -> Headline {
        Headline {
            verdict: verdict.0,
            sentence: verdict.1,
            grade: validity.map(|validity| validity.grade.as_str()),
            strip: self.strip(validity, unit),
            figures: self.figures.figures(elapsed, unit),
            iterations: IterationCounts {
                due: values::count(self.started.saturating_add(self.dropped)),
                started: values::count(self.started),
                finished: values::count(self.finished),
                dropped: values::count(self.dropped),
            },
        }
    }

    /// Returns the items of the strip, the worst first.
    pub(super) fn strip(&self, validity: Option<&Validity>, unit: Option<TimeUnit>) -> Vec<StripItem> {
        let item = |(key, faults): &(&'static str, &[Fault])| {
            let (status, reason) = validity.map_or(("unknown", None), |validity| status(validity, faults));
            let amount =
                |amount: Amount| values::value(amount.value(), report::validity::amount_text(amount));
            // Beside a limit stands the value that exceeded it, not another value of the same name.
            let value = reason.map(|reason| amount(reason.observed));
            let value = value.unwrap_or_else(|| self.value(key, validity, unit));
            StripItem {
                key,
                // Nothing was checked where there is no number.
                status: if status == "ok" && value.value.is_none() { "unknown" } else { status },
                value,
                limit: reason.map(|reason| amount(reason.limit)),
            }
        };
        let mut items: Vec<StripItem> = ITEMS.iter().map(item).collect();
        let order = |item: &StripItem| match item.status {
            "fail" => 0,
            "warn" => 1,
            "ok" => 2,
            _ => 3,
        };
        items.sort_by_key(order);
        items
    }

    fn value(&self, key: &str, validity: Option<&Validity>, unit: Option<TimeUnit>) -> Value {
        let unread = || values::none("not measured");
        let share = |share: Option<f64>| share.map_or_else(unread, values::share);
        let ms = |ms: Option<f64>| ms.map_or_else(unread, |ms| values::ms(ms, unit));
        match key {
            "dropped" => values::count(self.dropped),
            "generator_cpu" => share(self.peaks.worker_cpu),
            "run_delay" => share(self.peaks.run_delay),
            "throttled" => share(self.peaks.throttled),
            "steal" => share(self.peaks.steal),
            // VUs that begin when they can have no due time to be late for.
            "lateness" if self.started > 0 && self.lateness.population() == 0 => values::none("closed loop"),
            "lateness" => ms(match self.lateness.quantile(0.99) {
                Quantile::Value(value) => Some(value),
                _ => None,
            }),
            "timer_lag" => ms(self.peaks.timer_lag_ms),
            "sockets" => share(self.peaks.ports),
            "network" => share(self.peaks.has_segments.then(|| match self.peaks.segments_sent {
                sent if sent > 0.0 => self.peaks.segments_repeated / sent,
                _ => 0.0,
            })),
            "recorded" => values::count(self.figures.requests()),
            "steady" => validity.map_or_else(unread, |validity| {
                let (good, of) = (validity.count(Grade::Valid), validity.windows.len());
                values::value(good as f64, format!("{good} / {of} s"))
            }),
            _ => validity.map_or_else(unread, |_| values::value(0.0, "OK".to_owned())),
        }
    }
}

/// Returns an item's status, and the worst reason if it is not good.
fn status<'a>(validity: &'a Validity, faults: &[Fault]) -> (&'static str, Option<&'a Reason>) {
    let reasons = validity.reasons.iter().filter(|reason| faults.contains(&reason.fault));
    let worst = reasons.max_by_key(|reason| reason.grade);
    match worst.map(|reason| reason.grade) {
        Some(Grade::Invalid) => ("fail", worst),
        Some(Grade::Degraded) => ("warn", worst),
        _ if validity.unmeasured.iter().any(|fault| faults.contains(fault)) => ("unknown", None),
        Some(Grade::Valid | Grade::Unmeasured) | None => ("ok", None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_a_place_in_the_strip() {
        for fault in Fault::ALL {
            let places = ITEMS.iter().filter(|(_, faults)| faults.contains(fault)).count();
            assert_eq!(places, 1, "{fault:?}");
        }
    }

    #[test]
    fn waiting_for_a_core_is_not_called_its_use() {
        let reason = Reason {
            fault: Fault::RunDelay,
            grade: Grade::Degraded,
            observed: Amount::Share(0.25),
            limit: Amount::Share(0.125),
            windows: vec![],
        };
        let validity = Validity { grade: Grade::Degraded, reasons: vec![reason], ..Validity::default() };
        let reading = |vital, value| model::Reading { vital, worker: Some(0), value };
        let readings = vec![reading(Vital::WorkerCpu, 0.5), reading(Vital::WorkerRunDelay, 0.75)];
        let peaks = Peaks::from_states(&[GeneratorState { at: model::Instant::ZERO, readings }]);
        let strip = Facts::with(peaks).strip(Some(&validity), None);
        let item = |key: &str| {
            let item = strip.iter().find(|item| item.key == key).expect("it is there");
            let limit = item.limit.as_ref().map_or("", |limit| limit.text.as_str());
            (item.status, item.value.text.clone(), limit.to_owned())
        };
        assert_eq!(item("run_delay"), ("warn", "25.00%".to_owned(), "12.50%".to_owned()));
        assert_eq!(item("generator_cpu"), ("ok", "50.00%".to_owned(), String::new()));
    }

    #[test]
    fn what_was_not_measured_is_not_well() {
        let facts = Facts { started: 5, ..Facts::default() };
        let strip = facts.strip(Some(&Validity { grade: Grade::Valid, ..Validity::default() }), None);
        let item = |key: &str| {
            let item = strip.iter().find(|item| item.key == key).expect("it is there");
            (item.status, item.value.text.clone())
        };
        assert_eq!(item("lateness"), ("unknown", "n/a: closed loop".to_owned()));
        assert_eq!(item("timer_lag"), ("unknown", "n/a: not measured".to_owned()));
        assert_eq!(item("clock"), ("ok", "OK".to_owned()));
    }

    #[test]
    fn the_worst_stands_first_and_names_its_limit() {
        let reason = Reason {
            fault: Fault::TimerLag,
            grade: Grade::Invalid,
            observed: Amount::Milliseconds(41.0),
            limit: Amount::Milliseconds(10.0),
            windows: vec![],
        };
        let validity = Validity {
            grade: Grade::Invalid,
            reasons: vec![reason],
            unmeasured: vec![Fault::WorkerCpu],
            windows: vec![(0, Grade::Valid), (1, Grade::Invalid)],
        };
        let strip = Facts::default().strip(Some(&validity), None);
        assert_eq!((strip[0].key, strip[0].status), ("timer_lag", "fail"));
        assert_eq!(strip[0].limit.as_ref().map(|limit| limit.text.as_str()), Some("10ms"));
        assert_eq!(strip[0].value.text, "41ms", "what passed the limit stands beside it");
        let cpu = strip.iter().find(|item| item.key == "generator_cpu").expect("it is there");
        assert_eq!((cpu.status, strip.last().map(|last| last.status)), ("unknown", Some("unknown")));
        let steady = strip.iter().find(|item| item.key == "steady").expect("it is there");
        assert_eq!((steady.value.text.as_str(), steady.status), ("1 / 2 s", "ok"));
    }
}
