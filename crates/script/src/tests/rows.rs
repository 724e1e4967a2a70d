//! `plimsoll/data`: rows of files, one cursor for all VUs.

use model::IterationEnd;

use super::{Left, load_error, run_against};

/// Runs a script in which `__ENV.BASE` is the folder of these files.
fn run(files: &[(&str, &str)], iterations: u64, init: &str, body: &str) -> Left {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    let source = format!(
        "import {{ rows }} from 'plimsoll/data'; {init}
         export default function () {{ {body} }}"
    );
    run_against(&folder.path().display().to_string(), iterations, &source)
}

#[test]
fn rows_are_handed_out_in_their_order() {
    let left = run(
        &[("users.csv", "name,age\nAnn,30\n\"B, Jr\",4\n"), ("orders.ndjson", "{\"id\":1}\n[2]\n")],
        3,
        "const users = rows(__ENV.BASE + '/users.csv'); const same = rows(__ENV.BASE + '/users.csv');
         const orders = rows(__ENV.BASE + '/orders.ndjson');",
        "console.log(JSON.stringify([users.next(), orders.next()])); if (__ITER === 1) same.next();",
    );
    assert_eq!(left.ends, [IterationEnd::Completed; 3]);
    assert_eq!(
        left.logs,
        [
            r#"[{"name":"Ann","age":"30"},{"id":1}]"#,
            r#"[{"name":"B, Jr","age":"4"},[2]]"#,
            r#"[{"name":"B, Jr","age":"4"},{"id":1}]"#,
        ]
    );
}

/// Relative paths start at the file with the call, so that one name may stand for two files.
#[test]
fn modules_in_different_folders_have_files_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    };
    for name in ["a", "b"] {
        write(&format!("{name}/n.csv"), &format!("n\n{name}\n"));
        write(
            &format!("{name}/m.js"),
            "import { rows } from 'plimsoll/data'; export const file = rows('./n.csv');",
        );
    }
    let base = folder.path().display();
    let source = format!(
        "import {{ file as a }} from '{base}/a/m.js'; import {{ file as b }} from '{base}/b/m.js';
         export default () => console.log(a.next().n, b.next().n)"
    );
    assert_eq!(run_against("", 1, &source).logs, ["a b"]);
}

#[test]
fn the_end_of_the_rows_is_what_the_script_wants() {
    let rows_of = |options: &str| format!("const users = rows(__ENV.BASE + '/users.csv', {options});");
    let files = [("users.csv", "n\n1\n2\n")];
    let left = run(&files, 3, &rows_of("{ order: 'unique' }"), "console.log(users.next().n)");
    assert_eq!(left.ends, [IterationEnd::Completed, IterationEnd::Completed, IterationEnd::Aborted]);
    assert!(
        left.aborted
            .as_deref()
            .is_some_and(|text| text.contains("all 2 rows of") && text.contains("are used"))
    );
    let left = run(&files, 3, &rows_of("{ end: 'error' }"), "console.log(users.next().n)");
    assert_eq!(left.ends, [IterationEnd::Completed, IterationEnd::Completed, IterationEnd::Failed]);
    assert!(left.logs[2].contains("set end to \"recycle\""), "{:?}", left.logs);
    let left = run(
        &files,
        9,
        &rows_of("{ order: 'random' }"),
        "const { n } = users.next(); if (n !== '1' && n !== '2') throw n",
    );
    assert_eq!(left.ends, [IterationEnd::Completed; 9]);
}

#[test]
fn ragged_rows_fail_their_iteration_and_name_their_line() {
    let left = run(
        &[("users.csv", "a,b\n1,2\n3\n4,5\n")],
        3,
        "const users = rows(__ENV.BASE + '/users.csv');",
        "console.log(users.next().a)",
    );
    assert_eq!(left.ends, [IterationEnd::Completed, IterationEnd::Failed, IterationEnd::Completed]);
    assert!(left.logs[1].contains("users.csv, line 3: 1 field, and the header has 2"), "{:?}", left.logs);
    let left =
        run(&[("bad.ndjson", "{,}\n")], 1, "const bad = rows(__ENV.BASE + '/bad.ndjson');", "bad.next()");
    assert!(left.logs[0].contains("bad.ndjson, line 1: not JSON"), "{:?}", left.logs);
}

#[test]
fn mistakes_are_named_at_once() {
    let check = |call: &str, expect: &str| {
        let error = load_error(&format!(
            "import {{ rows }} from 'plimsoll/data'; {call};\nexport default () => {{}}"
        ));
        assert!(error.contains(expect), "{call}: {error}");
    };
    check("rows('nowhere.csv')", "couldn't be found");
    check("rows('/dev/zero', { format: 'csv' })", "it is a device");
    check("rows('users.xls')", "set format to \"csv\" or \"ndjson\"");
    check(
        "rows('a.csv', { order: 'any' })",
        "invalid order \"any\": use \"sequential\", \"unique\", \"random\"",
    );
    check("rows('a.csv', { order: 'unique', end: 'recycle' })", "hands rows out again");
    check("rows('a.csv', { order: 'random', end: 'stop' })", "its rows have no end");
    check("rows('a.csv', { oder: 'unique' })", "rows() has no option \"oder\"");
    check("rows('a.csv', { delimiter: ';;' })", "use one ASCII character");
    check("rows('a.csv', { header: 1 })", "invalid header");
    let left = run(&[("a.csv", "a\n1\n")], 1, "", "rows(__ENV.BASE + '/a.csv')");
    assert!(left.logs[0].contains("call it in the init context"), "{:?}", left.logs);
    let left = run(
        &[("a.csv", "a\n1\n")],
        1,
        "const a = rows(__ENV.BASE + '/a.csv'); try { a.next() } catch (e) { console.log(e.message) }",
        "",
    );
    assert!(left.logs[0].contains("cannot be called in the init context"), "{:?}", left.logs);
}
