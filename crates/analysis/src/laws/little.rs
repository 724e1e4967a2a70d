//! Little's law: the number under way is throughput × time (J. D. C. Little, 1961).

use model::{Derived, Figure, Unit};

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
        law: "little",
        says: format!("{}: throughput × time = {busy:.1} of {vus} threads", run.run),
        figures: vec![
            Figure::new("throughput", throughput, Unit::PerSecond),
            Figure::new("mean time", avg, Unit::Seconds),
            Figure::new("throughput × time", busy, Unit::Count),
            Figure::new("threads", vus, Unit::Vus),
        ],
        caveats: Vec::new(),
        place: run.place.clone(),
    })
}
