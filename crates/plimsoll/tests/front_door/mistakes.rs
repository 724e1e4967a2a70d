//! The usual mistakes: each is made, and the message is compared with the one that `docs/guide/mistakes.md` shows.

use std::net::TcpListener;

use crate::harness::{Plimsoll, Ran, plimsoll, verb};

/// The page that shows the messages.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/mistakes.md");

/// The variable that has the page written anew.
const UPDATE: &str = "UPDATE_EXPECT";

/// Beginning and end of the part of the page that the test writes.
const BEGIN: &str =
    "<!-- written by a test: UPDATE_EXPECT=1 cargo test -p plimsoll --test front_door mistakes -->\n";
const END: &str = "<!-- end -->\n";

/// A mistake and the message about it.
struct Mistake {
    title: &'static str,
    /// The mistake as it is written.
    wrote: String,
    message: String,
    exit: i32,
}

/// The part of a message that the page shows: the log's text, without what differs from run to run.
fn message(ran: &Ran, marker: &str) -> String {
    let mut lines = ran.err.lines().chain(ran.out.lines());
    let line = lines.find(|line| line.contains(marker));
    let line = line.unwrap_or_else(|| panic!("{marker:?} is in none of: {}{}", ran.err, ran.out));
    let quoted = line.split_once("msg=").map_or(line, |(_, text)| text);
    let text = serde_json::Deserializer::from_str(quoted).into_iter::<String>().next();
    let text = text.and_then(Result::ok).unwrap_or_else(|| quoted.trim().to_owned());
    let text = text.split("\n\tat ").next().unwrap_or_default().replace("\n\t- ", " ");
    let folder = ran.folder().display().to_string();
    text.replace(&format!("{folder}/"), "").replace(&folder, ".")
}

fn of(run: Plimsoll, title: &'static str, wrote: &str, marker: &str) -> Mistake {
    let ran = run.run();
    let message = message(&ran, marker);
    Mistake { title, wrote: wrote.to_owned(), message, exit: ran.code.expect("it was not killed") }
}

/// A script with this text.
fn script(title: &'static str, wrote: &str, around: &str, marker: &str) -> Mistake {
    let server = testkit::http::start();
    let mut mistake = of(plimsoll(&around.replace("HERE", wrote)).against(&server), title, wrote, marker);
    let url = server.url("");
    mistake.message = mistake.message.replace(url.trim_end_matches('/'), "http://shop.example");
    mistake
}

/// Options of a script.
fn options(title: &'static str, wrote: &str, marker: &str) -> Mistake {
    let around = "import http from 'k6/http';
export const options = { HERE };
export default function () { http.get(`${__ENV.URL}/get`); }";
    script(title, wrote, around, marker)
}

/// A request of a script.
fn request(title: &'static str, wrote: &str, marker: &str) -> Mistake {
    let around = "import http from 'k6/http';
const BASE = __ENV.URL;
const user = {};
export default function () {
  HERE
}";
    script(title, wrote, around, marker)
}

/// A study of a script that needs no server.
fn study(title: &'static str, words: &str, marker: &str) -> Mistake {
    let run = verb(words.split(" '").next().unwrap_or_default());
    let run = words.split('\'').skip(1).step_by(2).fold(run, |run, word| run.word(word));
    of(run.file("script.js", "export default function () {}"), title, &format!("plimsoll {words}"), marker)
}

fn mistakes() -> Vec<Mistake> {
    let empty = "export default function () {}";
    let busy = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = busy.local_addr().expect("it is bound").port();
    let address = format!("localhost:{port}");
    let mut in_use = of(
        plimsoll(empty).flags(&format!("--address {address}")),
        "The port is in use",
        "plimsoll run --address localhost:6565 script.js",
        "failed to listen",
    );
    let free = in_use.message.split("--address localhost:").nth(1).and_then(|rest| rest.split(',').next());
    let free = free.expect("another port is offered").to_owned();
    assert!(free.parse::<u16>().expect("a port") > port, "{free}");
    in_use.message = in_use.message.replace(&port.to_string(), "6565").replace(&free, "6566");
    let stored = || plimsoll(empty).run().exits(0);
    let unstored = plimsoll(empty).file("runs", "no folder").flags("--runs runs");
    let prune = |words: &str| stored().and(words).run();
    let pruned = prune("runs prune --keep 0");
    assert_eq!(pruned.code, Some(255));
    let twice = "function token() { return 1 }\nfunction token() { return 2 }";
    vec![
        of(
            plimsoll(empty).flags("-u 1 -d 5"),
            "A duration without a unit, in a flag of k6",
            "plimsoll run -d 5 script.js",
            "the duration must be",
        ),
        study(
            "A duration without a unit, in a flag of Plimsoll",
            "sweep script.js --vus 10 --hold 30",
            "--hold",
        ),
        of(
            verb("runs prune --older-than 30"),
            "An age without a unit",
            "plimsoll runs prune --older-than 30",
            "--older-than",
        ),
        of(
            verb("runs prune --max-size 500"),
            "A size without a unit",
            "plimsoll runs prune --max-size 500",
            "--max-size",
        ),
        Mistake {
            title: "A clean-up in a script, without `--yes`",
            wrote: "plimsoll runs prune --keep 0 < /dev/null".to_owned(),
            message: message(&pruned, "failed to ask"),
            exit: 255,
        },
        options(
            "A unit in a threshold",
            "thresholds: { http_req_duration: ['p(95)<500ms'] }",
            "failed to parse",
        ),
        options(
            "A percentile without parentheses",
            "thresholds: { http_req_duration: ['p95<500'] }",
            "failed to parse",
        ),
        options(
            "A percentage in a threshold",
            "thresholds: { http_req_failed: ['rate<1%'] }",
            "failed to parse",
        ),
        options(
            "A percentile of a rate",
            "thresholds: { http_req_failed: ['p(95)<0.1'] }",
            "failed to check",
        ),
        options(
            "A threshold on a metric that does not exist",
            "thresholds: { http_req_duratoin: ['p(95)<500'] }",
            "unknown metric",
        ),
        options(
            "A threshold on a tag that no request has",
            "thresholds: { 'http_req_duration{name:/crat}': ['p(95)<500'] }",
            "no sample belongs",
        ),
        options("A misspelt option", "vu: 10", "unknown option"),
        request("A variable that is not set, in a URL", "http.get(`${__ENV.HOST}/items`);", "has no value"),
        request(
            "A property that does not exist, in a URL",
            "http.get(BASE + '/items/' + user.id);",
            "has no value",
        ),
        request("A page where JSON is expected", "http.get(`${BASE}/html`).json();", "cannot parse json"),
        request(
            "A page where JSON is expected, with a path",
            "http.get(`${BASE}/html`).json('user.id');",
            "finds nothing",
        ),
        script(
            "A misspelt module",
            "import http from 'k6/htttp';",
            "HERE\nexport default function () {}",
            "unknown module",
        ),
        of(
            plimsoll("open('./data/usres.json');").before("mkdir data; echo '[]' > data/users.json"),
            "A file that does not exist",
            "open('./data/usres.json');",
            "couldn't be found",
        ),
        script(
            "A function that is declared twice, which k6 accepts",
            twice,
            "HERE\nexport default function () { token(); }",
            "is declared 2 times",
        ),
        of(
            verb("doctor")
                .file("plimsoll.toml", "[evidense.prometheus]\naddress = \"http://localhost:9090\"\n"),
            "A misspelt table in `plimsoll.toml`",
            "[evidense.prometheus]",
            "evidense",
        ),
        of(
            verb("doctor")
                .file("plimsoll.toml", "[evidence.prometheus]\nadress = \"http://localhost:9090\"\n"),
            "A misspelt key in `plimsoll.toml`",
            "adress = \"http://localhost:9090\"",
            "adress",
        ),
        of(
            verb("doctor --evidence prometeus=http://localhost:9090"),
            "A misspelt kind of source",
            "plimsoll doctor --evidence prometeus=http://localhost:9090",
            "prometeus",
        ),
        in_use,
        study(
            "An SLO on a metric that does not exist",
            "sweep script.js --vus 1,2 --slo 'http_req_duratoin: p(95)<800'",
            "http_req_duratoin",
        ),
        study(
            "A budget that is too short",
            "capacity script.js --budget 30s --slo 'http_req_duration: p(95)<800'",
            "--budget",
        ),
        study("The same for `plimsoll find`", "find script.js --budget 10s", "--budget"),
        study("A word where a number is expected", "run script.js --agents two", "invalid value"),
        study("A number out of range", "run script.js --repeat 0", "invalid value"),
        study("A flag of another subcommand", "run script.js --hold 30s", "is a flag of"),
        of(
            unstored,
            "A test that passed, but could not be stored",
            "plimsoll run --runs runs script.js",
            "the run is not stored",
        ),
        of(
            plimsoll(empty).flags("--report html=no-folder/report.html"),
            "A report that could not be written",
            "plimsoll run --report html=no-folder/report.html script.js",
            "failed to write the report",
        ),
    ]
}

/// The mistakes as sections: a table would break the long lines.
fn sections(mistakes: &[Mistake]) -> String {
    let section = |mistake: &Mistake| {
        let language = match mistake.title {
            _ if mistake.wrote.starts_with("plimsoll ") => "sh",
            title if title.contains("plimsoll.toml") => "toml",
            _ => "js",
        };
        let Mistake { title, wrote, message, exit } = mistake;
        let exit = match exit {
            0 => "a warning; the test goes on".to_owned(),
            code => format!("exit code {code}"),
        };
        format!(
            "### {title}\n\n```{language}\n{wrote}\n```\n\n```text\n{message}\n```\n\n{}.\n\n",
            capitalised(&exit)
        )
    };
    mistakes.iter().map(section).collect()
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[test]
fn the_page_shows_the_messages_of_the_program() {
    let page = std::fs::read_to_string(PAGE).expect("the page");
    let (before, rest) = page.split_once(BEGIN).expect("a beginning");
    let (written, after) = rest.split_once(END).expect("an end");
    let expect = format!("\n{}", sections(&mistakes()));
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(PAGE, format!("{before}{BEGIN}{expect}{END}{after}")).expect("written");
        return;
    }
    for (shown, printed) in written.lines().zip(expect.lines()) {
        assert_eq!(shown, printed, "write the page anew with {UPDATE}=1");
    }
    assert_eq!(written.len(), expect.len(), "write the page anew with {UPDATE}=1");
}

#[test]
fn verbs_of_stored_runs_default_to_the_last_ones() {
    let ran = plimsoll("export default function () {}").run().exits(0);
    ran.and("note").word("with the new index").run().exits(0).prints("note added to ");
    ran.and("note @last").run().exits(255).says("the text for @last is missing");
    ran.and("report --format json").run().exits(0).prints("with the new index");
    let last = ran.and("diagnose @last --json").run().exits(0);
    assert_eq!(ran.and("diagnose --json").run().exits(0).out, last.out);
    let last = ran.and("audit @last").run().exits(0);
    assert_eq!(ran.and("audit").run().exits(0).out, last.out);
    last.prints("Input: run ").prints("Rules checked").prints("Rules without input: ");
    ran.and("run --no-color script.js").run().exits(0);
    let named = ran.and("compare @prev @last").run().exits(0);
    assert_eq!(ran.and("compare").run().exits(0).out, named.out);
}

#[test]
fn durations_of_our_own_flags_have_units() {
    let refused = |words: &str, flag: &str| {
        let run = verb(words).file("script.js", "export default function () {}").run();
        assert_ne!(run.code, Some(0), "{words}");
        run.says(flag).says("the unit");
    };
    for words in [
        "sweep script.js --vus 1 --hold 5",
        "sweep script.js --vus 1 --warm-up 5",
        "sweep script.js --vus 1 --rest 5",
        "capacity script.js --slo checks:rate>0.9 --step-min 5",
        "capacity script.js --slo checks:rate>0.9 --step-max 5",
        "capacity script.js --slo checks:rate>0.9 --budget 5",
        "find script.js --budget 60",
        "calibrate --time 5",
        "compare --slo 300",
        "runs --since 7",
        "runs prune --older-than 30",
        "collect --from -15 --evidence host=http://127.0.0.1:1",
    ] {
        let flag = words
            .split(' ')
            .filter(|word| word.starts_with("--"))
            .find(|word| !["--vus", "--slo"].contains(word) || words.starts_with("compare"));
        refused(words, flag.expect("a flag"));
    }
    let ran = plimsoll("export default function () {}").run().exits(0);
    ran.and("show --window 0..30").run().exits(255).says("the unit of ").says(" is missing");
    ran.and("show --window 0..30s").run().exits(0);
}
