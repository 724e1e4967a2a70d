//! The end of an iteration.

/// End of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IterationEnd {
    /// It ran to its end.
    Completed,
    /// It threw an exception, which the code has logged. It counts as a full iteration, as in k6.
    Failed,
    /// It was cancelled.
    Interrupted,
    /// The script called `test.abort()`. It counts as a full iteration, as in k6.
    Aborted,
}

impl IterationEnd {
    /// Whether it counts as a full iteration.
    pub fn is_full(self) -> bool {
        self != IterationEnd::Interrupted
    }
}
