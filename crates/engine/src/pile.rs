//! Shared iterations that another process hands out in blocks.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The shared iterations of one scenario that this process may start. The process that hands them out sees how many are left, and
/// learns of each that has ended with the window that has its samples.
#[derive(Debug, Default)]
pub struct Pile(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Numbers in the whole test.
    blocks: VecDeque<Range<u64>>,
    taken: u64,
    is_closed: bool,
}

/// The answer to a VU that wants an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// This one.
    Number(u64),
    /// There may be more later.
    Later,
    /// There are no more.
    Never,
}

impl Pile {
    /// Adds a block.
    pub fn grant(&self, numbers: Range<u64>) {
        if !numbers.is_empty() {
            self.state().blocks.push_back(numbers);
        }
    }

    /// No block follows.
    pub fn close(&self) {
        self.state().is_closed = true;
    }

    /// Iterations that were handed out and not started, those that were started, and whether no block follows.
    pub fn level(&self) -> (u64, u64, bool) {
        let state = self.state();
        (state.left(), state.taken, state.is_closed)
    }

    pub(crate) fn take(&self) -> Taken {
        let mut state = self.state();
        let Some(block) = state.blocks.front_mut() else {
            return if state.is_closed { Taken::Never } else { Taken::Later };
        };
        let Some(number) = block.next() else { return Taken::Later };
        if block.is_empty() {
            state.blocks.pop_front();
        }
        state.taken += 1;
        Taken::Number(number)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn left(&self) -> u64 {
        self.blocks.iter().map(|block| block.end - block.start).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_in_order_and_once() {
        let pile = Pile::default();
        assert_eq!(pile.take(), Taken::Later);
        pile.grant(3..5);
        pile.grant(9..9);
        pile.grant(7..8);
        assert_eq!(pile.level(), (3, 0, false));
        let taken: Vec<Taken> = (0..4).map(|_| pile.take()).collect();
        assert_eq!(taken, [Taken::Number(3), Taken::Number(4), Taken::Number(7), Taken::Later]);
        pile.close();
        assert_eq!((pile.take(), pile.level()), (Taken::Never, (0, 3, true)));
    }
}
