//! summary
// What handleSummary() can use.
import exec from 'k6/execution';

export default function () {}

export function handleSummary(data) {
  let scenario;
  try {
    scenario = exec.scenario.name;
  } catch (error) {
    scenario = 'refused';
  }
  console.log('in handleSummary', __VU, scenario);
  return { stdout: `${typeof data.state.testRunDurationMs} ${data.state.isStdOutTTY}\n` };
}
