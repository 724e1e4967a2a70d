//! What traces say: who caused what, which work decided how long it took, and where the time of requests went.
//!
//! Everything begins with a [`Tree`], which makes sense of what was received: spans without parents, spans that claim each
//! other, clocks that differ. All of it takes n · log n steps at most, since traces are made by others.

mod attribution;
mod diff;
mod gaps;
mod graph;
mod path;
mod peer;
mod repeats;
mod stages;
mod statement;
mod tree;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;

pub use attribution::{Attribution, Part, attribute};
pub use diff::{Difference, FastAndSlow, fast_against_slow};
pub use gaps::{Stretch, stretches};
pub use graph::{Edge, Graph, GraphBuilder, Place, Seen};
pub use path::{Cause, Piece, PieceKind, answer_path, causes, critical_path, own_ns};
pub use peer::{connecting_ns, database, host, queue, request, statement, task};
pub use repeats::{REPEATS_MIN, Repeats, repeated_statements};
pub use stages::{Stage, StageKind, StageTable, Way, stages, ways, weight};
pub use statement::normalised;
pub use tree::{Flaws, Node, Tree};
