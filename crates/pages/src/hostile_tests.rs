//! Questions with hostile parameters, asked of a stored run.

use std::panic::{AssertUnwindSafe, catch_unwind};

use catalogue::{Catalogue, Location};
use server::{PageError, Pages, Question, View};

use super::Library;

/// A run of 65 s in the present format.
const RUN: &[u8] = include_bytes!("../../runfile/tests/data/v3.plimsoll");

/// The run's name in the catalogue.
const FILE: &str = "20300101T000000.000Z-ab12cd34ab12cd34.plimsoll";

/// Returns a library over a folder with the run.
fn library() -> (Library, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(FILE), RUN).expect("space for a run");
    let catalogue = Catalogue::open(Location::Directory(folder.path().to_owned()), folder.path());
    (Library::new(catalogue, folder.path(), None, None), folder)
}

/// Every view, as a path below `/api/v1/`.
fn paths() -> Vec<String> {
    let path = |view: &View| {
        let trace = "f".repeat(32);
        view.pattern().replacen('*', "ab12cd34ab12cd34", 1).replacen('*', &trace, 1)
    };
    View::ALL.iter().map(path).collect()
}

/// Returns the outcome of a question: `ok`, the status of a refusal, or `panic`.
fn outcome(library: &Library, path: &str, query: &str) -> (&'static str, String) {
    println!("tried 1");
    let question = Question::parse(&format!("/api/v1/{path}"), query).expect("a question");
    match catch_unwind(AssertUnwindSafe(|| library.answer(&question))) {
        Ok(Ok(answer)) => ("ok", answer.to_string()),
        Ok(Err(PageError::NotFound(why))) => ("404", why),
        Ok(Err(PageError::Invalid(why))) => ("400", why),
        Ok(Err(PageError::Refused(why))) => ("409", why),
        Ok(Err(PageError::Failed(why))) => ("500", why),
        Err(_) => ("panic", String::new()),
    }
}

/// Texts that are no acceptable number for any parameter.
const INVALID: [&str; 12] =
    ["NaN", "nan", "inf", "-inf", "infinity", "-1", "1e400", "0x10", "1,5", "zwölf", "1%00", "%E2%80%AE7"];

/// Numbers that some parameters accept.
const EXTREME: [&str; 9] = [
    "0",
    "-0",
    "0.5",
    "1e-320",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999999",
];

/// Parameters that are numbers, and a view that reads each.
const NUMBERS: [(&str, &str); 13] = [
    ("runs", "limit"),
    ("history", "limit"),
    ("compare", "margin"),
    ("runs/*", "from"),
    ("runs/*/series", "to"),
    ("runs/*/series", "step"),
    ("runs/*/requests", "from"),
    ("runs/*/distribution", "to"),
    ("runs/*/logs", "after"),
    ("runs/*/logs", "limit"),
    ("runs/*/traces", "limit"),
    ("runs/*/traces", "min_ms"),
    ("runs/*/traces", "max_ms"),
];

/// Parameters that are texts, and a view that reads each.
const TEXTS: [(&str, &str); 15] = [
    ("runs", "script"),
    ("runs", "tag"),
    ("runs", "status"),
    ("runs", "before"),
    ("history", "script"),
    ("compare", "a"),
    ("compare", "b"),
    ("runs/*", "lang"),
    ("runs/*/series", "metric"),
    ("runs/*/series", "tags"),
    ("runs/*/logs", "level"),
    ("runs/*/logs", "q"),
    ("runs/*/traces", "service"),
    ("runs/*/traces", "kept"),
    ("runs/*/traces", "q"),
];

/// Sets one parameter of a view and returns path and query.
fn asked(path: &str, name: &str, value: &str) -> (String, String) {
    let rest = match name {
        "margin" => "&a=ab12&b=ab12",
        "a" => "&b=ab12",
        "b" => "&a=ab12",
        _ => "",
    };
    (path.replace('*', "ab12cd34ab12cd34"), format!("{name}={value}{rest}"))
}

#[test]
fn hostile_numbers_are_refused_by_the_views_that_read_them() {
    let (library, _folder) = library();
    let check = |path: &str, name: &str, value: &str| {
        let (path, query) = asked(path, name, value);
        let (outcome, why) = outcome(&library, &path, &query);
        assert_eq!(outcome, "400", "{path}?{name}={value}: {why}");
        assert!(why.contains(&format!("{name}=")) && why.len() < 300, "{path}?{name}={value}: {why}");
    };
    for (path, name) in NUMBERS {
        INVALID.into_iter().for_each(|value| check(path, name, value));
    }
    // Zero points, lines or runs are no answer, and zero seconds are no step.
    for (path, name) in [
        ("runs/*/series", "step"),
        ("runs", "limit"),
        ("history", "limit"),
        ("runs/*/logs", "limit"),
        ("runs/*/traces", "limit"),
    ] {
        check(path, name, "0");
    }
    for step in ["7", "3600", "4294967295"] {
        check("runs/*/series", "step", step);
    }
    check("runs", "limit", &"9".repeat(3_000));
}

#[test]
fn hostile_numbers_break_no_view() {
    let (library, _folder) = library();
    let check = |path: &str, query: &str| {
        let (outcome, why) = outcome(&library, path, query);
        assert!(matches!(outcome, "ok" | "400" | "404"), "{path}?{query}: {outcome} {why}");
    };
    for value in EXTREME {
        for (path, name) in NUMBERS {
            let (path, query) = asked(path, name, value);
            check(&path, &query);
        }
        for path in paths() {
            let names = ["from", "to", "step", "limit", "after", "min_ms", "max_ms", "margin"];
            check(&path, &names.map(|name| format!("{name}={value}")).join("&"));
        }
    }
}

#[test]
fn hostile_texts_break_no_view_and_name_no_file() {
    let (library, folder) = library();
    let beside = folder.path().join("beside.plimsoll").display().to_string();
    std::fs::write(&beside, "not a run, and secret").expect("space for a file");
    let texts = [
        "../../../../etc/passwd",
        "/etc/passwd",
        "..%5C..%5Cwindows%5Cwin.ini",
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd%00.plimsoll",
        "file:%2F%2F%2Fetc%2Fpasswd",
        "%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "%27%20OR%201%3D1--",
        "%FF%FE",
        "%E2%80%AE",
        "{%22a%22:%22b%22}",
        "{%22a%22:{%22a%22:1}}",
        "%5B%5B%5B%5B%5B%5B%5B%5B%5B%5B%5B",
        "=",
        "%25",
        &beside,
    ];
    let check = |path: &str, query: &str| {
        let (outcome, answer) = outcome(&library, path, query);
        assert!(matches!(outcome, "ok" | "400" | "404"), "{path}?{query}: {outcome} {answer}");
        assert!(!answer.contains("root:x:0") && !answer.contains("and secret"), "{path}?{query}");
    };
    for text in texts {
        for (path, name) in TEXTS {
            let (path, query) = asked(path, name, text);
            check(&path, &query);
        }
        paths().iter().for_each(|path| check(path, &format!("lang={text}&{text}={text}")));
    }
}
