//! Little's law: the number under way is throughput × time (J. D. C. Little, 1961).

use model::audit::LawClaim;
use model::{Derived, Figure, FigureLabel, Unit};

use crate::audit::{Facts, Run};

/// The mean number under way.
pub fn in_flight(throughput_per_s: f64, time_s: f64) -> f64 {
    throughput_per_s * time_s
}

/// How long each is under way, seconds; nothing where none comes through.
pub fn time_s(in_flight: f64, throughput_per_s: f64) -> Option<f64> {
    (throughput_per_s > 0.0).then(|| in_flight / throughput_per_s)
}

/// The number under way in each closed run.
pub fn derive(facts: &Facts) -> Vec<Derived> {
    let closed = facts.runs.iter().filter(|run| run.model.as_deref() == Some("closed"));
    closed.take(super::ROWS_MAX).filter_map(of_run).collect()
}

fn of_run(run: &Run) -> Option<Derived> {
    let (vus, throughput, avg) = (run.vus?, run.throughput?, run.avg?);
    let busy = in_flight(throughput, avg);
    Some(Derived {
        claim: LawClaim::InFlight { run: run.run.clone(), in_flight: busy, threads: vus },
        figures: vec![
            Figure::new(FigureLabel::Throughput, throughput, Unit::PerSecond),
            Figure::new(FigureLabel::MeanTime, avg, Unit::Seconds),
            Figure::new(FigureLabel::ThroughputTimesTime, busy, Unit::Count),
            Figure::new(FigureLabel::Threads, vus, Unit::Vus),
        ],
        place: run.place.clone(),
    })
}
