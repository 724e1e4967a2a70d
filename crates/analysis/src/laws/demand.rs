//! The utilisation law: demand per request D = U · m / X, and the ceiling m / D where the resource is used up.

use model::{Derived, Figure, Unit};

use crate::audit::{Facts, Version};

/// The service demand of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Processor time per request, in seconds.
    pub per_request_s: f64,
    /// The throughput at which the resource is fully used, per second.
    pub ceiling_per_s: f64,
}

/// The demand behind a utilisation of `utilisation_percent` of `cores` processors at a throughput; `None` unless all three
/// are above zero.
pub fn demand(utilisation_percent: f64, cores: f64, throughput_per_s: f64) -> Option<Demand> {
    let is_load = utilisation_percent > 0.0 && cores > 0.0 && throughput_per_s > 0.0;
    is_load.then(|| Demand {
        per_request_s: utilisation_percent / 100.0 * cores / throughput_per_s,
        ceiling_per_s: throughput_per_s / utilisation_percent * 100.0,
    })
}

/// Demand and ceiling of each version.
pub fn derive(facts: &Facts) -> Vec<Derived> {
    facts.versions.iter().take(super::ROWS_MAX).filter_map(of_version).collect()
}

fn of_version(version: &Version) -> Option<Derived> {
    let (utilisation, cores) = (version.utilisation?, version.cores?);
    let found = demand(utilisation, cores, version.offered)?;
    let demand = Figure::new("demand per request", found.per_request_s, Unit::Seconds);
    let ceiling = Figure::new("ceiling", found.ceiling_per_s, Unit::PerSecond);
    Some(Derived {
        law: "demand",
        says: format!(
            "{}: each request needs {} of CPU, so the processors saturate at {}",
            version.version, demand.value, ceiling.value
        ),
        figures: vec![
            Figure::new("throughput", version.offered, Unit::PerSecond),
            Figure::new("utilisation", utilisation, Unit::Percent),
            Figure::new("processors", cores, Unit::Cores),
            demand,
            ceiling,
        ],
        caveats: vec![
            "idle utilisation is counted as demand, so the ceiling is too low; measuring two loads separates them"
                .to_owned(),
        ],
        place: version.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::close;
    use super::*;

    #[test]
    fn demand_scales() {
        let found = demand(50.0, 4.0, 100.0).expect("a load");
        close(found.per_request_s, 0.02, 1e-12);
        close(found.ceiling_per_s, 200.0, 1e-9);
        assert_eq!(demand(0.0, 4.0, 100.0), None);
        assert_eq!(demand(50.0, 4.0, 0.0), None);
    }
}
