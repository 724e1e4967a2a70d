//! The data of the rule about banned phrases. Budgets may only shrink: lower a count when you rewrite, never raise one.

/// A banned phrase in lower case, and its replacement.
pub(super) const BANNED: &[(&str, &str)] = &[
    ("nobody", "name the subject"),
    ("whoever", "name the subject"),
    ("somebody", "name the subject"),
    ("told", "metrics show, sources report, servers expose, spans record"),
    ("tell", "metrics show, sources report, servers expose, spans record"),
    ("tells", "metrics show, sources report, servers expose, spans record"),
    ("flatter", "say the thing"),
    ("flatters", "say the thing"),
    ("what is asked", "name the SLO, the plan or the option"),
    ("is worth", "name the classification or the cost"),
    ("not worth a word", "debug"),
    ("without a word", "silently"),
    ("the way of the answers", "response bandwidth"),
    ("the way of answers", "response bandwidth"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("lent", "borrowed"),
    ("held back", "throttled, or queued"),
    ("its kin", "list the members"),
    ("their kin", "list the members"),
    ("by letter", "exactly"),
    ("to the letter", "exactly"),
    ("room", "crate, worker thread, buffer or capacity"),
    ("rooms", "crates, worker threads, buffers or capacity"),
];

/// Places that may hold a phrase (`*`: all of them), each with the reason.
pub(super) const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("CONVENTIONS.md", "*", "the style guide quotes the phrases that it replaces"),
    ("lab/ingress/users.js", "rooms", "rooms of the game that the lab's ingress serves"),
    ("xtask/src/tidy/ratchet.rs", "*", "this list"),
    ("xtask/src/tidy/phrases.rs", "*", "planted violations"),
    ("xtask/src/tidy/prose.rs", "*", "planted violations"),
    ("xtask/src/tidy/messages.rs", "*", "planted violations"),
];

/// Files that are not this project's prose: recorded outputs, scripts of others.
pub(super) const SKIPPED: &[&str] = &[
    "conformance/public/",
    "conformance/expected/",
    "conformance/outputs/",
    "ui/dist/",
    "crates/report/golden/",
];

/// Areas that are not clean yet, and the banned phrases that each may have at most. All other files must have none.
pub(super) const BUDGETS: &[(&str, usize)] = &[
];
