// What the modules export.
import * as k6 from 'k6';
import * as metrics from 'k6/metrics';
import * as data from 'k6/data';
import * as encoding from 'k6/encoding';
import * as execution from 'k6/execution';
import * as timers from 'k6/timers';

export default function () {
  for (const [name, module] of Object.entries({ k6, metrics, data, encoding, execution, timers })) {
    console.log(name, Object.keys(module).sort().join(), typeof module.default);
  }
}
