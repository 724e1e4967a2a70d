//! Stored runs during failures: the load continues, and the stored data are marked as incomplete.

use std::path::{Path, PathBuf};

use rustix::process::Signal;

use crate::harness::{Ran, eventually, plimsoll};

const LONG: &str = "import { sleep } from 'k6'; export const options = { vus: 2, duration: '60s' };
    export default () => sleep(0.05);";

#[test]
fn a_run_that_is_killed_is_partial_and_one_that_goes_on_is_live() {
    let running = plimsoll(LONG).start();
    eventually("two stored seconds", || {
        let out = running.and("export @last --format csv").run().out.clone();
        out.lines().any(|line| line.starts_with("1,") && line.contains(",iterations,"))
    });
    running.and("show @last").run().exits(0).prints("LIVE").prints("iterations");
    running.and("runs --status live --json").run().exits(0).prints("\"live\"");
    running.and("runs prune --keep 0 --yes").run().exits(0).prints("No runs to delete");
    running.and("export @last --format plimsoll -o copy.plimsoll").run().exits(0);
    running.and("show copy.plimsoll").run().exits(0).prints("iterations");
    running.and("note @last x").run().exits(255).says("still in progress");
    running.signal(Signal::KILL);
    let ran = running.wait();
    assert_eq!(ran.code, None);
    ran.and("show @last").run().exits(0).prints("PARTIAL").prints("iterations");
    ran.and("runs --status partial --json").run().exits(0).prints("\"partial\"");
    let words = [("md", "ncomplete"), ("json", "artial"), ("junit", "artial")];
    for (format, word) in words {
        ran.and(&format!("report @last --format {format}")).run().exits(0).prints(word);
    }
    ran.and("report @last --lang ko").run().exits(0);
}

#[test]
fn a_place_that_cannot_be_written_to_stops_no_load() {
    for place in ["/proc/no-such/runs", "script.js/runs"] {
        let ran = plimsoll("export default () => {};").flags("-i 3 --runs").word(place).run().exits(123);
        assert_eq!(ran.count("iterations"), 3);
        ran.says("failed to store the run").says("--no-store");
    }
    let ran = plimsoll("export default () => {};").env("PLIMSOLL_RUNS", "gs://x").run().exits(123);
    ran.says("there are directories and s3://bucket/prefix");
}

#[test]
fn a_read_only_directory_stops_no_load_and_keeps_its_runs() {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    let ran = plimsoll("export default () => {};").flags("-i 3 --runs runs").run().exits(0);
    let runs = ran.folder().join("runs");
    let file = std::fs::read_dir(&runs).expect("runs").next().expect("one").expect("readable").path();
    let allow = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    };
    allow(ran.folder(), 0o777);
    allow(&runs, 0o555);
    allow(&file, 0o444);
    // Nothing is read-only for root, so it switches to an unprivileged user, who may not see the build folder.
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        let copied = std::fs::copy(env!("CARGO_BIN_EXE_plimsoll"), ran.folder().join("program"));
        copied.expect("enough disk space for the program");
    }
    let nobody = "exec setpriv --reuid=65534 --regid=65534 --clear-groups ./program \"$@\"";
    let as_other = |words: &str| match is_root {
        true => ran.and(words).before(nobody),
        false => ran.and(words),
    };
    as_other("runs prune --keep 0 --yes --runs runs").run().exits(255).says("failed to delete the run");
    assert!(file.exists());
    as_other("show @last --runs runs").run().exits(0).prints("iterations");
    as_other("run --no-color --runs runs -i 2 script.js").run().exits(123).says("failed to store the run");
    allow(&runs, 0o755);
}

#[test]
fn a_full_disk_stops_no_load() {
    let script = "import { Counter } from 'k6/metrics'; import { sleep } from 'k6'; const count = new Counter('count');
        export const options = { vus: 1, duration: '4s' };
        export default () => { for (let i = 0; i < 500; i++) count.add(1, { n: `${__ITER}-${i}-${'x'.repeat(500)}` }); sleep(0.5); }";
    // Files are limited to 256 kB: the run's file needs more, the summary less. The signal is ignored, because a full disk sends
    // none.
    let ran =
        plimsoll(script).before("trap '' XFSZ; ulimit -f 512").run().exits(123).says("the test goes on");
    assert!(ran.count("count") >= 3_000, "{}", ran.count("count"));
}

#[test]
fn nothing_is_stored_where_nothing_is_asked_for() {
    for (name, value) in [("PLIMSOLL_NO_STORE", "true"), ("K6_NO_STORE", "1")] {
        let ran = plimsoll("export default () => {};").env(name, value).run().exits(0);
        assert!(!ran.folder().join("plimsoll").exists());
    }
    let ran = plimsoll("export default () => {};").flags("--no-store").run().exits(0);
    assert!(!ran.folder().join("plimsoll").exists());
}

#[test]
fn the_last_line_says_how_to_see_it_again() {
    let ran = plimsoll("export default () => {};").flags("-q=false --runs").word("my runs").run().exits(0);
    let last = ran.err.lines().last().expect("it says something");
    assert!(last.starts_with("run: ") && last.contains("plimsoll show --runs 'my runs' "), "{last}");
    let programs = plimsoll("export default () => {};").flags("-q=false --log-format json").run().exits(0);
    let last = programs.err.lines().last().expect("it says something");
    assert!(last.starts_with('{') && last.contains("plimsoll show"), "{last}");
    let quiet = plimsoll("export default () => {};").run().exits(0);
    assert!(!quiet.err.contains("plimsoll show"), "{}", quiet.err);
}

/// Returns the file of the only stored run.
pub(crate) fn stored_file(ran: &Ran) -> PathBuf {
    let folder = ran.folder().join("plimsoll/runs");
    std::fs::read_dir(folder).expect("a run was stored").next().expect("one").expect("readable").path()
}

/// Returns all texts of a file, including those in compressed blobs.
pub(crate) fn texts(path: &Path) -> String {
    let reader = runfile::Reader::open(path).expect("it opens");
    let all = 0..u32::MAX;
    let metrics: Vec<_> = reader.registry().all().iter().map(|metric| metric.name.to_string()).collect();
    let tags: Vec<_> =
        (0..reader.tags().len() as u32).map(|id| reader.tags().get(model::TagSetId(id))).collect();
    [
        String::from_utf8_lossy(&std::fs::read(path).expect("it can be read")).into_owned(),
        format!("{:?} {:?} {metrics:?} {tags:?}", reader.header(), reader.ending()),
        format!("{:?} {:?}", reader.errors(), reader.exemplars(all)),
        format!("{:?} {:?} {:?} {:?}", reader.log(), reader.thresholds(), reader.marks(), reader.notes()),
    ]
    .concat()
}

#[test]
fn secrets_are_not_stored() {
    let script = "export default () => console.log(`${__ENV.API_TOKEN} ${__ENV.PROFILE}`);";
    let ran = plimsoll(script)
        .flags("-e API_TOKEN=hush-hush -e PROFILE=visible")
        .env("MY_PAGER", "unseen")
        .run()
        .exits(0);
    let texts = texts(&stored_file(&ran));
    assert!(
        texts.contains("visible") && !texts.contains("hush-hush"),
        "what is secret is hidden, also in the command line and the log"
    );
    assert!(!texts.contains("unseen"), "what the script does not name is not stored");
}

#[test]
fn a_secret_reaches_no_part_of_the_file() {
    let script = "import http from 'k6/http'; import { check, group } from 'k6'; import exec from 'k6/execution';
        import { Counter } from 'k6/metrics'; import secrets from 'k6/secrets';
        const count = new Counter('count');
        export const options = { tags: { all: 'sesa/me 42' }, thresholds: { 'count{n:sesa/me 42}': ['count>=0'] } };
        export default async () => {
            for (const secret of [await secrets.get('pin'), __ENV.API_TOKEN]) {
                exec.vu.metrics.tags.here = secret;
                exec.vu.metrics.metadata.there = secret;
                const headers = { Authorization: `Bearer ${secret}`, Cookie: `a=${secret}` };
                http.get(`${__ENV.URL}/json?t=${encodeURIComponent(secret)}`, { headers, tags: { own: secret } });
                http.get(`http://127.0.0.1:1/${secret}`);
                check(0, { [`is ${secret}`]: () => false }, { tagged: secret });
                group(secret, () => count.add(1, { n: secret }));
                console.error(`saw ${secret} with`, { secret });
            }
            throw new Error(`again ${await secrets.get('pin')}`);
        };
        export function teardown() { exec.test.abort('because of sesa/me 42'); }";
    let server = testkit::http::start();
    let ran = plimsoll(script)
        .against(&server)
        .flags("-e API_TOKEN=hush-hush --http-debug=full --tag t=hush-hush --note hush-hush --secret-source")
        .word("mock=pin=sesa/me 42")
        .word("--name")
        .word("of sesa/me 42")
        .run();
    let texts = texts(&stored_file(&ran));
    for secret in ["sesa/me", "sesa%2Fme", "sesa\\/me", "hush-hush"] {
        let at = texts.find(secret);
        let around = at.map(|at| texts[..at].chars().rev().take(300).collect::<Vec<_>>());
        let around = around.map(|around| around.into_iter().rev().collect::<String>());
        assert_eq!(around, None, "{secret} is in the file, after this");
    }
    for kept in ["(hidden)", "count{n:(hidden)}", "/json?t=(hidden)", "is (hidden)", "of (hidden)"] {
        assert!(texts.contains(kept), "{kept} is not in the file");
    }
    ran.and("show").run().exits(0).prints("(hidden)");
}

#[test]
fn pipes_beside_a_run_block_no_command() {
    let ran = plimsoll("export default () => {};").run().exits(0);
    for suffix in ["-lock", "-journal", "-wal"] {
        let pipe = format!("{}{suffix}", stored_file(&ran).display());
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|made| made.success()));
        let refused = format!("{suffix} beside it is not a regular file; move it away");
        ran.and("show @last").run().exits(255).says(&refused);
        ran.and("runs").run().exits(0).says(&refused);
        std::fs::remove_file(&pipe).expect("it is there");
    }
    ran.and("show @last").run().exits(0);
}
