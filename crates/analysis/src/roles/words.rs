//! English words in the names of manual spans, for which no convention exists.

use super::{ActivityRole, Callee, Pool, Turn};

/// Words for waiting.
const WAITS: [&str; 2] = ["wait", "queue"];
/// A word for work that has one of them in it.
const NO_WAIT: &str = "enqueue";
/// Words for taking a connection out of a pool.
const CHECKOUTS: [&str; 4] = ["acquire", "getconnection", "get connection", "checkout"];
/// Words for the resource of a pool.
const CONNECTIONS: [&str; 2] = ["connection", "pool"];
/// Words for workers.
const WORKERS: [&str; 3] = ["worker", "thread", "executor"];
/// Words for the server behind a proxy.
const UPSTREAMS: [&str; 3] = ["backend", "upstream", "proxy"];
/// The beginning of the names of calls.
const CALL: &str = "call ";

/// Returns the role of an internal span by the words of its name.
pub(super) fn role(operation: &str) -> ActivityRole {
    let name = operation.to_lowercase();
    let has_any = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let (waits, is_connection) = (has_any(&WAITS) && !name.contains(NO_WAIT), has_any(&CONNECTIONS));
    if is_connection && (waits || has_any(&CHECKOUTS)) {
        ActivityRole::PoolWait(Pool::Unknown)
    } else if waits {
        ActivityRole::QueueWait(if has_any(&WORKERS) { Turn::Worker } else { Turn::Other })
    } else if name.split(|mark: char| !mark.is_alphanumeric()).any(|word| word == "dns") {
        ActivityRole::Lookup
    } else if name.starts_with(CALL) {
        ActivityRole::Call(Callee::Unknown)
    } else {
        ActivityRole::Work
    }
}

/// Whether a call's name says that a proxy forwards it.
pub(super) fn is_upstream(operation: &str) -> bool {
    let name = operation.to_lowercase();
    UPSTREAMS.iter().any(|word| name.contains(word))
}
