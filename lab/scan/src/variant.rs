//! The ways to build the system.

use lab::Variant as Listed;

use crate::seed::REPLICAS_MAX;
use crate::stage::Stage;

/// The configuration of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    /// Workers that there are at least, besides the canary.
    pub(crate) replicas_min: usize,
    /// Whether a worker that is free takes what is nearest to its end; else what is farthest, as queues are listed.
    pub(crate) takes_last_first: bool,
}

/// As the lab lists them.
pub(crate) const ALL: &[Listed] = &[
    Listed { name: "cold", summary: "one worker and the canary until the autoscaler has seen the load" },
    Listed { name: "warm", summary: "all workers are there from the beginning" },
    Listed {
        name: "last-first",
        summary: "all workers are there, and take what is nearest to its end before what is new",
    },
];

impl Variant {
    /// The variant of a name.
    pub(crate) fn from_name(name: &str) -> Option<Variant> {
        let (replicas_min, takes_last_first) = match name {
            "cold" => (1, false),
            "warm" => (REPLICAS_MAX, false),
            "last-first" => (REPLICAS_MAX, true),
            _ => return None,
        };
        Some(Variant { replicas_min, takes_last_first })
    }

    /// The order in which a worker looks for its next task.
    pub(crate) fn order(self) -> [Stage; 4] {
        let mut order = Stage::ALL;
        if self.takes_last_first {
            order.reverse();
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_that_is_listed_is_known() {
        for listed in ALL {
            assert!(Variant::from_name(listed.name).is_some(), "{}", listed.name);
        }
        assert_eq!(Variant::from_name("none"), None);
        let first = |name| Variant::from_name(name).expect("it is listed").order()[0];
        assert_eq!((first("warm"), first("last-first")), (Stage::Vision, Stage::Reward));
    }
}
