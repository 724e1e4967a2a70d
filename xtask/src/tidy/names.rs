//! Names of signals and labels of findings are written in their catalogues and nowhere else.

use model::SignalId;
use model::diagnosis::FaultKind;

use super::files::TextFile;

/// Places that have the names as text of their own, with the reason.
struct Exception {
    /// The beginning of a path.
    path: &'static str,
    /// The names that are allowed there; none for all of them.
    names: &'static [&'static str],
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[
    exception("crates/model/src/signal/", &[], "the catalogue of signals"),
    exception("crates/model/src/diagnosis/", &[], "the catalogue of findings"),
    exception("crates/words/src/", &[], "wording of messages, which may have the same words"),
    exception("crates/runs/src/document.rs", &["memory limit"], "a fact about the load generator's host"),
    exception("crates/model/src/generator.rs", &[], "vitals of the load generator have their own names"),
    exception("crates/evidence/src/", &[], "fields of the servers' own protocols"),
    exception("crates/testkit/src/", &[], "test servers expose metrics under these names"),
    exception("xtask/src/tidy/names.rs", &[], "this table"),
    exception("lab/", &[], "the lab's services expose metrics under these names"),
    exception("crates/plimsoll/src/lab_system.rs", &["worker_count"], "a query of the lab's configuration"),
    exception("crates/report/src/evidence/rows.rs", &[], "keys of lanes in addresses of the page"),
    exception("crates/report/src/evidence/scene.rs", &[], "the run that tests of the page are made of"),
    exception("crates/report/src/evidence/tables.rs", FIELDS, FIELDS_REASON),
    exception("crates/analysis/src/diagnosis/detectors/statements.rs", FIELDS, FIELDS_REASON),
    exception(
        "crates/analysis/src/diagnosis/detectors/imbalance.rs",
        &["requests"],
        "part of the name of any signal that counts requests",
    ),
];

const FIELDS: &[&str] = &["blocks_hit", "blocks_read"];
const FIELDS_REASON: &str = "fields of statements, which are records";

const fn exception(path: &'static str, names: &'static [&'static str], reason: &'static str) -> Exception {
    Exception { path, names, reason }
}

/// No code outside the catalogues has the name of a known signal, or the label of a finding, as a literal.
pub(super) fn only_in_catalogues(files: &[TextFile]) -> anyhow::Result<Vec<String>> {
    let mut complaints = names(files);
    complaints.extend(unused(files));
    Ok(complaints)
}

/// Names that are written as text.
fn names(files: &[TextFile]) -> Vec<String> {
    let code = files.iter().filter(|file| file.extension() == "rs" && !is_test(&file.path));
    code.flat_map(complaints).collect()
}

/// Exceptions for files that do not exist.
fn unused(files: &[TextFile]) -> impl Iterator<Item = String> {
    let is_used = |one: &&Exception| files.iter().any(|file| file.path.starts_with(one.path));
    EXCEPTIONS.iter().filter(move |one| !is_used(one)).map(|one| {
        format!("xtask/src/tidy/names.rs: remove the exception {:?} ({}): no such file", one.path, one.reason)
    })
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/")
        || path.contains("_tests/")
        || path.ends_with("/tests.rs")
        || path.ends_with("/testing.rs")
}

fn complaints(file: &TextFile) -> Vec<String> {
    let code = file.text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let named = lines.flat_map(|(index, line)| names_in(line).map(move |(name, id)| (index, name, id)));
    let unexpected = named.filter(|(_, name, _)| !is_allowed(&file.path, name));
    unexpected
        .map(|(index, name, id)| {
            format!(
                "{}:{}: the name {name:?} is written as text; use {id}, or add an exception with its reason to \
                 xtask/src/tidy/names.rs",
                file.path,
                index + 1,
            )
        })
        .collect()
}

/// The names of signals and findings that are literals of a line, with their identifiers. Signals of one word are words of
/// English, too, and count where the line is about signals.
fn names_in(line: &str) -> impl Iterator<Item = (&str, String)> {
    let is_about_signals = line.to_lowercase().contains("signal");
    line.split('"').skip(1).step_by(2).filter_map(move |literal| {
        let signal = SignalId::named(literal).filter(|_| is_about_signals || literal.contains('_'));
        let fault = || FaultKind::ALL.iter().find(|fault| fault.as_str() == literal);
        let id = signal.map(|id| format!("SignalId::{id:?} or its role"));
        Some((literal, id.or_else(|| fault().map(|fault| format!("FaultKind::{fault:?}")))?))
    })
}

fn is_allowed(path: &str, name: &str) -> bool {
    EXCEPTIONS.iter().any(|exception| {
        path.starts_with(exception.path) && (exception.names.is_empty() || exception.names.contains(&name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expect: &[&str]) {
        let file = TextFile { path: path.into(), text: text.into() };
        let found = names(&[file]);
        assert_eq!(found.len(), expect.len(), "{path}: {text:?} gave {found:?}");
        for (found, expect) in found.iter().zip(expect) {
            assert!(found.contains(expect), "{found:?} lacks {expect:?}");
        }
    }

    #[test]
    fn planted_names_are_found() {
        let detector = "crates/analysis/src/diagnosis/detectors/made.rs";
        check(
            detector,
            "fn made() {\n    view.signals(&[\"locks_waiting\"]);\n}",
            &["made.rs:2: the name \"locks_waiting\" is written as text; use SignalId::LocksWaiting"],
        );
        check(detector, "const USES: [&str; 2] = [\"pool_pending\", \"mine\"];", &["\"pool_pending\""]);
        check(detector, "if signal.name == \"cpu\" {}", &["SignalId::Cpu"]);
        check(detector, "if label == \"missing index\" {}", &["FaultKind::MissingIndex"]);
        check("xtask/src/bench/made.rs", "let name = \"container_cpu\";", &["\"container_cpu\""]);
    }

    #[test]
    fn words_comments_tests_and_exceptions_are_left_alone() {
        let detector = "crates/analysis/src/diagnosis/detectors/made.rs";
        check(detector, "let title = \"requests\";", &[]);
        check(detector, "/// Sums `\"queue_ready\"` of all signals.", &[]);
        check(detector, "#[cfg(test)]\nmod tests {\n    flat(\"queue_ready\");\n}", &[]);
        check("crates/runfile/tests/compatibility.rs", "name: \"queue_ready\".into()", &[]);
        check(
            "crates/report/src/evidence/tables.rs",
            "&[\"blocks_hit\"]; &[\"queue_ready\"]",
            &["queue_ready"],
        );
    }

    #[test]
    fn exceptions_for_files_that_are_gone_are_found() {
        let all = crate::tidy::files::all().expect("readable sources");
        assert_eq!(unused(&all).collect::<Vec<_>>(), [""; 0]);
        assert_eq!(unused(&[]).count(), EXCEPTIONS.len());
    }
}
