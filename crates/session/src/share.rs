//! This instance's share of what is numbered over the whole test, as scripts use it.

use std::sync::Arc;

use model::Plan;
use plan::Stripe;

/// The share of a plan's segment.
struct OfSegment {
    stripe: Stripe,
    is_whole: bool,
}

impl script::Share for OfSegment {
    fn index_in_test(&self, index_in_instance: u64) -> u64 {
        self.stripe.global_index(index_in_instance)
    }

    fn is_whole(&self) -> bool {
        self.is_whole
    }
}

/// Returns the share of the instance that runs this plan.
pub(crate) fn of(plan: &Plan) -> Arc<dyn script::Share> {
    let segment = &plan.segment;
    let is_whole = segment.from.0 == 0 && segment.to.0 == segment.to.1;
    Arc::new(OfSegment { stripe: Stripe::new(segment), is_whole })
}

#[cfg(test)]
mod tests {
    use model::plan::Segment;

    use super::*;

    #[test]
    fn instances_share_everything_out() {
        let whole = of(&Plan::default());
        assert!(whole.is_whole() && (0..10).all(|index| whole.index_in_test(index) == index));
        let sequence = vec![(0, 1), (1, 2), (1, 1)];
        let half =
            |from, to| Plan { segment: Segment { from, to, sequence: sequence.clone() }, ..Plan::default() };
        let halves = [of(&half((0, 1), (1, 2))), of(&half((1, 2), (1, 1)))];
        let mut all: Vec<u64> =
            halves.iter().flat_map(|half| (0..5).map(|index| half.index_in_test(index))).collect();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
        assert!(!halves[0].is_whole() && !halves[1].is_whole());
    }
}
