//! Which crate may depend on which, as data, compared with what cargo knows.
//!
//! A new edge is a change of this table, and a reader of that change sees what the house becomes.

use serde_json::Value;

use super::files::TextFile;
use crate::workspace;

/// Dependencies that each crate may have. A crate that is missing here may depend on nothing.
const ALLOWED: &[(&str, &[&str])] = &[
    ("answer", &[]),
    ("files", &[]),
    ("guide", &[]),
    ("misuse", &[]),
    ("mcp", &["model"]),
    ("histo", &[]),
    ("html", &[]),
    ("model", &["histo"]),
    ("plan", &["model"]),
    ("schedule", &["model", "plan"]),
    ("tally", &["histo", "model"]),
    ("transpile", &[]),
    ("wire", &["model", "vu"]),
    ("datastore", &["crypto"]),
    ("faker", &[]),
    ("draft", &["html"]),
    ("vu", &["model"]),
    ("crypto", &[]),
    ("json", &[]),
    ("grpc", &[]),
    (
        "script",
        &[
            "crypto",
            "datastore",
            "faker",
            "files",
            "grpc",
            "histo",
            "html",
            "json",
            "model",
            "redact",
            "transpile",
            "vu",
            "wire",
        ],
    ),
    ("kubernetes", &["answer"]),
    ("agents", &["files", "fleet", "kubernetes", "report", "runs", "session"]),
    ("fleet", &["engine", "histo", "model", "plan", "schedule", "tally"]),
    ("engine", &["histo", "model", "plan", "schedule", "tally", "vu"]),
    ("api", &[]),
    ("words", &["model"]),
    ("report", &["analysis", "api", "histo", "model", "tally", "words"]),
    ("output", &["answer", "api", "histo", "model"]),
    ("runfile", &["histo", "model", "redact"]),
    ("catalogue", &["answer"]),
    ("redact", &[]),
    ("export", &["api", "model", "tally"]),
    ("remote", &["answer", "files"]),
    ("archive", &[]),
    ("stats", &["histo"]),
    ("analysis", &["histo", "model", "stats"]),
    ("import", &["histo", "model", "tally"]),
    ("host", &["model"]),
    ("evidence", &["answer", "histo", "host", "model", "otlp", "redact"]),
    ("otlp", &["histo", "listen", "model"]),
    ("tables", &["model"]),
    ("server", &["answer", "api", "listen", "redact"]),
    ("listen", &["model"]),
    ("testkit", &["model"]),
    ("lab", &["answer", "model"]),
    ("labkit", &["model"]),
    ("appstore", &["lab", "labkit", "model"]),
    ("feed", &["lab", "labkit", "model"]),
    ("ingress", &["lab", "labkit", "model"]),
    ("scan", &["lab", "labkit", "model"]),
    (
        "hostile",
        &[
            "archive",
            "draft",
            "fleet",
            "grpc",
            "html",
            "import",
            "json",
            "model",
            "otlp",
            "plan",
            "runfile",
            "tally",
            "transpile",
            "wire",
        ],
    ),
    (
        "runs",
        &[
            "analysis",
            "api",
            "catalogue",
            "files",
            "histo",
            "import",
            "model",
            "plan",
            "redact",
            "report",
            "runfile",
            "schedule",
            "stats",
            "tables",
            "tally",
        ],
    ),
    (
        "pages",
        &[
            "analysis",
            "api",
            "catalogue",
            "engine",
            "histo",
            "model",
            "plan",
            "redact",
            "report",
            "runfile",
            "runs",
            "server",
            "tally",
        ],
    ),
    (
        "session",
        &[
            "analysis",
            "api",
            "archive",
            "catalogue",
            "engine",
            "evidence",
            "files",
            "fleet",
            "host",
            "kubernetes",
            "model",
            "otlp",
            "output",
            "pages",
            "plan",
            "redact",
            "remote",
            "report",
            "runfile",
            "runs",
            "schedule",
            "script",
            "server",
            "tally",
            "vu",
            "wire",
        ],
    ),
    (
        "plimsoll",
        &[
            "agents",
            "analysis",
            "api",
            "appstore",
            "archive",
            "catalogue",
            "draft",
            "engine",
            "evidence",
            "export",
            "feed",
            "files",
            "fleet",
            "guide",
            "import",
            "ingress",
            "lab",
            "mcp",
            "misuse",
            "model",
            "otlp",
            "output",
            "pages",
            "plan",
            "redact",
            "remote",
            "report",
            "runfile",
            "runs",
            "scan",
            "schedule",
            "script",
            "server",
            "session",
            "tables",
            "tally",
            "testkit",
            "vu",
        ],
    ),
    (
        "xtask",
        &["analysis", "answer", "histo", "import", "kubernetes", "model", "runfile", "stats", "testkit"],
    ),
];

/// Dependencies that every crate's tests may have besides.
const ALLOWED_IN_TESTS: &[&str] = &["lab", "tables", "testkit", "words"];

/// The absences: dependencies that a crate must not have directly, and the reason of the rule.
const ABSENT: &[(&str, &[&str], &str)] = &[
    ("histo", IO, "it is arithmetic"),
    ("html", IO, "a page is a text"),
    ("json", IO, "it is handed texts"),
    ("draft", IO, "bytes in, texts out"),
    ("draft", JAVASCRIPT, "it writes scripts and does not run them"),
    ("grpc", IO, "it is handed texts and bytes"),
    ("redact", IO, "it is handed texts"),
    ("model", IO_BUT_THE_CLOCK, "nouns do nothing, and the clock is one of them"),
    ("plan", IO, "a plan is checked without running"),
    ("schedule", IO, "a schedule is asked with the time and answers"),
    ("tally", IO, "it adds up what it is handed"),
    ("api", IO, "it is types and their shape"),
    ("crypto", IO, "bytes in, bytes out"),
    ("stats", IO, "it is arithmetic"),
    ("analysis", IO, "it judges what it is handed"),
    ("import", IO, "it reads texts"),
    ("tables", IO, "it reads texts"),
    ("report", IO, "rendering is pure"),
    ("words", IO, "it turns data into text"),
    ("words", SERDE, "it turns data into text for all surfaces"),
    ("transpile", IO, "it is handed texts"),
    ("transpile", JAVASCRIPT, "it writes scripts and does not run them"),
    ("histo", SERDE, "serialization happens at the rim"),
    ("stats", SERDE, "serialization happens at the rim"),
    ("analysis", SERDE, "serialization happens at the rim"),
    ("model", SERDE, "serialization happens at the rim"),
    ("schedule", SERDE, "serialization happens at the rim"),
    ("tally", SERDE, "serialization happens at the rim"),
    ("wire", SERDE, "bytes and times, no opinion"),
    ("vu", SERDE, "a coroutine carries no data of its own"),
    ("engine", SERDE, "it emits plain events"),
    ("engine", JAVASCRIPT, "it runs programs, not scripts"),
    ("wire", JAVASCRIPT, "it moves bytes"),
    ("datastore", JAVASCRIPT, "scripts call it, it knows none"),
    ("crypto", JAVASCRIPT, "scripts call it, it knows none"),
    ("grpc", JAVASCRIPT, "it maps types and bytes, and runs no script"),
    ("html", JAVASCRIPT, "a tree does not know who looks at it"),
    ("vu", JAVASCRIPT, "it switches stacks"),
    ("runs", JAVASCRIPT, "it reads files of runs, whatever made them"),
    ("pages", JAVASCRIPT, "it answers from runs, whatever made them"),
    ("server", JAVASCRIPT, "it serves runs, whatever they run"),
    ("otlp", JAVASCRIPT, "it receives spans, whatever caused them"),
];

const IO: &[&str] = &["tokio", "mio", "socket2", "rustls", "hickory-resolver", "nix", "rustix", "libc"];

/// The same for the crate that asks the kernel for the time, through rustix.
const IO_BUT_THE_CLOCK: &[&str] = &["tokio", "mio", "socket2", "rustls", "hickory-resolver", "nix", "libc"];
const SERDE: &[&str] = &["serde", "serde_json"];
const JAVASCRIPT: &[&str] = &["rquickjs", "rquickjs-core", "rquickjs-sys"];

/// Reports edges between crates that the table does not allow.
pub(super) fn allowed(_: &[TextFile]) -> anyhow::Result<Vec<String>> {
    Ok(edges(&workspace::metadata()?).filter(|edge| edge.local && !is_allowed(edge)).map(forbid).collect())
}

/// Reports dependencies that a crate's description excludes.
pub(super) fn absent(_: &[TextFile]) -> anyhow::Result<Vec<String>> {
    let metadata = workspace::metadata()?;
    let broken = edges(&metadata).filter(|edge| !edge.test_only).flat_map(|edge| {
        let rules =
            ABSENT.iter().filter(move |(from, absent, _)| *from == edge.from && absent.contains(&edge.to));
        rules.map(move |(from, _, why)| format!("crates/{from}: must not depend on {}: {why}", edge.to))
    });
    Ok(broken.collect())
}

/// A direct dependency.
#[derive(Clone, Copy, Debug)]
struct Edge<'a> {
    from: &'a str,
    to: &'a str,
    /// Between two crates of the workspace.
    local: bool,
    test_only: bool,
}

fn edges(metadata: &Value) -> impl Iterator<Item = Edge<'_>> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages.flat_map(|package| {
        let from = package["name"].as_str().unwrap_or_default();
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        dependencies.map(move |dependency| Edge {
            from,
            to: dependency["name"].as_str().unwrap_or_default(),
            local: dependency["path"].is_string(),
            test_only: dependency["kind"] == "dev",
        })
    })
}

fn is_allowed(edge: &Edge) -> bool {
    let row = ALLOWED.iter().find(|(from, _)| *from == edge.from);
    row.is_some_and(|(_, to)| to.contains(&edge.to)) || edge.test_only && ALLOWED_IN_TESTS.contains(&edge.to)
}

fn forbid(edge: Edge) -> String {
    format!(
        "{} depends on {}, which the table of edges (xtask/src/tidy/edges.rs) does not allow",
        edge.from, edge.to
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn metadata(from: &str, to: &str, kind: Option<&str>) -> Value {
        json!({"packages": [{"name": from, "dependencies": [{"name": to, "path": "crates/x", "kind": kind}]}]})
    }

    fn check(from: &str, to: &str, kind: Option<&str>, expect: bool) {
        let metadata = metadata(from, to, kind);
        let allowed = edges(&metadata).all(|edge| is_allowed(&edge));
        assert_eq!(allowed, expect, "{from} → {to} ({kind:?})");
    }

    #[test]
    fn only_edges_of_the_table_are_allowed() {
        check("engine", "schedule", None, true);
        check("engine", "script", None, false);
        check("wire", "testkit", Some("dev"), true);
        check("wire", "testkit", None, false);
        check("a new crate", "model", None, false);
    }

    #[test]
    fn the_table_has_no_cycle() {
        let mut standing: Vec<&(&str, &[&str])> = ALLOWED.iter().collect();
        loop {
            let names: Vec<&str> = standing.iter().map(|(from, _)| *from).collect();
            let before = standing.len();
            standing.retain(|(_, to)| to.iter().any(|room| names.contains(room)));
            if standing.len() == before {
                break;
            }
        }
        assert!(standing.is_empty(), "{standing:?}");
    }
}
