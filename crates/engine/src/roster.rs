//! Assigns VUs to scenarios.

use std::time::Duration;

/// A scenario's demand for VUs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand {
    /// Its start, from the start of the scenarios.
    pub(crate) start: Duration,
    /// When it may still use VUs, graceful stop included.
    pub(crate) end: Duration,
    /// VUs it needs.
    pub(crate) vus: u32,
}

/// The VUs of each scenario, numbered from 1. A VU serves one scenario after the other, never two at a time. So the
/// assignment is settled before the start, and threads share nothing while running.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Roster {
    /// By scenario.
    pub(crate) vus: Vec<Vec<u64>>,
    /// Number of VUs.
    pub(crate) total: u64,
}

/// Assigns to each scenario the lowest numbers that are free during all of it.
pub(crate) fn roster(demands: &[Demand]) -> Roster {
    let mut order: Vec<usize> = (0..demands.len()).collect();
    order.sort_by_key(|&index| demands[index].start);
    let mut busy_until: Vec<Duration> = Vec::new();
    let mut vus = vec![Vec::new(); demands.len()];
    for index in order {
        let demand = demands[index];
        let wanted = demand.vus as usize;
        for (id, busy) in (1..).zip(&mut busy_until) {
            if vus[index].len() == wanted {
                break;
            }
            if *busy <= demand.start {
                *busy = demand.end;
                vus[index].push(id);
            }
        }
        while vus[index].len() < wanted {
            busy_until.push(demand.end);
            vus[index].push(busy_until.len() as u64);
        }
    }
    Roster { vus, total: busy_until.len() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(demands: &[(u64, u64, u32)], expect: &[&[u64]]) {
        let seconds = Duration::from_secs;
        let demands: Vec<Demand> = demands
            .iter()
            .map(|&(start, end, vus)| Demand { start: seconds(start), end: seconds(end), vus })
            .collect();
        assert_eq!(roster(&demands).vus, expect);
    }

    #[test]
    fn vus_are_used_again_once_they_are_free() {
        check(&[(0, 10, 2), (10, 20, 3)], &[&[1, 2], &[1, 2, 3]]);
        check(&[(0, 10, 2), (9, 20, 1)], &[&[1, 2], &[3]]);
        check(&[(5, 10, 1), (0, 5, 2), (0, 20, 1)], &[&[1], &[1, 2], &[3]]);
        check(&[(0, 1, 0)], &[&[]]);
    }
}
