// Answers of the API for made-up runs. Used by the server of the tests, and for report files.

import { readFileSync } from 'node:fs';
import { documentPage } from './document.mjs';
import { capacityNone, capacityPage, diagnosisNone, diagnosisPage } from './verdicts.mjs';
import { chainPage, HUGE, hugePage, SCAN, scanPage, servicesPage, tracesPage } from './traces.mjs';

export const RUN = 'ab12cd08';
export const LIVE = 'ab12cd09';
const SECONDS_LIVE = 200;

const fixtures = new Map();
function fixture(name) {
  if (!fixtures.has(name)) fixtures.set(name, readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8'));
  return JSON.parse(fixtures.get(name));
}

const PARTS = ['series', 'requests', 'distribution', 'errors', 'logs', 'generator', 'validity', 'fleet', 'audit', 'thresholds', 'evidence'];

// Made by functions and not read from a file; their texts that others choose are under other names.
const MADE = { traces: tracesPage, services: servicesPage };
const CHOSEN_IN_TRACES = new Set(['service', 'operation', 'peer', 'statement', 'services', 'operations', 'value']);

/** The answer to a path below `/api/v1`, or undefined. */
export function answersOf(path, query, { isLive }) {
  if (path === 'tick') return fixture('tick');
  if (path === '/about') return fixture('about');
  if (path === '/compare') return query.get('a') && query.get('b') ? compared(query) : undefined;
  if (path === '/history') return fixture('history');
  if (path === '/runs') return list(query, isLive);
  const [, , run, part, trace] = path.split('/');
  if (known(run) && (part === 'capacity' || part === 'diagnosis')) return verdictOf(run, part);
  if (known(run) && part === 'report') return run === 'hostile' ? nasty(documentPage(), new Set(['text', 'lines', 'title'])) : documentPage();
  if (known(run) && (part in MADE)) return made(run, part, trace, query);
  if (!known(run) || (part !== undefined && !PARTS.includes(part))) return undefined;
  const answer = windowed(part ?? 'run', part === undefined ? page(run, isLive) : fixture(part), query, run === LIVE && isLive);
  if (run === 'hostile') return part === 'evidence' ? nastyEvidence(nasty(answer, CHOSEN_IN_EVIDENCE)) : nasty(answer);
  if (run === 'empty') return emptied(part ?? 'run', answer);
  return run === 'closed' ? closed(part ?? 'run', answer) : answer;
}

/** Two sides, or several against the first: the second side with what it has, and others that cannot be judged. */
function compared(query) {
  const answer = fixture('compare');
  const others = ['c', 'd', 'e', 'f', 'g', 'h'].filter((letter) => query.get(letter));
  if (others.length === 0) return answer;
  const { rows, b, verdict } = answer.comparison;
  const cell = (text, row) => ({ value: text.b, change: text.change.split(' ')[0], verdict: row.verdict, verdictText: text.verdict });
  const unjudged = (text, place) => (place % 2 === 0 ? null : { value: text.b, change: '–', verdict: 'not_available', verdictText: 'not available (shorter than 20 s)' });
  const side = (letter, sentence, judged) => ({ letter, runs: b.map((run) => ({ ...run, id: query.get(letter.toLowerCase()) })), verdict: judged, sentence });
  const several = {
    verdict,
    sides: [side('B', answer.sentence, verdict), ...others.map((letter) => side(letter.toUpperCase(), 'Nothing could be judged: shorter than 20 s.', 'inconclusive'))],
    rows: answer.texts.map((text, place) => ({ series: text.series, figure: text.figure, baseline: text.a, cells: [cell(text, rows[place]), ...others.map(() => unjudged(text, place))] })),
    evidence: answer.evidence.map((row) => ({ series: row.subject, figure: row.figure, baseline: row.a, cells: [{ value: row.b, change: row.change, verdict: null, verdictText: '' }, ...others.map(() => ({ value: '–', change: '–', verdict: null, verdictText: '' }))] })),
    findings: [{ sides: 'C: ', refuses: true, sentence: 'VU counts differ: 120 and 10' }, { sides: '', refuses: false, sentence: 'both workloads are closed' }],
    caveats: [`Verdicts hold over all ${others.length + 1} comparisons together.`],
  };
  return { ...answer, several };
}

function made(run, part, trace, query) {
  if (run === 'closed' && part === 'services') return chainPage();
  // Every trace of the list is there; but for the huge one they are alike.
  const isListed = (id) => tracesPage(new URLSearchParams()).exemplars.some((one) => one.id === id);
  if (trace !== undefined && trace !== SCAN && trace !== HUGE && !isListed(trace)) return undefined;
  const answer = trace === HUGE ? hugePage() : trace !== undefined ? scanPage() : MADE[part](query);
  if (run === 'hostile') return nastyTraces(answer);
  return run === 'empty' ? { ...emptied(part, answer), total: 0 } : answer;
}

const CHOSEN_IN_VERDICTS = new Set(['of', 'from', 'name', 'title', 'claim', 'summary', 'label', 'place', 'used', 'through', 'signal', 'source', 'what', 'why', 'number', 'change', 'nextLimit', 'wrongIf', 'command', 'remedy', 'connect', 'tells', 'resource', 'variant', 'script', 'selector', 'sentence', 'plan', 'confirmed', 'remark', 'words', 'note', 'headline', 'caveats', 'flags', 'caption']);

/** Only two runs are steps of a study; one on which nothing was measured has no known limit. */
function verdictOf(run, part) {
  if (part === 'diagnosis') {
    const answer = run === 'empty' ? diagnosisNone : diagnosisPage(run);
    return run === 'hostile' ? nasty(answer, CHOSEN_IN_VERDICTS) : answer;
  }
  if (run !== RUN && run !== 'hostile') return capacityNone;
  return run === 'hostile' ? nasty(capacityPage(run), CHOSEN_IN_VERDICTS) : capacityPage(run);
}

function nastyTraces(answer) {
  const result = nasty(answer, CHOSEN_IN_TRACES);
  const names = [...(result.stages ?? []), ...(result.places ?? []).filter((place) => place.name !== ''), ...(result.rows ?? []).flatMap((row) => row.attributes ?? [])];
  names.forEach((named, index) => (named.name = `${NASTY[index % NASTY.length]} ${index}`));
  return result;
}

function known(run) {
  return ['hostile', 'empty', 'closed'].includes(run) || fixture('runs').runs.some((row) => row.id === run);
}

function list(query, isLive) {
  const all = fixture('runs');
  const extra = { ...all.runs[1], id: 'hostile', name: '', started: '2026-11-01T10:00:00Z' };
  const rows = [...all.runs, nasty(extra)].map((row) => (row.id === LIVE && !isLive ? { ...row, status: 'failed', state: 'complete' } : row));
  const status = query.get('status');
  const script = query.get('script') ?? '';
  const tag = query.get('tag');
  const runs = rows.filter(
    (row) =>
      (!status || row.status === status) && row.script.includes(script) &&
      (!tag || row.tags.some(({ name, value }) => `${name}=${value}` === tag)),
  );
  return { ...all, runs, before: null };
}

function page(run, isLive) {
  const answer = fixture('run');
  answer.report.run.id = run;
  if (run === LIVE && isLive) {
    answer.report.run.state = 'live';
    answer.report.run.name = '';
    answer.status = 'live';
    answer.ended = null;
    answer.seconds = SECONDS_LIVE;
    answer.report.outcome = null;
  }
  return answer;
}

function windowed(part, answer, query, isLive) {
  const from = Number(query.get('from') ?? 0);
  const to = Number(query.get('to') ?? (isLive ? SECONDS_LIVE : 1e9));
  if (part === 'series') {
    const keep = answer.t.map((second) => second >= from && second < to);
    const cut = (values) => values.filter((_, index) => keep[index]);
    for (const value of Object.values(answer)) if (Array.isArray(value?.values)) Object.assign(value, { values: cut(value.values), notes: [] });
    for (const value of Object.values(answer.latency)) if (Array.isArray(value?.values)) value.values = cut(value.values);
    for (const kind of [...answer.errors, ...answer.statuses]) kind.values = cut(kind.values);
    answer.latency.count = cut(answer.latency.count);
    answer.width = cut(answer.width);
    answer.t = cut(answer.t);
  }
  if (part === 'run' && query.has('from')) {
    answer.window = { from, to: Math.min(to, answer.seconds), isWhole: false };
    answer.headline.figures.requests = { value: (to - from) * 100, text: String((to - from) * 100) };
  }
  if (part === 'evidence') {
    for (const series of answer.lanes.flatMap((lane) => lane.series)) {
      const keep = series.t.map((second) => second >= from && second < to);
      series.values = series.values.filter((_, index) => keep[index]);
      series.t = series.t.filter((_, index) => keep[index]);
    }
  }
  if (part === 'logs') {
    const wanted = (query.get('q') ?? '').toLowerCase();
    answer.lines = answer.lines.filter((line) => line.message.toLowerCase().includes(wanted) && (!query.get('level') || line.level === query.get('level')));
  }
  return answer;
}

const LONG = `https://example.test/${'x'.repeat(1_000_000)}?q=1`;
const NASTY = [
  '</script><script>window.__hacked=1</script>',
  '<img src=x onerror="window.__hacked=1">',
  '\u001b[31mred\u001b[0m \u0007 \u202eetad\u202c \u2066x\u2069',
  '"><svg onload=window.__hacked=1>',
  '{{constructor.constructor("window.__hacked=1")()}} ${window.__hacked=1}',
  'javascript:window.__hacked=1',
  LONG,
];
const CHOSEN_BY_OTHERS = new Set([
  'name', 'script', 'message', 'example', 'url', 'note', 'targetVersion', 'method', 'status', 'errorCode', 'error', 'condition', 'metric',
  'commit', 'command', 'claim', 'remedy', 'implies', 'place', 'says', 'sentence', 'line', 'kind', 'executor', 'file', 'why', 'series', 'source',
]);

const CHOSEN_IN_EVIDENCE = new Set([...CHOSEN_BY_OTHERS, 'label', 'subject', 'reason', 'trouble', 'queue', 'task', 'event', 'title', 'address', 'sources']);

/** The same with every text that others choose replaced by nasty ones. */
export function nasty(value, chosen = CHOSEN_BY_OTHERS) {
  let next = 0;
  const walk = (inner, key) => {
    if (Array.isArray(inner)) return inner.map((element) => walk(element, key));
    if (inner && typeof inner === 'object') return Object.fromEntries(Object.entries(inner).map(([name, element]) => [name, walk(element, name)]));
    if (typeof inner !== 'string' || !chosen.has(key)) return inner;
    next += 1;
    // A text of a megabyte once in a while is enough.
    const index = next % 23 === 0 ? NASTY.length - 1 : next % (NASTY.length - 1);
    return `${NASTY[index]} ${next}`;
  };
  return walk(value, '');
}

// A text of a number is the program's own, and a text of these is not; the kind of a stage is.
function nastyEvidence(answer) {
  for (const stage of answer.ways.flatMap((way) => way.parts)) stage.kind = 'queue';
  for (const row of [...answer.story, ...answer.statements, ...answer.happenings]) row.text = `${NASTY[row.text.length % NASTY.length]} ${row.text}`;
  for (const lane of answer.lanes) lane.queries = lane.queries.map((query) => `${NASTY[query.length % NASTY.length]} ${query}`);
  return answer;
}

function emptied(part, answer) {
  if (part === 'run') {
    answer.report.validity = null;
    answer.headline.grade = null;
    answer.headline.strip = [];
    for (const key of ['thresholds', 'metrics', 'checks', 'scenarios', 'groups', 'endpoints', 'errors', 'exemplars', 'environment']) answer.report[key] = [];
    return answer;
  }
  const clear = (value) => {
    for (const [key, inner] of Object.entries(value)) {
      if (Array.isArray(inner)) value[key] = [];
      else if (inner && typeof inner === 'object') clear(inner);
    }
    return value;
  };
  const cleared = clear(answer);
  return part === 'requests' ? { ...cleared, total: null } : cleared;
}

function closed(part, answer) {
  if (part === 'run') answer.noResponseTime = 'There is no response time: every scenario is a closed loop.';
  if (part === 'series') {
    answer.latency.metric = 'http_req_duration';
    for (const name of ['offered', 'dropped']) answer[name] = { values: answer.t.map(() => null), notes: [{ from: 0, to: answer.t.length, why: 'unplanned' }] };
    // Half a minute was lost.
    const keep = answer.t.map((second) => second < 90 || second >= 120);
    const cut = (values) => values.filter((_, index) => keep[index]);
    for (const value of Object.values(answer)) if (Array.isArray(value?.values)) value.values = cut(value.values);
    for (const value of Object.values(answer.latency)) if (Array.isArray(value?.values)) value.values = cut(value.values);
    for (const kind of [...answer.errors, ...answer.statuses]) kind.values = cut(kind.values);
    answer.latency.count = cut(answer.latency.count);
    answer.width = cut(answer.width);
    answer.t = cut(answer.t);
  }
  return answer;
}

/** The data of a report file about a run. */
export function reportData(lang = 'en', run = RUN) {
  const none = new URLSearchParams();
  const answers = { '/api/v1/about': { ...fixture('about'), mode: 'report', run, canWrite: false } };
  answers[`/api/v1/runs/${run}`] = answersOf(`/runs/${run}`, none, { isLive: false });
  for (const part of [...PARTS, 'traces', `traces/${SCAN}`, 'services', 'capacity', 'diagnosis', 'report']) answers[`/api/v1/runs/${run}/${part}`] = answersOf(`/runs/${run}/${part}`, none, { isLive: false });
  return { lang, answers };
}
