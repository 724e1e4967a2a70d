// Traces like those of the scanner: a submission, four steps that wait in queues, a model that is slow, and one statement that
// runs 34 times. And a trace of 5,000 spans.

export const SCAN = '3e7037e3a1c94b62985d0f47c6d2aab1';
export const HUGE = '50005000500050005000500050005000';

const PARTS = ['network', 'target', 'database', 'external', 'queue', 'unseen'];

function ms(value) {
  const cut = (number) => String(Math.trunc(number * 100) / 100);
  const text = value < 1000 ? `${cut(value)}ms` : value < 60_000 ? `${cut(value / 1000)}s` : `${Math.trunc(value / 60_000)}m${Math.trunc((value % 60_000) / 1000)}s`;
  return { value, text: value === 0 ? '0s' : text };
}

const share = (value) => ({ value, text: `${(Math.trunc(value * 10_000) / 100).toFixed(2)}%` });
const number = (value) => ({ value, text: String(value) });
const perSecond = (value) => ({ value, text: `${Number(value.toFixed(6))}/s` });
const none = (why) => ({ value: null, text: `n/a: ${why}`, censored: `n/a: ${why}` });

/** Rows out of spans as `[depth, start, length, service, operation, part, more]`, in the order in which they are drawn. */
function rowsOf(spans) {
  const above = [];
  return spans.map(([depth, start, length, service, operation, part, more = {}], index) => {
    above[depth] = index;
    return {
      kind: 'span', id: (index + 1).toString(16).padStart(16, '0'), parent: depth > 0 ? above[depth - 1] : null, depth, service, operation, side: 'internal', peer: '', part,
      start, length, duration: ms(length), own: ms(length / 2), onPath: ms(length / 3), isError: false, count: 1, isRepeated: false, statement: null, attributes: [], ...more,
    };
  });
}

const STAGES = [
  ['scan.vision', 18_618, 4_560, 4_470],
  ['scan.rule', 9_410, 42, 0],
  ['scan.answer', 12_578, 6_720, 6_610],
  ['scan.reward', 5_880, 48, 0],
];
const STATEMENT = 'SELECT * FROM character WHERE id = ';

/** The trace of one scan. */
export function scanPage() {
  const spans = [[0, 0, 142, 'scan-api', 'POST /api/v1/scan', 'target', { side: 'server', attributes: [{ name: 'http.route', value: '/api/v1/scan' }, { name: 'http.response.status_code', value: '202' }] }]];
  spans.push([1, 18, 12, 'scan-api', 'SETEX scan:state', 'database', { side: 'client', peer: 'redis', statement: 'SETEX scan:state 3600 ?' }]);
  spans.push([1, 88, 14, 'scan-api', 'publish scan.vision', 'queue', { side: 'producer', peer: 'scan.vision' }]);
  const path = [{ row: 0, kind: 'work', part: 'target', start: 0, end: 142 }];
  const stretches = [{ start: 0, end: 142, duration: ms(142), isWait: false }];
  let now = 142;
  for (const [queue, wait, work, call] of STAGES) {
    path.push({ row: spans.length, kind: 'queue', part: 'queue', start: now, end: now + wait });
    stretches.push({ start: now, end: now + wait, duration: ms(wait), isWait: true });
    spans.push([1, now, wait, 'scan-worker', queue, 'queue', { kind: 'wait' }]);
    now += wait;
    const row = spans.length;
    spans.push([1, now, work, 'scan-worker', `process ${queue}`, 'target', { side: 'consumer', peer: queue, attributes: [{ name: 'messaging.message.id', value: '7f1c' }] }]);
    if (call > 0) {
      path.push({ row, kind: 'work', part: 'target', start: now, end: now + 50 }, { row: row + 1, kind: 'work', part: 'external', start: now + 50, end: now + 50 + call }, { row, kind: 'work', part: 'target', start: now + 50 + call, end: now + work });
      spans.push([2, now + 50, call, 'scan-worker', 'POST /v1/responses', 'external', { side: 'client', peer: 'api.openai.com' }]);
    } else path.push({ row, kind: 'work', part: 'target', start: now, end: now + work });
    stretches.push({ start: now, end: now + work, duration: ms(work), isWait: false });
    if (queue === 'scan.reward') {
      const fold = { kind: 'fold', count: 34, isRepeated: true, statement: `${STATEMENT}?`, duration: ms(31), peer: 'postgresql', side: 'client' };
      spans.push([2, now + 7, 33.5, 'scan-worker', 'SELECT character', 'database', fold]);
      for (let at = 0; at < 34; at += 1) spans.push([3, now + 7 + at * 0.98, 0.91, 'scan-worker', 'SELECT character', 'database', { peer: 'postgresql', side: 'client', isRepeated: true, statement: `${STATEMENT}${1000 + at}` }]);
      spans.push([2, now + 42, 4, 'scan-worker', 'INSERT INTO reward_event', 'database', { peer: 'postgresql', side: 'client', isError: true, statement: 'INSERT INTO reward_event VALUES ($1, $2)' }]);
    }
    now += work;
  }
  path.push({ row: spans.length, kind: 'between', part: 'unseen', start: now, end: now + 742 });
  stretches.push({ start: now, end: now + 742, duration: ms(742), isWait: false });
  spans.push([1, now, 742, 'scan-api', '', 'unseen', { kind: 'wait' }]);
  spans.push([1, 2040, now + 700 - 2040, 'scan-api', 'GET /api/v1/scan/{id}', 'target', { kind: 'fold', count: 29, side: 'server', duration: ms(3020) }]);
  for (let at = 0; at < 29; at += 1) spans.push([2, 2040 + at * 2000, 104, 'scan-api', 'GET /api/v1/scan/{id}', 'target', { side: 'server' }]);
  const whole = now + 742;
  const rows = rowsOf(spans);
  return {
    ...about(SCAN, 98, whole, rows), path, stretches, parts: partsOf(path, whole),
    repeats: [{ row: rows.findIndex((row) => row.kind === 'fold'), statement: `${STATEMENT}?`, parent: 'process scan.reward', count: 34, total: ms(31), mean: ms(0.91), share: share(31 / whole), without: ms(whole - 31) }],
    flaws: [{ name: 'cut', count: 2 }],
  };
}

/** A trace of 5,000 spans, many levels deep. */
export function hugePage() {
  const spans = [[0, 0, 5000, 'gateway', 'GET /everything', 'target', { side: 'server' }]];
  const path = [];
  for (let at = 1; at < 5000; at += 1) {
    const depth = 1 + ((at - 1) % 12);
    const isQuery = depth === 12;
    spans.push([depth, Math.floor(at / 12) * 12 + depth * 0.1, 11 - depth * 0.2, `service-${at % 7}`, isQuery ? 'SELECT item' : `work ${depth}`, isQuery ? 'database' : 'target', isQuery ? { peer: 'postgresql', side: 'client', statement: 'select 1' } : {}]);
    if (depth === 1) path.push({ row: at, kind: 'work', part: 'target', start: Math.floor(at / 12) * 12, end: Math.floor(at / 12) * 12 + 12 });
  }
  return { ...about(HUGE, 130, 5000, rowsOf(spans)), path, stretches: [{ start: 0, end: 5000, duration: ms(5000), isWait: false }], parts: [{ name: 'target', duration: ms(5000), share: share(1), count: 417 }], repeats: [], flaws: [] };
}

function about(id, t, whole, rows) {
  const spans = rows.filter((row) => row.kind === 'span');
  return {
    id, t, at: '2026-11-02T03:58:09.000Z', kept: 'sample', service: rows[0].service, operation: rows[0].operation, duration: ms(whole), answer: rows[0].duration,
    spans: spans.length, errors: spans.filter((row) => row.isError).length, services: [...new Set(spans.map((row) => row.service))], rows, leftOut: 0, bare: 0,
  };
}

function partsOf(path, whole) {
  const of = (name) => path.filter((piece) => piece.part === name);
  const sum = (name) => of(name).reduce((total, piece) => total + piece.end - piece.start, 0);
  return PARTS.filter((name) => sum(name) > 0).map((name) => ({ name, duration: ms(sum(name)), share: share(sum(name) / whole), count: new Set(of(name).map((piece) => piece.row)).size }));
}

const SAMPLE = { share: share(0.05), sampled: 118, errors: 9, slowest: 20, buckets: 14 };

/** The list, as a search finds it. */
export function tracesPage(query) {
  const scan = scanPage();
  const whole = scan.duration.value;
  const rows = [];
  for (let at = 0; at < 160; at += 1) {
    const length = at === 0 ? whole : 11_600 + 83_300 * Math.abs(Math.sin(at * 12.9898)) ** 2;
    const waits = 0.55 + 0.3 * (length / 95_000);
    rows.push({
      id: at === 0 ? SCAN : at === 1 ? HUGE : `${(at * 7919).toString(16).padStart(8, '0')}${'0123456789abcdef'.repeat(2).slice(0, 24)}`,
      t: 4 + at * 1.3, at: new Date(Date.UTC(2026, 10, 2, 3, 56, 35 + at)).toISOString(), service: 'scan-api', operation: 'POST /api/v1/scan', duration: ms(length), answer: ms(142 + at),
      place: share(Math.min(0.999, length / 95_000)), errors: at % 17 === 3 ? 1 : 0, spans: 80 + (at % 40), kept: at % 17 === 3 ? 'error' : at % 8 === 5 ? 'slowest' : at % 11 === 7 ? 'bucket' : 'sample',
      parts: [0, 0.02, 0.01, 0.97 - waits - 0.01, waits, 0.01],
    });
  }
  rows.sort((a, b) => b.duration.value - a.duration.value);
  const traces = rows.filter(
    (row) => (!query.get('kept') || row.kept === query.get('kept')) && (!query.get('status') || (row.errors > 0) === (query.get('status') === 'error')) && row.duration.value >= Number(query.get('min_ms') ?? 0) && (!query.get('q') || `${row.operation} ${row.id}`.toLowerCase().includes(query.get('q').toLowerCase())),
  );
  const exemplar = (name, row) => ({ name, id: row.id, duration: row.duration });
  const stages = STAGES.flatMap(([queue, wait, work]) => [{ kind: 'queue', name: queue, traces: 118, mean: ms(wait), p95: none('fewer than 10 samples beyond it'), share: share(wait / whole) }, { kind: 'work', name: queue, traces: 118, mean: ms(work), p95: none('fewer than 10 samples beyond it'), share: share(work / whole) }]);
  return {
    total: rows.length, matching: traces.length, leftOut: 0, sample: SAMPLE, services: ['scan-api', 'scan-worker'], operations: ['GET /api/v1/scan/{id}', 'POST /api/v1/scan'],
    exemplars: traces.length === 0 ? [] : [exemplar('fastest', traces.at(-1)), exemplar('typical', rows.find((row) => row.id === SCAN) ?? traces[0]), exemplar('slowest', traces[0])],
    traces, parts: scan.parts, averaged: 118, isBiased: false, mean: ms(whole),
    stages: [{ kind: 'work', name: 'POST /api/v1/scan', traces: 118, mean: ms(142), p95: ms(180), share: share(142 / whole) }, ...stages],
    difference: {
      operation: 'POST /api/v1/scan', fast: 59, slow: 6, fastMax: ms(52_000), slowMin: ms(91_000),
      rows: STAGES.map(([queue, wait, work]) => ({ service: 'scan-worker', operation: `process ${queue}`, kind: 'queue', fast: ms(wait * 0.6), slow: ms(wait * 1.6), more: ms(wait) })),
    },
  };
}

/** A chain in which every step has a queue and a worker of its own, which is longer than a card is wide. */
export function chainPage() {
  const whole = servicesPage();
  const like = (key, name, kind) => ({ ...whole.places.find((place) => place.key === key), key: `${kind}:${name}`, kind, name });
  const edge = (from, to) => ({ ...whole.edges[0], from, to });
  const places = [whole.places[0], whole.places[1], like('database:redis', 'redis', 'database')];
  const edges = [edge('outside:', 'service:scan-api'), edge('service:scan-api', 'database:redis')];
  let before = 'service:scan-api';
  for (const [queue] of STAGES) {
    const [from, worker] = [`queue:${queue}`, `service:${queue}-worker`];
    places.push(like('queue:scan.vision', queue, 'queue'), like('service:scan-worker', `${queue}-worker`, 'service'));
    edges.push(edge(before, from), edge(from, worker), edge(worker, 'database:redis'));
    before = worker;
  }
  return { ...whole, places, edges };
}

/** Service map. */
export function servicesPage() {
  const place = (kind, name, rate, p95, failed = 0) => ({ key: `${kind}:${name}`, kind, name, rate: perSecond(rate), failed: share(failed), p50: ms(p95 / 2), p95: ms(p95) });
  const edge = (from, to, rate, p95, failed = 0) => ({ from, to, count: number(Math.round(rate * 40)), rate: perSecond(rate), failed: share(failed), p50: ms(p95 / 2), p95: ms(p95) });
  const operation = (service, name, side, count, p95, failed = 0) => ({ service, operation: name, side, count: number(count), rate: perSecond(count / 218), failed: number(failed), failedShare: share(failed / count), p50: ms(p95 / 2), p95: ms(p95), p99: count > 1000 ? ms(p95 * 1.4) : none('fewer than 10 samples beyond it'), max: ms(p95 * 3) });
  const worker = 'service:scan-worker';
  return {
    requests: { value: 289, text: '289/s' }, window: { from: 0, to: 218, isWhole: true }, sample: SAMPLE, leftOut: 0, operationsLeftOut: 0,
    places: [place('outside', '', 7.02, 320), place('service', 'scan-api', 210.4, 42), place('service', 'scan-worker', 28.1, 6_900, 0.004), ...STAGES.map(([queue, wait]) => place('queue', queue, 7.02, wait)), place('database', 'postgresql scan', 239, 1.2), place('database', 'redis', 246, 0.8), place('external', 'api.openai.com', 14.04, 6_600, 0.012)],
    edges: [
      edge('outside:', 'service:scan-api', 210.4, 42), edge('service:scan-api', 'database:redis', 210.4, 0.8), edge('service:scan-api', 'queue:scan.vision', 7.02, 6), edge('queue:scan.vision', worker, 7.02, 18_618),
      ...STAGES.slice(1).flatMap(([queue, wait]) => [edge(worker, `queue:${queue}`, 7.02, 4), edge(`queue:${queue}`, worker, 7.02, wait)]),
      edge(worker, 'external:api.openai.com', 14.04, 6_600, 0.012), edge(worker, 'database:postgresql scan', 239, 1.2), { ...edge(worker, 'database:redis', 28, 0.8), rate: none('not in the unbiased sample') },
    ],
    operations: [operation('scan-worker', 'SELECT character', 'client', 52_020, 1.2), operation('scan-api', 'GET /api/v1/scan/{id}', 'server', 44_382, 31), operation('scan-worker', 'POST /v1/responses', 'client', 3_060, 6_600, 37), operation('scan-api', 'POST /api/v1/scan', 'server', 1_530, 142), ...STAGES.map(([queue, , work]) => operation('scan-worker', `process ${queue}`, 'consumer', 1_530, work, queue === 'scan.answer' ? 6 : 0)), operation('scan-worker', 'INSERT INTO reward_event', 'client', 512, 4)],
  };
}
