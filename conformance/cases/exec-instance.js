// k6/execution: the instance.
import exec from 'k6/execution';

export const options = { vus: 1, iterations: 2 };

export default function () {
  const i = exec.instance;
  console.log(i.iterationsCompleted, i.iterationsInterrupted, i.vusActive, i.vusInitialized);
  console.log(i.currentTestRunDuration >= 0, i.currentTestRunDuration < 5000);
}
