//! `k6/x/exec` as scripts use it. The expected results are k6's, seen by running it.

use std::sync::Arc;

use model::{IterationEnd, MetricRegistry};

use super::{Heard, cut, load, logged, run};
use crate::{Bundle, Entry, MemoryLimits, Outside, Settings};

#[test]
fn programs_and_their_failures() {
    let source = "import exec from 'k6/x/exec';
        const show = (run) => {
          try { console.log(JSON.stringify(run())); } catch (error) {
            const { process_state: state, stderr, stdout } = error.value ?? {};
            console.log(String(error), state && [String(state), state.exitCode(), state.success()].join(), JSON.stringify([stderr, stdout]));
          }
        };
        const sh = (text, options) => exec.command('sh', ['-c', text], options);
        export default function () {
          show(() => exec.command('echo', ['a b', 1, true, null]));
          show(() => sh('echo $FOO; pwd', { env: ['FOO=bar'], dir: '/' }));
          show(() => sh('echo out; echo err >&2', { combine_output: true }));
          show(() => sh('echo out; echo err >&2'));
          show(() => sh('echo out; echo err >&2; exit 3', { continue_on_error: true }));
          show(() => sh('echo out; echo err >&2; exit 3', { continue_on_error: true, include_stdout_on_error: true }));
          show(() => sh('kill -9 $$', { continue_on_error: true }));
          show(() => exec.command('no-such-program', [], { continue_on_error: true }));
          show(() => exec.command('ls', [], { dir: '/nope', continue_on_error: true }));
          show(() => exec.command('cat'));
          show(() => exec.command('echo', 'x'));
        }";
    let expect = [
        "\"a b 1 true \\n\"",
        "\"bar\\n/\\n\"",
        "\"out\\nerr\\n\"",
        "\"out\\n\"",
        "GoError: exit status 3 exit status 3,3,false [[101,114,114,10],null]",
        "GoError: exit status 3 exit status 3,3,false [[101,114,114,10],[111,117,116,10]]",
        "GoError: signal: killed signal: killed,-1,false [[],null]",
        "GoError: exec: \"no-such-program\": executable file not found in $PATH undefined [null,null]",
        "GoError: chdir /nope: no such file or directory undefined [null,null]",
        "\"\"",
        "TypeError: the second argument of command() is no array of arguments undefined [null,null]",
    ];
    assert_eq!(logged(source), expect);
}

#[test]
fn a_failure_ends_the_test() {
    let left = run("import exec from 'k6/x/exec';
        export default function () { try { exec.command('false'); } catch (error) { console.log('caught'); } }");
    assert_eq!(left.ends, [IterationEnd::Aborted]);
    assert_eq!(left.aborted.as_deref(), Some("test aborted: exit status 1 on command: false"));
    assert!(left.logs.is_empty(), "{:?}", left.logs);
}

#[test]
fn a_program_ends_with_its_iteration() {
    let source =
        "import exec from 'k6/x/exec'; export default function () { exec.command('sleep', ['20']); }";
    let left = cut(|| run(source));
    assert_eq!(left.ends, [IterationEnd::Interrupted]);
}

#[test]
fn programs_run_in_the_init_context_too() {
    let heard = Arc::new(Heard::default());
    let source = "import exec from 'k6/x/exec'; console.log(exec.command('echo', ['early']).trim());
        export default function () {}";
    load(source, &heard, &Arc::new(MetricRegistry::default()), "").expect("it loads");
    assert_eq!(heard.0.lock().unwrap().0, ["early"]);
}

struct Remote;

impl crate::Fetch for Remote {
    fn fetch(&self, _url: &str) -> Result<Vec<u8>, String> {
        Ok(b"import exec from 'k6/x/exec'; export const run = () => exec.command('echo', ['stolen']);
             export const pass = (call) => call('echo', ['stolen']);"
            .to_vec())
    }
}

/// Loads a script that calls what a remote module gives; the error.
fn refusal(allows_exec: bool, body: &str) -> String {
    let settings = Settings {
        env: Default::default(),
        metrics: Arc::default(),
        log: Arc::new(Heard::default()),
        secrets: Default::default(),
        outside: Outside { fetch: Some(Arc::new(Remote)), ..Outside::default() },
        memory: MemoryLimits::resolve(None, None, None),
        allows_exec,
        compat: Default::default(),
    };
    let text = format!("import exec from 'k6/x/exec';\n{body}\nexport default function () {{}}");
    let loaded = Bundle::load(Entry { path: "/scripts/test.js".into(), text }, settings);
    loaded.map(drop).expect_err("it is refused").to_string()
}

#[test]
fn programs_need_permission_and_a_local_caller() {
    let error = refusal(false, "exec.command('echo');");
    assert!(error.contains("add --allow-exec to `plimsoll run`"), "{error}");
    let error = refusal(true, "import { run } from 'https://x/a.js'; run();");
    assert!(error.contains("the remote module https://x/a.js asks to run a program"), "{error}");
    let error = refusal(true, "import { pass } from 'https://x/a.js'; pass(exec.command);");
    assert!(error.contains("the remote module https://x/a.js asks to run a program"), "{error}");
}
