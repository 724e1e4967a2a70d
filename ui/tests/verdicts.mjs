// What limits a scanner and how much load is safe for it, in the API's shapes: the worked case of the seeds' scan service.

const perMinute = (value) => ({ value: value / 60, text: `${Number((value / 60).toPrecision(3))}/s` });
const number = (value, text = String(value)) => ({ value, text });
const none = (why) => ({ value: null, text: `n/a: ${why}`, censored: `n/a: ${why}` });
const percent = (value) => number(value, `${(value * 100).toFixed(2)}%`);
const seconds = (value) => number(value * 1000, `${value}s`);
const vus = (value) => number(value, `${value} VUs`);
const measured = (name, value, unit, text, interval = null, note = '') => ({ name, value, unit, text, interval: interval && { low: interval[0], high: interval[1], text: `[${interval[0]} – ${interval[1]}]` }, note });

const STEPS = [
  [50, 198, 17.7, 0.997, 'baseline', 'Queues stay under 10 messages.'],
  [200, 367, 33.2, 0.998, 'past_knee', 'The first step over 30 s, by 3.2 s.'],
  [250, 417.6, 40.5, 0.999, 'slo_exceeded', 'The last step that adds throughput.'],
  [300, 402, 48.5, 0.999, 'slo_exceeded', 'Throughput −3.7 %, inside the noise.'],
  [400, 422.2, 62.2, 0.989, 'slo_exceeded', ''],
  [500, 438, 76.4, 0.94, 'collapse', '6.0 % of the scans never completed.'],
];
const WORDS = { baseline: 'baseline', past_knee: 'past the knee', slo_exceeded: 'SLO exceeded', collapse: 'collapse' };

function levelOf([load, throughput, p95, completed, verdict, remark], index, run) {
  const before = STEPS[index - 1];
  const kept = (limit) => ({ value: seconds(p95), isKept: p95 <= limit, holds: index === 1 && limit === 30 ? 0.2 : p95 <= limit ? 0.99 : 0.01, against: percent(p95 / limit - 1) });
  return {
    run: ['ab12cd01', 'ab12cd02', 'ab12cd03', 'ab12cd04', 'ab12cd05', run][index], name: '', purpose: index === 3 ? 'hold' : 'asked', load: vus(load), vus: vus(load), throughput: perMinute(throughput), requests: perMinute(throughput * 30),
    time: seconds(p95), failed: percent(1 - completed), gain: before ? percent(throughput / before[1] - 1) : none('the first step'), power: number(throughput / p95, (throughput / p95).toFixed(1)), measured: seconds(120), grade: 'valid', decides: true,
    objectives: [kept(30), kept(60), { value: percent(1 - completed), isKept: completed >= 0.99, holds: completed >= 0.99 ? 0.99 : 0, against: none('no scale') }], verdict, words: WORDS[verdict], remark,
  };
}

const line = (load, lower, upper, throughput) => ({ load: vus(load), interval: { lower, upper }, confidence: 0.95, place: 'inside', method: 'log_linear', throughput: perMinute(throughput) });

/** A study of six steps, of which the run is the last. */
export function capacityPage(run) {
  const levels = STEPS.map((step, index) => levelOf(step, index, run));
  levels.push({ ...levelOf([500, 367.9, 83.3, 1, 'slo_exceeded', 'Other nodes; 120 s were steady.'], 5, ''), gain: none('decides nothing'), decides: false, grade: 'degraded', verdict: 'unknown', words: 'unknown' });
  return {
    command: "plimsoll capacity scan-polling.js --slo 'scan_e2e: p(95)<30000'",
    study: {
      schemaVersion: '1.0.0', name: 'scan-40', kind: 'sweep', script: 'lab/scan/polling.js', loadTime: number(2_460_000, '41m0s'),
      parts: [{
        variant: '', unit: 'vus', verdict: 'confirmed', sentence: 'Maximum load: 169 VUs (confidence interval 152–187 VUs), limited by the SLO scan_e2e: p(95)<30000.', confirmed: 'By a hold of 5 min at 169 VUs: p95 29.4 s, 0 failed.', plan: 'Safe load: 122 VUs, 4.65/s (0.8 × the lower confidence bound).',
        objectives: [
          { text: 'scan_e2e: p(95)<30000', selector: 'scan_e2e', statistic: 'p(95)', limit: seconds(30), isTime: true, line: line(169, 152, 187, 332) },
          { text: 'scan_e2e: p(95)<60000', selector: 'scan_e2e', statistic: 'p(95)', limit: seconds(60), isTime: true, line: line(384, 371, 398, 419) },
          { text: 'scan_failed: rate<0.01', selector: 'scan_failed', statistic: 'rate', limit: percent(0.01), isTime: false, line: line(395, 300, 420, 421) },
        ],
        binding: 0, line: line(169, 152, 187, 332), recommended: { load: vus(122), vus: vus(122), throughput: perMinute(279), requests: perMinute(8370), headRoom: 0.8 },
        ceiling: { throughput: perMinute(421), interval: { lower: 6.9, upper: 7.1 }, plateau: { lower: 6.7, upper: 7.3 }, cycle: 15_152 }, knee: { lower: 79, upper: 106 },
        knees: [{ method: 'asymptotic_bounds', load: vus(79), interval: { lower: 79, upper: 106 }, isChosen: true }, { method: 'power', load: vus(50), interval: null, isChosen: false }, { method: 'usl', load: none('fewer than 6 levels'), interval: null, isChosen: false }],
        demands: [{ resource: 'prometheus: CPU of scan-worker', perWork: number(0.57, '0.57 CPU-s'), interval: { lower: 0.54, upper: 0.6 }, idle: number(0.07, '0.07 cores'), limit: number(4, '4 cores'), ceiling: perMinute(421), ceilingInterval: { lower: 6.67, upper: 7.4 }, levels: 6, fit: 0.99, used: percent(0.89) }],
        end: { resource: 'prometheus: CPU of scan-worker', ceiling: perMinute(421), interval: { lower: 6.67, upper: 7.4 }, used: percent(0.89) }, levels,
        captions: { throughput: 'Throughput leaves the no-waiting line between 79 and 106 VUs and is flat from 250 on.', time: 'From 250 to 500 VUs latency grows by 35.9 s and throughput by 4.9 %.', knee: 'The methods put the knee between 50 and 106 VUs.' },
        missing: [{ kind: 'repeats', sentence: 'Each step was measured once, so the variation between runs is unknown: add --repeat 3.' }],
      }],
    },
  };
}

/** A run that is a step of nothing. */
export const capacityNone = { study: null, command: "plimsoll capacity first-page.js --slo 'http_req_duration: p(95)<800' --slo 'http_req_failed: rate==0'" };

const QUERY = 'sum by (pod) (rate(container_cpu_usage_seconds_total{namespace="scan",\n  pod=~"scan-worker.*", container!="", image!=""}[30s]))';
const PARTS = [['scan.vision', 'waits', 18.9], ['scan.vision', 'works', 4.5], ['scan.rule', 'waits', 9.6], ['scan.answer', 'waits', 12.8], ['scan.answer', 'works', 6.7], ['scan.reward', 'waits', 5.9], ['network', 'travels', 0.8]];
const s = (name, value) => measured(name, value, 's', `${value} s`);

function timeOf() {
  const sum = PARTS.reduce((total, part) => total + part[2], 0);
  return {
    of: 'scan', count: 1336, mean: s('mean', 59.2), measured: s('measured', 59.2), waits: s('waiting', 47.2), waitsShare: 47.2 / sum,
    parts: PARTS.map(([name, does, mean]) => ({ name, does, mean: s(name, mean), share: mean / sum, low: does === 'waits' ? s(name, 0.4) : null })),
    ways: [
      { method: 'traces', from: '1,336 scans', waits: s('', 47.2), works: s('', 11.3), rest: s('', 0.7), sum: s('', 59.2), apart: 0 },
      { method: 'little', from: '289 waiting / 6.13/s', waits: s('', 47.1), works: s('', 11.3), rest: s('', 0.7), sum: s('', 59.1), apart: 0.002 },
      { method: 'logs', from: 'one pod of four', waits: s('', 47.9), works: s('', 11.29), rest: null, sum: s('', 59.2), apart: null },
    ],
    disagreement: 0.017, caveats: [],
  };
}

function demandOf() {
  const x = Array.from({ length: 46 }, (_, index) => (index < 22 ? 0.3 + index * 0.24 : 5.9 + (index % 12) * 0.09));
  return { used: 'CPU, cores', through: 'scans/s', x, y: x.map((one, index) => Math.min(3.9, 0.07 + 0.57 * one + 0.12 * Math.sin(index * 7))), slope: 0.57, slopeLow: 0.54, slopeHigh: 0.6, intercept: 0.07, limit: 4, caption: 'The line passes 3.56 cores at 6.2/s; the four limits add up to 4.' };
}

const finding = (more) => ({ detector: 'cpu-limit', label: 'CPU limit', place: 'scan-worker', explains: null, numbers: [], demand: null, queries: [], exemplars: [], ruledOut: [], flags: [], caveats: [], remedy: '', prediction: null, ...more });

/** What limits the run. */
export function diagnosisPage(run) {
  return {
    schemaVersion: '1.0.0', outcome: 'limited', headline: 'The CPU of scan-worker limits the run: four workers at 0.89 of their core.',
    runs: [{ id: run, grade: 'valid', throughput: measured('throughput', 6.13, '/s', '6.13/s'), mean: s('mean', 59.2) }], attribution: null, timeUses: [timeOf()],
    findings: [
      finding({
        title: 'scan-worker CPU is at its limit', summary: '0.89 of 1.0 core on 4 pods for 146 s; demand predicts 421/min, measured 402–438/min.', claim: 'Four workers with one core each can finish at most 421 scans a minute, so any load above it waits in the queues.', role: 'limits', strength: 'limit', explains: 0.8,
        numbers: [measured('CPU demand per scan', 0.57, 's', '0.57 CPU-s', [0.54, 0.6]), measured('Cores', 4, 'cores', '4 × 1.0', null, 'limit, 4 pods'), measured('Ceiling, cores ÷ demand', 421, '/min', '421/min', [400, 444]), measured('Measured plateau', 420, '/min', '402–438/min', null, 'inside')],
        demand: demandOf(), queries: [{ source: 'prometheus', signal: 'container_cpu', text: QUERY, run, from: '2026-01-27T03:57:11.7Z', to: '2026-01-27T03:59:37.7Z', tFrom: 40, tTo: 186, stepMs: 5000, points: 120 }],
        exemplars: [{ kind: 'trace', run, trace: '3e7037e3a1c94b62985d0f47c6d2aab1', text: '61.2 s, of it 48.1 s in queues' }, { kind: 'line', run, trace: '', text: 'scan.vision succeeded in 4.564s' }],
        ruledOut: [{ what: 'Throttling', why: 'no period was cut', number: '0 of 1,460 periods' }], flags: ['Ramp and drain are 45 % of the run.'], caveats: ['One run; how much runs differ is not known.'], remedy: 'Raise maxReplicaCount from 3 to 6; it needs 3 free cores.', cost: 'setting',
        prediction: { change: 'maxReplicaCount 3 → 6, 7 pods', now: measured('ceiling', 421, '/min', '421/min', [402, 438]), then: measured('ceiling', 737, '/min', '737/min', [690, 780]), nextLimit: 'the cores of the AI nodes, 7', wrongIf: 'the plateau stays under 500/min.', command: 'plimsoll sweep lab/scan/polling.js --vus 200,300,400,500 --target-version replicas-6' },
      }),
      finding({ title: 'Autoscaler ceiling: maxReplicaCount 3', summary: 'At its maximum from 0:14 on; the metric asked for 36 replicas.', claim: 'The autoscaler wanted more replicas than it may have for 204 of 218 s.', role: 'contributes', strength: 'limit', remedy: 'Raise maxReplicaCount.', cost: 'setting', numbers: [measured('At the maximum', 204, 's', '204 s', null, 'of 218 s')], queries: [{ source: 'prometheus', signal: 'hpa_replicas', text: 'kube_horizontalpodautoscaler_status_current_replicas', run, from: '2026-01-27T03:56:31Z', to: '2026-01-27T04:00:09Z', tFrom: 0, tTo: 218, stepMs: 5000, points: 44 }] }),
      finding({ title: 'Reward rate is 0.0 % while reward tasks succeed', summary: '1,336 tasks ran, 0 rewards were recorded.', claim: 'A functional fault; it does not change capacity.', role: 'outcome', strength: 'arithmetic', remedy: 'Fix the reward record.', cost: 'logic' }),
    ],
    findingsBeyond: 0, remedies: [{ cost: 'logic', text: 'Fix the reward record.', finding: 3 }, { cost: 'setting', text: 'Raise maxReplicaCount from 3 to 6; it needs 3 free cores.', finding: 1 }, { cost: 'resource', text: 'Add two 2-core AI nodes.', finding: 1 }],
    ruledOut: [['Worker slots full', 'X·S = 6.13/s × 11.29 s', '69 of 400 busy'], ['Rate limit of the vision API', 'scan.rule calls no API, yet backed up to 268', '0 × 429'], ['RabbitMQ', '0 alarms, 0 flow control', '4.5 % CPU'], ['Redis', '0 evictions, slow log empty', '102 MB'], ['PostgreSQL', '0 lock waits, 12 of 100 connections', '9 % CPU'], ['Load generator', 'lateness p99 0.8 ms', '29 % CPU']].map(([what, why, shown]) => ({ what, why, number: shown })),
    missing: [{ what: 'Profiles', tells: 'what the CPU is used for', connect: '[evidence.pyroscope]\nkind = "pyroscope"\naddress = "http://localhost:4040"' }], caveats: [],
  };
}

/** A run whose bottleneck cannot be determined. */
export const diagnosisNone = {
  schemaVersion: '1.0.0', outcome: 'cannot_tell', headline: 'INCONCLUSIVE: no server-side metrics were collected', runs: [], attribution: null, timeUses: [], findings: [], findingsBeyond: 0, remedies: [],
  ruledOut: [{ what: 'Load generator', why: 'lateness p99 0.8 ms', number: '29 % CPU' }],
  missing: [{ what: 'Traces', tells: 'where a request spends its time', connect: 'plimsoll run --otlp' }, { what: 'CPU with its limit', tells: 'whether a server is at its limit', connect: '[evidence.prometheus]\nkind = "prometheus"\naddress = "http://localhost:9090"' }], caveats: [],
};
