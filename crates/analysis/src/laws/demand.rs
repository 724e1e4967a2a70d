//! The utilisation law: demand per request D = U · m / X, and the ceiling m / D where the resource is used up.

use model::audit::LawClaim;
use model::{Derived, Figure, FigureLabel, Unit};

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
    Some(Derived {
        claim: LawClaim::CpuDemand {
            version: version.version.clone(),
            per_request_s: found.per_request_s,
            ceiling_per_s: found.ceiling_per_s,
        },
        figures: vec![
            Figure::new(FigureLabel::Throughput, version.offered, Unit::PerSecond),
            Figure::new(FigureLabel::Utilisation, utilisation, Unit::Percent),
            Figure::new(FigureLabel::Processors, cores, Unit::Cores),
            Figure::new(FigureLabel::DemandPerRequest, found.per_request_s, Unit::Seconds),
            Figure::new(FigureLabel::Ceiling, found.ceiling_per_s, Unit::PerSecond),
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
