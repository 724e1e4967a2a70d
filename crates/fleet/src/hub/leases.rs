//! Shared iterations, which the hub hands out in blocks.
//!
//! An iteration belongs to the agent that has its block until a window says that it has ended. What a lost agent has not ended so is
//! handed to others with `rebalance`, and missing otherwise. In the results each iteration counts once, because an agent's window has
//! the samples of an iteration and its number, or neither. On the target one may run twice: on the lost agent, after its last window.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use model::Instant;

use super::member::Stage;
use super::{Hub, OnLoss};
use crate::message::{Act, Body, Lease, Order};

/// The largest block. An agent asks for the next one before it is used up.
const BLOCK_MAX: u64 = 10_000;

/// Numbers without an agent are cut into so many blocks for each agent, so that slow ones do not end long after fast ones.
const BLOCKS_PER_AGENT: u64 = 4;

/// The shared iterations of one scenario.
#[derive(Debug, Default)]
pub(super) struct Pool {
    next: u64,
    total: u64,
    /// Numbers that lost agents have not ended.
    returned: VecDeque<Range<u64>>,
    /// Numbers that agents have and have not ended, as ranges from the first to the one after the last.
    held: BTreeMap<usize, BTreeMap<u64, u64>>,
    /// Agents that wait for a block, and how many iterations they run in the time that an answer takes.
    waiting: BTreeMap<usize, u64>,
}

impl Pool {
    pub(super) fn new(total: u64) -> Pool {
        Pool { total, ..Pool::default() }
    }

    /// The next block for an agent of so many that runs `least` iterations before it could have the next one; `None` where nothing
    /// is without an agent now.
    pub(super) fn take(&mut self, agent: usize, agents: u64, least: u64) -> Option<Range<u64>> {
        let free = self.free();
        if free == 0 {
            return None;
        }
        // Near the end no agent takes more than its part of the rest, and none waits for many small blocks.
        let least = least.min(free.div_ceil(agents.max(1))).clamp(1, BLOCK_MAX);
        let size = (free / (agents.max(1) * BLOCKS_PER_AGENT)).clamp(least, BLOCK_MAX);
        let block = match self.returned.front_mut() {
            Some(front) => {
                let block = front.start..front.end.min(front.start + size);
                front.start = block.end;
                if front.is_empty() {
                    self.returned.pop_front();
                }
                block
            }
            None => {
                let block = self.next..self.total.min(self.next + size);
                self.next = block.end;
                block
            }
        };
        self.held.entry(agent).or_default().insert(block.start, block.end);
        Some(block)
    }

    /// An agent has ended these. Numbers that it does not have are ignored.
    pub(super) fn end(&mut self, agent: usize, numbers: Range<u64>) {
        let Some(held) = self.held.get_mut(&agent) else { return };
        let overlaps =
            |(from, to): (&u64, &u64)| (*from < numbers.end && numbers.start < *to).then_some((*from, *to));
        let hit: Vec<(u64, u64)> = held.iter().filter_map(overlaps).collect();
        for (from, to) in hit {
            held.remove(&from);
            if from < numbers.start {
                held.insert(from, numbers.start);
            }
            if numbers.end < to {
                held.insert(numbers.end, to);
            }
        }
        if held.is_empty() {
            self.held.remove(&agent);
        }
    }

    /// An agent is gone; what it has not ended goes to others if they may have it.
    pub(super) fn leave(&mut self, agent: usize, is_returned: bool) {
        self.waiting.remove(&agent);
        let held = self.held.remove(&agent).unwrap_or_default();
        if is_returned {
            self.returned.extend(held.into_iter().map(|(from, to)| from..to));
        }
    }

    /// Iterations without an agent.
    pub(super) fn free(&self) -> u64 {
        let returned = self.returned.iter().map(|range| range.end - range.start);
        returned.fold(self.total - self.next, u64::saturating_add)
    }

    /// Whether no agent has any that it has not ended.
    pub(super) fn is_done(&self) -> bool {
        self.held.is_empty()
    }
}

impl Hub {
    /// An agent wants more iterations of a scenario.
    pub(super) fn want(&mut self, now: Instant, agent: usize, want: Lease) {
        let Some(Some(pool)) = self.pools.get_mut(want.scenario as usize) else { return };
        pool.waiting.insert(agent, want.count);
        self.lease(now);
    }

    /// An agent has ended shared iterations.
    pub(super) fn end_leased(&mut self, now: Instant, agent: usize, ended: &[Lease]) {
        for Lease { scenario, first, count } in ended {
            if let Some(Some(pool)) = self.pools.get_mut(*scenario as usize) {
                pool.end(agent, *first..first.saturating_add(*count));
            }
        }
        self.lease(now);
    }

    /// Takes the iterations of an agent that is gone.
    pub(super) fn leave_pools(&mut self, now: Instant, agent: usize) {
        let is_returned = self.settings.on_loss == OnLoss::Rebalance && !self.is_stopped;
        self.pools.iter_mut().flatten().for_each(|pool| pool.leave(agent, is_returned));
        self.lease(now);
    }

    /// Hands blocks to the agents that wait. They wait for what others may lose; without `rebalance` those are missing.
    fn lease(&mut self, now: Instant) {
        let is_here = |stage: Stage| matches!(stage, Stage::Running | Stage::Armed);
        let agents = self.members.iter().filter(|it| is_here(it.stage)).count() as u64;
        let waits = self.settings.on_loss == OnLoss::Rebalance;
        let mut leases = Vec::new();
        for (scenario, pool) in self.pools.iter_mut().enumerate() {
            let Some(pool) = pool else { continue };
            for (agent, least) in std::mem::take(&mut pool.waiting) {
                let block = pool.take(agent, agents, least);
                if block.is_none() && waits && !pool.is_done() {
                    pool.waiting.insert(agent, least);
                    continue;
                }
                let Range { start, end } = block.unwrap_or_default();
                leases.push((agent, Lease { scenario: scenario as u32, first: start, count: end - start }));
            }
        }
        for (agent, lease) in leases {
            self.send(now, agent, Body::Order(Order { act: Some(Act::Lease(lease)) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// An event of a pool: an agent wants a block, ends some of what it has, or is lost.
    #[derive(Clone, Debug)]
    enum Act {
        Want(usize),
        End(usize, u64),
        Lose(usize),
    }

    fn any_act() -> impl Strategy<Value = Act> {
        let agent = 0..6_usize;
        prop_oneof![
            5 => agent.clone().prop_map(Act::Want),
            5 => (agent.clone(), 1..40_u64).prop_map(|(agent, count)| Act::End(agent, count)),
            1 => agent.prop_map(Act::Lose),
        ]
    }

    /// A planted defect.
    #[derive(Clone, Copy, PartialEq)]
    enum Fault {
        None,
        /// Iterations that a lost agent had ended are handed out again.
        ForgetEnds,
        /// Iterations that a lost agent had not ended are forgotten.
        ForgetReturns,
    }

    /// Runs a pool to its end; gives how often each number has ended, and how many are missing.
    fn play(total: u64, acts: &[Act], is_rebalanced: bool, fault: Fault) -> (Vec<u32>, u64) {
        let mut pool = Pool::new(total);
        let mut has: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        let mut ended = vec![0; total as usize];
        let mut missing = 0;
        let mut lost = BTreeSet::new();
        let mut step = |act: &Act, pool: &mut Pool| match act {
            Act::Want(agent) if !lost.contains(agent) => {
                let block = pool.take(*agent, 6, 3);
                has.entry(*agent).or_default().extend(block.into_iter().flatten());
            }
            Act::End(agent, count) => {
                let own = has.entry(*agent).or_default();
                // Not in order: VUs end theirs when they do.
                for _ in 0..(*count).min(own.len() as u64) {
                    let number = own.swap_remove(own.len() / 2);
                    ended[number as usize] += 1;
                    if fault != Fault::ForgetEnds {
                        pool.end(*agent, number..number + 1);
                    }
                }
            }
            Act::Lose(agent) => {
                lost.insert(*agent);
                let own = has.remove(agent).unwrap_or_default();
                if !is_rebalanced {
                    missing += own.len() as u64;
                }
                pool.leave(*agent, is_rebalanced && fault != Fault::ForgetReturns);
            }
            Act::Want(_) => {}
        };
        acts.iter().for_each(|act| step(act, &mut pool));
        // One agent is never lost, and does what is left.
        for agent in 0..6 {
            step(&Act::Lose(agent), &mut pool);
        }
        while pool.free() > 0 {
            step(&Act::Want(6), &mut pool);
            step(&Act::End(6, u64::MAX), &mut pool);
        }
        (ended, missing)
    }

    proptest! {
        /// Every iteration ends once: on the agent that had it first, or on the one that got it after a loss. Without `rebalance` those
        /// of lost agents are missing, and nothing else.
        #[test]
        fn every_iteration_ends_once(
            total in 0..3_000_u64,
            acts in prop::collection::vec(any_act(), 0..200),
            is_rebalanced: bool,
        ) {
            let (ended, missing) = play(total, &acts, is_rebalanced, Fault::None);
            prop_assert!(ended.iter().all(|count| *count <= 1), "{ended:?}");
            let count = ended.iter().map(|count| u64::from(*count)).sum::<u64>();
            prop_assert_eq!(count + missing, total);
            prop_assert!(!is_rebalanced || missing == 0);
        }
    }

    #[test]
    fn planted_defects_show() {
        let acts = [Act::Want(0), Act::End(0, 3), Act::Lose(0)];
        let (ended, _) = play(100, &acts, true, Fault::ForgetEnds);
        assert!(ended.iter().any(|count| *count > 1), "what had ended runs again");
        let (ended, missing) = play(100, &acts, true, Fault::ForgetReturns);
        assert!(ended.iter().sum::<u32>() < 100 && missing == 0, "what had not ended is gone");
    }

    #[test]
    fn blocks_shrink_towards_the_end() {
        let mut pool = Pool::new(100);
        let sizes: Vec<u64> =
            std::iter::from_fn(|| pool.take(0, 2, 5)).map(|block| block.end - block.start).collect();
        assert_eq!((sizes[0], sizes.last(), sizes.iter().sum::<u64>()), (12, Some(&1), 100));
        assert!(sizes.len() < 20, "no long tail of small blocks: {sizes:?}");
        assert!(sizes.is_sorted_by(|one, next| one >= next), "{sizes:?}");
        pool.end(0, 0..100);
        assert!(pool.is_done());
    }
}
