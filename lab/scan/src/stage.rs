//! The four steps of a scan, each behind a queue of its own.

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// A model looks at the picture.
    Vision,
    /// The lookup of the recognised items.
    Rule,
    /// A model writes the answer.
    Answer,
    /// Whether there is a reward.
    Reward,
}

impl Stage {
    /// All, in the order in which a scan goes through them.
    pub(crate) const ALL: [Stage; 4] = [Stage::Vision, Stage::Rule, Stage::Answer, Stage::Reward];

    /// Its name in answers and in the model's paths.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Stage::Vision => "vision",
            Stage::Rule => "rule",
            Stage::Answer => "answer",
            Stage::Reward => "reward",
        }
    }

    /// Its queue.
    pub(crate) fn queue(self) -> &'static str {
        match self {
            Stage::Vision => "scan.vision",
            Stage::Rule => "scan.rule",
            Stage::Answer => "scan.answer",
            Stage::Reward => "scan.reward",
        }
    }

    /// The labels of its series.
    pub(crate) const fn labels(self) -> &'static str {
        match self {
            Stage::Vision => "queue=\"scan.vision\"",
            Stage::Rule => "queue=\"scan.rule\"",
            Stage::Answer => "queue=\"scan.answer\"",
            Stage::Reward => "queue=\"scan.reward\"",
        }
    }

    /// Where it is in `ALL`.
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// The step after it.
    pub(crate) fn next(self) -> Option<Stage> {
        Stage::ALL.get(self.index() + 1).copied()
    }
}
