//! ours: --allow-exec
// k6/x/exec: programs, their output and their failures.
import exec from 'k6/x/exec';

const show = (run) => {
  try { console.log(JSON.stringify(run())); } catch (error) {
    const { process_state: state, stderr, stdout } = error.value ?? {};
    console.log(String(error).split('\n')[0], state && [String(state), state.exitCode(), state.success()].join(), JSON.stringify([stderr, stdout]));
  }
};
const sh = (text, options) => exec.command('sh', ['-c', text], options);

export default function () {
  show(() => exec.command('echo', ['a b', 1, true]));
  show(() => sh('echo $FOO; pwd', { env: ['FOO=bar'], dir: '/' }));
  show(() => sh('echo out; echo err >&2', { combine_output: true }));
  show(() => sh('echo out'));
  show(() => sh('echo out; echo err >&2; exit 3', { continue_on_error: true }));
  show(() => sh('echo out; echo err >&2; exit 3', { continue_on_error: true, include_stdout_on_error: true }));
  show(() => sh('kill -9 $$', { continue_on_error: true }));
  show(() => exec.command('no-such-program', [], { continue_on_error: true }));
  show(() => exec.command('cat'));
}
