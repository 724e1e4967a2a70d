//! Analysis of traces: causes of spans, critical paths, and the attribution of requests' time.
//!
//! Everything starts from a [`Tree`], which repairs the received spans: missing parents, cycles,
//! clock skew. All of it takes at most n · log n steps, since traces are untrusted input.

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

pub use attribution::{Attribution, Component, attribute};
pub use diff::{Difference, FastAndSlow, fast_against_slow};
pub use gaps::{Stretch, stretches};
pub use graph::{Edge, Graph, GraphBuilder, Place, Seen};
pub use path::{Cause, Piece, PieceKind, answer_path, causes, critical_path, own_ns};
pub use peer::{connecting_ns, database, host, queue, request, statement, task};
pub use repeats::{REPEATS_MIN, Repeats, repeated_statements};
pub use stages::{Stage, StageKind, StageTable, Way, stages, ways, weight};
pub use statement::normalised;
pub use tree::{Flaws, Node, Tree};
