//! Causes of dropped iterations as run files name them.

use model::DropCause;

/// Every cause.
pub const DROP_CAUSES: [DropCause; 4] =
    [DropCause::VusExhausted, DropCause::VuStarting, DropCause::TimeUp, DropCause::AgentLost];

/// Returns the cause with this name in run files.
pub fn drop_cause(word: &str) -> Option<DropCause> {
    DROP_CAUSES.into_iter().find(|cause| cause.as_str() == word)
}
