//! The data of the rule about banned phrases.

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
    ("ui/src/api/contract.ts", "*", "generated from the descriptions in crates/api, which count there"),
    ("CONVENTIONS.md", "*", "the style guide quotes the phrases that it replaces"),
    (
        "docs/conformance.md",
        "told",
        "a generated table quotes the reasons of conformance/public/reasons.json",
    ),
    ("ui/src/screens/", "tells", "a field of the published schema of diagnoses"),
    ("lab/ingress/", "room", "the chat rooms that the lab's ingress serves"),
    ("lab/ingress/", "rooms", "the chat rooms that the lab's ingress serves"),
    ("crates/archive/src/names.rs", "nobody", "the user name that archives show, as in k6"),
    ("crates/plimsoll/tests/front_door/lab_ingress.rs", "rooms", "paths that the lab's ingress serves"),
    (
        "crates/words/src/testing.rs",
        "*",
        "the list of phrases that no message may hold, and planted violations",
    ),
    ("crates/words/src/diagnosis/tests.rs", "*", "a test quotes the phrases that no message may hold"),
    ("conformance/cases/", "nobody", "a name and a message in scripts"),
    ("xtask/src/tidy/banned.rs", "*", "this list"),
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
