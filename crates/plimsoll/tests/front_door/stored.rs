//! Stored runs: reading them gives the same results as the terminal.

use serde_json::Value;

use crate::harness::{Plimsoll, Ran, plimsoll, verb};

/// Starts a run with every kind of number, and a threshold that cannot hold.
fn visits(server: &testkit::Server) -> Plimsoll {
    let script =
        "import http from 'k6/http'; import { check, group } from 'k6'; import { Trend } from 'k6/metrics';
        const size = new Trend('size');
        export const options = { thresholds: {
            http_req_duration: ['p(95)<0.000001', 'max<60000'], http_req_failed: ['rate<0.01'] } };
        export default () => group('shop', () => {
            const response = http.get(`${__ENV.URL}/json`);
            size.add(response.body.length / 3 + __ITER / 7);
            check(response, { ok: (r) => r.status === 200, never: () => false }); });";
    plimsoll(script).against(server)
}

/// Runs with few samples, stored individually, and with many, stored in a histogram: the same must hold for both.
fn few_and_many(server: &testkit::Server) -> [Ran; 2] {
    ["-i 7", "-u 20 -i 6000"].map(|flags| visits(server).flags(flags).run().exits(99))
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.out))
}

#[test]
fn a_run_is_shown_again_byte_for_byte() {
    let server = testkit::http::start();
    for ran in few_and_many(&server) {
        assert_eq!(ran.and("show @last").run().exits(0).out, ran.out);
        assert_eq!(ran.and("show").run().exits(0).out, ran.out);
    }
    for mode in ["full", "legacy"] {
        let flags = format!("--summary-mode {mode} --summary-time-unit us -i 3");
        let ran = visits(&server).flags(&flags).run().exits(99);
        assert_eq!(ran.and("show @last --summary-mode").word(mode).run().exits(0).out, ran.out);
    }
    let ran = visits(&server).flags("--compat strict -i 3").run().exits(99);
    assert_eq!(ran.and("show @last").run().exits(0).out, ran.out);
}

#[test]
fn every_surface_gives_the_same_number() {
    let server = testkit::http::start();
    for ran in few_and_many(&server) {
        let line =
            ran.out.lines().find(|line| line.contains("p(95)<0.000001")).expect("the threshold is shown");
        let (_, observed) = line.split_once("' p(95)=").expect("with its value");
        let observed = observed.trim();
        let markdown = ran.and("report @last --format md").run().exits(0);
        assert!(markdown.out.contains(observed), "{observed} is not in: {}", markdown.out);
        let junit = ran.and("report @last --format junit").run().exits(0);
        assert!(junit.out.contains(observed), "{observed} is not in: {}", junit.out);

        let mut report = json(&ran.and("report @last --format json").run().exits(0));
        // Only reports contain the bottleneck.
        report.as_object_mut().expect("an object").remove("diagnosis");
        let exported = json(&ran.and("export @last --format json").run().exits(0));
        assert_eq!(exported["report"], report);
        for statistic in ["avg", "min", "med", "max", "p(90)", "p(95)"] {
            let said = ran.value("http_req_duration", statistic).expect("the summary has it");
            assert!(has_number(&report, said), "{statistic} = {said} is not in: {report}");
            let said = ran.value("size", statistic).expect("the summary has it");
            assert!(has_number(&report, said), "size's {statistic} = {said} is not in: {report}");
        }

        let seconds = exported["windows"].as_array().expect("windows");
        let total = |metric: &str, key: &str| -> f64 {
            seconds.iter().filter(|row| row["metric"] == metric).filter_map(|row| row[key].as_f64()).sum()
        };
        assert_eq!(total("http_reqs", "sum"), ran.count("http_reqs") as f64);
        assert_eq!(total("http_req_duration", "count"), ran.count("http_reqs") as f64);
        let csv = ran.and("export @last --format csv").run().exits(0).out.clone();
        let csv_total: f64 = csv.lines().filter_map(|line| csv_cell(line, "http_reqs", 7)).sum();
        assert_eq!(csv_total, ran.count("http_reqs") as f64);
    }
}

/// Returns true if this exact number is anywhere in a document.
fn has_number(document: &Value, number: f64) -> bool {
    match document {
        Value::Number(known) => known.as_f64() == Some(number),
        Value::Array(items) => items.iter().any(|item| has_number(item, number)),
        Value::Object(fields) => fields.values().any(|field| has_number(field, number)),
        _ => false,
    }
}

/// Returns a cell of an exported line of this metric; cells before the tags contain no commas.
fn csv_cell(line: &str, metric: &str, column: usize) -> Option<f64> {
    let cells: Vec<&str> = line.split(',').collect();
    (cells.get(3) == Some(&metric)).then(|| cells[column].parse().ok())?
}

#[test]
fn equal_samples_of_one_moment_are_all_counted() {
    let script = "import { Counter, Trend } from 'k6/metrics';
        const [hits, times] = [new Counter('hits'), new Trend('times', true)];
        export default () => { for (let i = 0; i < 20000; i++) { hits.add(1); times.add(5); } }";
    let ran = plimsoll(script).run().exits(0);
    assert_eq!(ran.count("hits"), 20_000);
    let rows = json(&ran.and("export @last --format json").run().exits(0));
    let of = |metric: &str| {
        let rows = rows["windows"].as_array().expect("windows").iter();
        rows.filter(|row| row["metric"] == metric).filter_map(|row| row["count"].as_u64()).sum::<u64>()
    };
    assert_eq!((of("hits"), of("times")), (20_000, 20_000));
}

#[test]
fn segments_become_the_whole() {
    const WHOLE: &str = "import { Counter, Trend } from 'k6/metrics'; import { check } from 'k6';
        import exec from 'k6/execution';
        const [hits, size] = [new Counter('hits'), new Trend('size')];
        export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 3, iterations: 300 } },
            thresholds: { size: ['p(95)<1'] } };
        export default () => { const i = exec.scenario.iterationInTest; hits.add(i);
            for (let k = 0; k < 20; k++) size.add((i * 20 + k) / 7);
            check(i, { even: (i) => i % 2 === 0 }); };";
    let whole = plimsoll(WHOLE).run().exits(99);
    for order in ["a b c", "c a b"] {
        let cuts = "--execution-segment-sequence 0,1/3,2/3,1";
        let first = plimsoll(WHOLE).flags("--runs a --execution-segment 0:1/3").flags(cuts).run().exits(99);
        let sequence = [("b", "1/3:2/3"), ("c", "2/3:1")];
        for (place, segment) in sequence {
            let flags =
                format!("run --no-color --runs {place} --execution-segment {segment} {cuts} script.js");
            first.and(&flags).run().exits(99);
        }
        let path = |place: &str| {
            let mut files = std::fs::read_dir(first.folder().join(place)).expect("a run was stored there");
            files.next().expect("one").expect("readable").path().display().to_string()
        };
        let merging =
            order.split(' ').fold(first.and("merge -o whole.plimsoll"), |it, place| it.word(&path(place)));
        let merged = merging.run().exits(0);
        assert!(!merged.err.contains("execution segment"), "{}", merged.err);
        let merged = json(&first.and("report whole.plimsoll --format json").run().exits(0));
        for statistic in ["avg", "min", "med", "max", "p(90)", "p(95)"] {
            let said = whole.value("size", statistic).expect("the summary has it");
            assert!(has_number(&merged, said), "{statistic} = {said} is not in: {merged}");
        }
        let shown = first.and("show whole.plimsoll").run().exits(0).out.clone();
        let rows = |text: &str| {
            let is_exact = |line: &&str| {
                ["size.", "✓ even", "✗ even", "↳", "p(95)<1"].iter().any(|part| line.contains(part))
            };
            // The width of a column depends on its times, which vary from run to run.
            let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            text.lines().filter(is_exact).map(words).collect::<Vec<_>>()
        };
        assert_eq!(rows(&shown), rows(&whole.out), "{order}");
        let some = first.and("merge -o some.plimsoll").word(&path("a")).word(&path("c")).run().exits(0);
        some.says("the execution segment 1/3:2/3 is missing");
    }
}

#[test]
fn runs_are_listed_filtered_and_pruned() {
    let ran = plimsoll("export default () => {};").flags("--tag env=a --name first --note n1").run().exits(0);
    ran.and("run --no-color -i 2 --tag env=b script.js").run().exits(0);
    let list = |flags: &str| {
        let rows = json(&ran.and(&format!("runs --json {flags}")).run().exits(0));
        rows.as_array()
            .expect("a list")
            .iter()
            .map(|row| row["tags"]["env"].as_str().unwrap_or("").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(list(""), ["b", "a"]);
    assert_eq!(list("--tag env=a"), ["a"]);
    assert_eq!(list("--script first"), ["a"]);
    assert_eq!(list("--status passed --limit 1"), ["b"]);
    ran.and("runs --limit 1").run().exits(0).says("1 older run was not looked at");
    assert_eq!(list("--status failed"), Vec::<String>::new());
    assert_eq!(list("--since 1h"), ["b", "a"]);
    assert_eq!(list("--since 2999-01-01"), Vec::<String>::new());
    ran.and("runs").run().exits(0).prints("STATUS").prints("first");
    ran.and("runs --since soon").run().exits(255).says("--since");

    ran.and("runs prune").run().exits(255).says("--older-than");
    for age in ["30", "1.5", "-30d", "soon"] {
        let refused = ran.and(&format!("runs prune --yes --older-than={age}")).run().exits(255);
        refused.says("--older-than").says("; write ");
    }
    ran.and("runs prune --older-than=30 --yes").run().exits(255).says("the unit is missing");
    assert_eq!(list(""), ["b", "a"], "a number without a unit is the age of no run");
    ran.and("runs prune --keep 1 --dry-run").run().exits(0).prints("would delete 1 run");
    ran.and("runs prune --keep 1").run().exits(255).prints("to delete 1 run").says("--yes");
    assert_eq!(list(""), ["b", "a"], "nothing is deleted in silence");
    ran.and("runs prune --keep 1 --yes").run().exits(0).prints("deleted 1 run");
    assert_eq!(list(""), ["b"]);
    ran.and("runs prune --older-than 30d --yes").run().exits(0).prints("No runs to delete");
}

#[test]
fn a_dash_is_standard_output() {
    let ran = plimsoll("export default () => {};").run().exits(0);
    ran.and("run --no-color script.js").run().exits(0);
    for words in [
        "export @last --format csv",
        "export @last --format json",
        "report @last",
        "compare @prev @last",
        "audit @last",
    ] {
        let plain = ran.and(words).run();
        let dashed = ran.and(&format!("{words} -o -")).run();
        assert_eq!((dashed.code, &dashed.out), (plain.code, &plain.out), "{words}");
        assert!(!dashed.out.is_empty() && !ran.folder().join("-").exists(), "{words}");
    }
    // The copy of a file is no text: a shell writes it.
    let copy = "copy() { \"$@\" > copy.plimsoll; exit $?; }; copy \"$0\" \"$@\"";
    ran.and("export @last --format plimsoll -o -").before(copy).run().exits(0);
    assert!(!ran.folder().join("-").exists());
    ran.and("show copy.plimsoll").run().exits(0).prints("iterations");
    ran.and("merge @prev @last -o -").run().exits(255).says("name a file");
}

#[test]
fn runs_are_named_in_every_way() {
    let ran = plimsoll("export default () => {};").run().exits(0);
    ran.and("run --no-color -i 5 script.js").run().exits(0);
    let rows = json(&ran.and("runs --json").run().exits(0));
    let (last, first) = (&rows[0], &rows[1]);
    let counts = |name: &str| {
        let report = json(&ran.and("report --format json").word(name).run().exits(0));
        (has_number(&report, 5.0), report["run"].to_string().contains(first["id"].as_str().expect("an id")))
    };
    assert_eq!(counts("@last"), (true, false));
    assert!(counts("@prev").1);
    assert!(counts(&first["id"].as_str().expect("an id")[..6]).1);
    assert!(counts(first["path"].as_str().expect("a path")).1);
    assert_eq!(counts(last["id"].as_str().expect("an id")), (true, false));
    ran.and("show zzz").run().exits(255).says("plimsoll runs");
    ran.and("show ./script.js").run().exits(255).says("not a run file of Plimsoll");
    verb("show").run().exits(255).says("no runs");
}

#[test]
fn notes_stay_with_the_run() {
    let ran = plimsoll("export default () => {};").flags("--note before").run().exits(0);
    ran.and("note @last").word("after | the run").run().exits(0);
    let report = ran.and("report @last --format json").run().exits(0);
    assert!(report.out.contains("before") && report.out.contains("after | the run"), "{}", report.out);
    ran.and("note @last").word(" ").run().exits(255).says("needs a text");
}

#[test]
fn a_part_of_a_run_is_labelled() {
    let script = "import { sleep } from 'k6'; export const options = { vus: 1, duration: '3s' };
        export default () => sleep(0.1);";
    let ran = plimsoll(script).run().exits(0);
    let whole = ran.count("iterations");
    let shown = ran.and("show @last --window 1s..2s").run().exits(0).prints("Only seconds 1 to 2");
    assert!(shown.out.contains("iterations"), "{}", shown.out);
    let report = json(&ran.and("export @last --format json").run().exits(0));
    let rows = report["windows"].as_array().expect("windows").iter();
    let in_second: f64 = rows
        .filter(|row| row["metric"] == "iterations" && row["second"] == 1)
        .filter_map(|row| row["sum"].as_f64())
        .sum();
    assert!(in_second > 0.0 && in_second < whole as f64);
    assert!(shown.out.contains(&format!(": {in_second} ")), "{in_second} is not in: {}", shown.out);
    ran.and("show @last --window 1h..2h").run().exits(255).says("--window");
    ran.and("show @last --window backwards").run().exits(255).says("30s..2m");
    let markdown = ran.and("report @last --window 1s..2s").run().exits(0);
    assert_ne!(markdown.out, ran.and("report @last").run().exits(0).out);
}

#[test]
fn exports_go_to_files() {
    let server = testkit::http::start();
    let ran = visits(&server).flags("-i 3").run().exits(99);
    ran.and("export @last --format parquet -o run.parquet").run().exits(0);
    let bytes = std::fs::read(ran.folder().join("run.parquet")).expect("it was written");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    ran.and("export @last --format plimsoll -o copy.plimsoll").run().exits(0);
    assert_eq!(ran.and("show copy.plimsoll").run().exits(0).out, ran.out);
    ran.and("export @last --format csv -o no/such/folder.csv").run().exits(255).says("no/such/folder.csv");
}
