//! What limits a system, with its numbers, what was ruled out, and a prediction that can fail.
//!
//! Under a load that rises, everything moves: that something moved says nothing. What a detector says rests on what a request
//! demands of a resource, on what stands at a limit, on what waits (of the requests under way the mean number that waits is their
//! share of the time, by Little's law), and on the critical paths of traces. Findings are ordered by the share of the time that
//! they explain and by how they are known; what follows from something that somebody wrote or set comes after that.
//!
//! Where nothing is at a limit that is said, and where what would tell is not there, what to connect.

mod case;
mod ceilings;
mod demand;
mod detectors;
mod paths;
mod series;
mod stalls;
mod times;
mod view;

#[cfg(test)]
mod testing;

use std::collections::BTreeSet;

use model::diagnosis::{DiagnosedRun, Hypothesis, Missing, Outcome, Role, RuledOut};
use model::{Diagnosis, Fault, Grade, Strength};

pub use case::{Case, Level, Requests, Second, Tasks};
pub use detectors::LABELS;
use detectors::{DETECTORS, LAST, share_saturated};
use view::{Depth, Says, View, percent, time};

/// Findings that are told one by one.
const FINDINGS_MAX: usize = 10;

/// What was ruled out, and what is missing, one by one.
const RULED_OUT_MAX: usize = 30;

/// What is not known to explain anything is taken to explain so much, for the order alone.
const EXPLAINS_UNKNOWN: f64 = 0.3;

/// Requests of which traces tell less than this share, and that take longer than this outside of them, are not understood.
const TRACED_MIN: f64 = 0.4;
const UNTRACED_S_MIN: f64 = 0.02;

/// Requests that wait for their turn for this share of their time wait for something, whether or not anybody told what.
const WAITS_MIN: f64 = 0.5;

/// Detectors of services that stand still.
const STANDING_STILL: [&str; 2] = ["throttling", "stop-the-world"];

/// Those of waits inside a service that end later where whoever ends them has to wait for a processor.
const WAITING_INSIDE: [&str; 2] = ["connection-pool", "workers"];

/// Faults of a measurement that are the generator's own.
const OF_GENERATOR: &[Fault] = &[
    Fault::StartLag,
    Fault::DroppedByGenerator,
    Fault::WorkerCpu,
    Fault::Throttled,
    Fault::RunDelay,
    Fault::Steal,
    Fault::TimerLag,
    Fault::Exhausted,
    Fault::Ports,
    Fault::Descriptors,
];

/// Says what limits, of the runs of a test by ascending load.
pub fn diagnose(case: &Case) -> Diagnosis {
    let Some(view) = View::of(case) else { return nothing(case, "there is no run to look at") };
    if view.level.requests.count == 0 {
        return nothing(case, "no request was finished");
    }
    let mut said = Said::default();
    for detect in DETECTORS {
        detect(&view).into_iter().for_each(|says| said.add(says));
    }
    let (held, saturated) = (view.share_held(), share_saturated(&view));
    said.rank(held, saturated);
    if said.limits().is_none() {
        LAST.iter().flat_map(|detect| detect(&view)).for_each(|says| said.add(says));
        said.rank(held, saturated);
    }
    let (outcome, headline) = outcome(&view, &mut said);
    let findings_beyond = said.found.len().saturating_sub(FINDINGS_MAX) as u64;
    said.found.truncate(FINDINGS_MAX);
    said.ruled_out.extend(generator_ruled_out(&view));
    said.ruled_out.truncate(RULED_OUT_MAX);
    Diagnosis {
        headline,
        runs: case.levels.iter().map(run).collect(),
        attribution: times::attribution(&view),
        time_uses: times::of_tasks(&view),
        findings: said.found.into_iter().map(|(hypothesis, _)| *hypothesis).collect(),
        findings_beyond,
        ruled_out: said.ruled_out,
        missing: match &outcome {
            Outcome::CannotTell { missing } => missing.clone(),
            _ => said.missing.into_iter().collect(),
        },
        caveats: caveats(&view),
        outcome,
    }
}

/// Everything that detectors said.
#[derive(Default)]
struct Said {
    found: Vec<(Box<Hypothesis>, Depth)>,
    ruled_out: Vec<RuledOut>,
    missing: BTreeSet<Missing>,
}

impl Said {
    fn add(&mut self, says: Says) {
        match says {
            Says::Found(hypothesis, depth) => self.found.push((hypothesis, depth)),
            Says::RuledOut(ruled_out) => self.ruled_out.push(ruled_out),
            Says::Missing(missing) => {
                self.missing.insert(missing);
            }
        }
    }

    /// What explains most first. One thing limits; the others keep it company. While a service is held for the share `held` of
    /// the time, everything waits, and what waits then explains nothing; while a processor is at its limit, for the share
    /// `saturated`, that is so of what waits inside.
    fn rank(&mut self, held: f64, saturated: f64) {
        let score = |(hypothesis, depth): &(Box<Hypothesis>, Depth)| {
            let is_why = STANDING_STILL.contains(&hypothesis.detector);
            let for_processor = if WAITING_INSIDE.contains(&hypothesis.detector) { saturated } else { 0.0 };
            let for_others = if is_why { 0.0 } else { held.max(for_processor) };
            score(hypothesis, *depth) * (1.0 - for_others)
        };
        self.found.sort_by(|a, b| a.0.role.cmp(&b.0.role).then_with(|| score(b).total_cmp(&score(a))));
        for (hypothesis, _) in self.found.iter_mut().skip(1) {
            if hypothesis.role == Role::Limits {
                hypothesis.role = Role::Contributes;
            }
        }
    }

    fn limits(&self) -> Option<&Hypothesis> {
        self.found
            .first()
            .map(|(hypothesis, _)| &**hypothesis)
            .filter(|hypothesis| hypothesis.role == Role::Limits)
    }
}

/// How much a finding is worth for the order.
fn score(hypothesis: &Hypothesis, depth: Depth) -> f64 {
    let strength = match hypothesis.strength {
        Strength::Arithmetic | Strength::Limit => 1.0,
        Strength::Statistics => 0.85,
        Strength::Pattern => 0.7,
    };
    let depth = match depth {
        Depth::Cause => 1.0,
        Depth::Part => 0.6,
        Depth::Resource => 0.5,
    };
    hypothesis.explains.unwrap_or(EXPLAINS_UNKNOWN) * strength * depth
}

fn outcome(view: &View<'_>, said: &mut Said) -> (Outcome, String) {
    let level = view.level;
    let worst = level
        .reasons
        .iter()
        .find(|reason| OF_GENERATOR.contains(&reason.fault) && reason.grade == Grade::Invalid);
    if let Some(reason) = worst.filter(|_| level.grade == Grade::Invalid) {
        // What is slow then is slow for the generator's own reasons.
        said.found
            .iter_mut()
            .filter(|(it, _)| it.role == Role::Limits)
            .for_each(|(it, _)| it.role = Role::Contributes);
        let text = format!(
            "the generator was the limit ({}): nothing is known about the target",
            reason.fault.as_str()
        );
        return (Outcome::Generator, text);
    }
    if level.is_unobserved() {
        let missing = everything_missing();
        return (Outcome::CannotTell { missing }, "nobody told what the servers did".to_owned());
    }
    if let Some(limit) = said.limits() {
        let explains =
            limit.explains.map_or_else(String::new, |share| format!(", {} of the time", percent(share)));
        return (Outcome::Limited, format!("{}: {}{explains}", limit.label, limit.title));
    }
    let slow = slower_than_understood(view);
    let has_nothing = said.missing.iter().any(|it| it.what == "traces")
        && said.missing.iter().any(|it| it.what == "processors of the servers");
    if slow.is_some() || has_nothing {
        let missing = if said.missing.is_empty() {
            everything_missing()
        } else {
            said.missing.iter().cloned().collect()
        };
        let why = slow.unwrap_or_else(|| "neither traces nor the use of processors were told".to_owned());
        return (Outcome::CannotTell { missing }, why);
    }
    let grows = match view.growth() {
        Some(growth) => {
            format!(", and at the highest load it takes {growth:.2} times as long as at the lowest")
        }
        None => String::new(),
    };
    (Outcome::NoServerBottleneck, format!("nothing of the servers is at a limit{grows}"))
}

/// Why there must be something that nobody saw.
fn slower_than_understood(view: &View<'_>) -> Option<String> {
    if view.grows() == Some(true) {
        let growth = view.growth().unwrap_or(0.0);
        return Some(format!(
            "it takes {growth:.2} times as long at the highest load, and nothing that was told is at a limit"
        ));
    }
    let mean_s = view.level.requests.mean_s.filter(|_| view.level.tasks.is_none())?;
    let waits = view.share_of_waits();
    if waits >= WAITS_MIN && mean_s * waits >= UNTRACED_S_MIN {
        return Some(format!(
            "a request waits for its turn for {} of its {}, and nothing that was told is at a limit",
            percent(waits),
            time(mean_s)
        ));
    }
    let traced = view.share_traced();
    let outside_s = mean_s * (1.0 - traced);
    let is_outside = view.paths.traces > 0 && traced < TRACED_MIN && outside_s >= UNTRACED_S_MIN;
    is_outside
        .then(|| format!("{} of a request's {} are outside of all spans", time(outside_s), time(mean_s)))
}

/// What tells most, that most first.
fn everything_missing() -> Vec<Missing> {
    let one = |what: &str, tells: &str, connect: &str| Missing {
        what: what.to_owned(),
        tells: tells.to_owned(),
        connect: connect.to_owned(),
    };
    vec![
        one(
            "traces",
            "where requests spend their time: the network, the service, the database, or somebody else",
            "--otlp on a run, and OTEL_EXPORTER_OTLP_ENDPOINT=http://HOST:4318 for the services",
        ),
        one(
            "processors of the servers",
            "whether a processor is at its limit, and how much one would be enough for",
            "--evidence prometheus=http://PROMETHEUS:9090, or on this machine --evidence host=local",
        ),
        one(
            "the database's own counters",
            "which statement takes its time, who waits for whose lock, how many connections there are",
            "--evidence postgresql=postgres://USER@HOST:5432/DATABASE (plimsoll doctor prints the grants)",
        ),
    ]
}

fn generator_ruled_out(view: &View<'_>) -> Option<RuledOut> {
    (view.level.grade == Grade::Valid).then(|| RuledOut {
        what: "the load generator".to_owned(),
        why: "its processor, its lateness and its connections were looked at".to_owned(),
        number: "VALID".to_owned(),
    })
}

fn caveats(view: &View<'_>) -> Vec<String> {
    let mut caveats = Vec::new();
    if view.low.is_none() {
        caveats
            .push("one run: what grows with load is not known; give runs at lower load as well".to_owned());
    }
    if view.level.grade != Grade::Valid {
        caveats.push(format!("the measurement itself is {}", view.level.grade.as_str()));
    }
    if view.paths.steps_beyond > 0 {
        caveats.push(format!("{} spans of further operations are not told apart", view.paths.steps_beyond));
    }
    caveats
}

/// What is wrong with the traces that a part of the time rests on.
fn detectors_flags(view: &View<'_>) -> Vec<String> {
    let text = "no trace of the unbiased sample: shares are those of slow and failed requests";
    if view.paths.is_biased { vec![text.to_owned()] } else { Vec::new() }
}

fn run(level: &Level) -> DiagnosedRun {
    DiagnosedRun {
        id: level.id.clone(),
        grade: level.grade,
        throughput_per_s: level.throughput_per_s(),
        mean_s: level.mean_s(),
        from: level.from(),
        to: level.to(),
    }
}

fn nothing(case: &Case, why: &str) -> Diagnosis {
    Diagnosis {
        outcome: Outcome::CannotTell { missing: Vec::new() },
        headline: why.to_owned(),
        runs: case.levels.iter().map(run).collect(),
        attribution: None,
        time_uses: Vec::new(),
        findings: Vec::new(),
        findings_beyond: 0,
        ruled_out: Vec::new(),
        missing: Vec::new(),
        caveats: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use model::{Amount, Reason};

    use super::testing::{flat, level, request, sampled, told};
    use super::*;

    fn healthy() -> Level {
        let labels = [("pod", "a"), ("container", "shop")];
        let signals = vec![
            flat("container_cpu", &labels, 20, 0.3),
            flat("container_cpu_limit", &labels, 20, 1.0),
            flat("locks_waiting", &[], 20, 0.0),
        ];
        let below = [("select 1", 1.0, 3.0)];
        let traces = (0..100).map(|number| sampled(number, request("shop", "GET /", 6.0, &below)));
        Level { traces: traces.collect(), ..told(level(20, 100, 0.007), signals, Vec::new()) }
    }

    fn of(levels: Vec<Level>) -> Diagnosis {
        diagnose(&Case { levels })
    }

    #[test]
    fn what_is_well_has_no_bottleneck() {
        let found = of(vec![healthy()]);
        assert_eq!((found.outcome, found.findings), (Outcome::NoServerBottleneck, Vec::new()));
        let whats: Vec<&str> = found.ruled_out.iter().map(|it| it.what.as_str()).collect();
        assert!(whats.contains(&"CPU of shop") && whats.contains(&"locks of the database"), "{whats:?}");
        assert!(whats.contains(&"the load generator"));
    }

    #[test]
    fn without_evidence_nobody_can_tell() {
        let found = of(vec![level(20, 100, 0.5)]);
        let Outcome::CannotTell { missing } = &found.outcome else { panic!("{:?}", found.outcome) };
        assert!(missing[0].connect.contains("--otlp"), "{missing:?}");
        assert!(found.findings.is_empty());
        assert!(matches!(of(Vec::new()).outcome, Outcome::CannotTell { .. }));
    }

    #[test]
    fn what_grows_and_is_not_at_a_limit_is_not_understood() {
        let mut high = healthy();
        high.requests.mean_s = Some(0.007 * 3.0);
        let found = of(vec![healthy(), high]);
        assert!(matches!(found.outcome, Outcome::CannotTell { .. }), "{:?}", found.outcome);
        assert!(found.headline.contains("3.00 times"), "{}", found.headline);
    }

    #[test]
    fn who_waits_for_a_turn_all_the_time_is_not_well() {
        let trace = |number| {
            let mut spans = request("feed", "GET /feed", 100.0, &[]);
            spans.push(super::testing::span(9, 1, "feed", "wait for the permit", 0.0, 95.0));
            sampled(number, spans)
        };
        let traces = (0..100).map(trace).collect();
        let found = of(vec![Level { traces, requests: level(20, 100, 0.101).requests, ..healthy() }]);
        assert!(matches!(found.outcome, Outcome::CannotTell { .. }), "{:?}", found.outcome);
        assert!(found.headline.starts_with("a request waits for its turn for"), "{}", found.headline);
    }

    #[test]
    fn the_generator_is_said_before_the_target() {
        let reason = Reason {
            fault: Fault::WorkerCpu,
            grade: Grade::Invalid,
            observed: Amount::Share(0.99),
            limit: Amount::Share(0.9),
            windows: Vec::new(),
        };
        let level = Level { grade: Grade::Invalid, reasons: vec![reason], ..healthy() };
        assert_eq!(of(vec![level]).outcome, Outcome::Generator);
    }

    #[test]
    fn what_waits_for_a_database_whose_core_is_busy_waits_for_the_core() {
        let case = |used| {
            let computing = [("wait_type", "CPU"), ("wait_event", "CPU")];
            let signals = vec![
                flat("core_cpu", &[("core", "1")], 20, used),
                flat("active_sessions", &computing, 20, 4.0),
                // Of the ten requests under way.
                flat("pool_pending", &[("pool", "main")], 20, 4.0),
            ];
            let found = of(vec![told(level(20, 100, 0.1), signals, Vec::new())]);
            found.findings.iter().map(|it| it.label).collect::<Vec<_>>()
        };
        assert_eq!(case(0.98), ["CPU saturated", "connection pool too small"]);
        assert_eq!(case(0.5), ["connection pool too small"]);
    }

    #[test]
    fn what_waits_in_a_service_at_its_quota_waits_for_the_quota() {
        let labels = [("pod", "a"), ("container", "shop")];
        let case = |throttled| {
            let signals = vec![
                flat("container_throttled", &labels, 20, throttled),
                flat("container_throttled_time", &labels, 20, throttled * 0.4),
                // Of the ten requests under way.
                flat("pool_pending", &[("pool", "main")], 20, 8.0),
            ];
            let found = of(vec![told(level(20, 100, 0.1), signals, Vec::new())]);
            found.findings.iter().map(|it| it.label).collect::<Vec<_>>()
        };
        assert_eq!(case(0.95), ["CPU limit", "connection pool too small"]);
        assert_eq!(case(0.3), ["connection pool too small", "CPU limit"]);
    }

    /// A seed's workers: four of one core each at 0.89, 0.58 CPU seconds a task, ceiling 421 a minute, and slots that were not full.
    #[test]
    fn the_seeds_scanner_is_limited_by_its_processors() {
        let mut signals = Vec::new();
        for pod in ["a", "b", "c", "d"] {
            let labels = [("pod", pod), ("container", "scan-worker")];
            signals.push(flat("container_cpu", &labels, 218, 0.91));
            signals.push(flat("container_cpu_limit", &labels, 218, 1.0));
        }
        let queue = [("queue", "scan.vision")];
        signals.push(flat("queue_ready", &queue, 218, 289.0));
        signals.push(flat("queue_unacked", &queue, 218, 69.0));
        signals.push(flat("queue_consumers", &queue, 218, 4.0));
        signals.push(flat("queue_prefetch", &queue, 218, 400.0));
        let mut level = told(level(218, 100, 0.3), signals, Vec::new());
        // 6.13 tasks a second, each with many polls.
        level.tasks = Some(Tasks { done: 1336, mean_s: Some(59.2), ..Tasks::default() });
        (level.slots, level.service_s) = (Some(400.0), Some(11.29));
        let found = of(vec![level]);
        let labels: Vec<&str> = found.findings.iter().map(|it| it.label).collect();
        assert!(labels.contains(&"CPU limit"), "{labels:?}");
        let slots =
            found.findings.iter().flat_map(|it| &it.ruled_out).find(|it| it.what == "worker slots full");
        assert_eq!(slots.map(|it| it.number.as_str()), Some("69 of 400 busy"));
        let time = &found.time_uses[0];
        assert!(time.parts_apart() < 0.02, "{time:?}");
        assert_eq!(time.ways[0].from, "289 waiting / 6.13/s");
        assert!((time.ways[0].waits_s.expect("a wait") - 47.1).abs() < 0.1, "{time:?}");
    }
}
