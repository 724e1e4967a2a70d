// The request tree, added up anew from `export`: what the page's numbers are held to where no verb prints them.

import { brief, duration, percent, plain } from '../../src/format';
import { says } from './real';

/** A series in a second, as `export --format json` writes it. */
export interface WindowRow {
  second: number;
  seconds: number;
  metric: string;
  type: string;
  count: number;
  sum?: number;
  passes?: number;
  unmeasured: number;
  min?: number;
  max?: number;
  value?: number;
  tags: Record<string, string>;
}

/** All series of all seconds of a run. */
export function windowsOf(run: string): WindowRow[] {
  return (JSON.parse(says('export', run, '--format', 'json')) as { windows: WindowRow[] }).windows;
}

/** Rows of `export --format csv` as fields by the name of their column. */
export function csvOf(run: string): Record<string, string>[] {
  const [head = [], ...rows] = says('export', run, '--format', 'csv').trimEnd().split(/\r?\n/).map(fields);
  return rows.map((row) => Object.fromEntries(head.map((name, index) => [name, row[index] ?? ''])));
}

// RFC 4180 within one line: the export has no line breaks in its fields.
function fields(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((match) => (match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll('""', '"')));
}

/** More than the relative error of a sum of floats. */
const ROUNDING = 1e-12;
/** The phases of a request: as the export names them, and as the page does. */
const PHASES = [
  ['blocked', 'blocked'],
  ['looking_up', 'DNS lookup'],
  ['connecting', 'connecting'],
  ['tls_handshaking', 'TLS'],
  ['sending', 'sending'],
  ['waiting', 'waiting'],
  ['receiving', 'receiving'],
] as const;

/** What requests of one place in the tree add up to. */
export interface Sum {
  requests: number;
  failed: number;
  /** Samples with a time, and those that were not measured to their end. */
  timed: number;
  unmeasured: number;
  /** Durations, ns: whole numbers, so that adding them up loses nothing. */
  sumNs: bigint;
  max: number;
  /** Sums of phases, ns. */
  phasesNs: Record<string, bigint>;
  /** By status. */
  statuses: Record<string, number>;
}

/** Sums by the path of their place: scenario, groups, `METHOD name`. */
export function tree(windows: WindowRow[], from = 0, to = Infinity): Map<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const row of windows) {
    if (!row.metric.startsWith('http_req') || row.second < from || row.second >= to) continue;
    const { scenario = '', group = '', method = '', name = '' } = row.tags;
    const path = [scenario, ...group.split('::').filter(Boolean), `${method} ${name}`];
    for (let depth = 0; depth <= path.length; depth += 1) add(sums, path.slice(0, depth), row);
  }
  return sums;
}

/** How the paths of `tree` are written. */
export function pathOf(names: string[]): string {
  return names.join(' > ');
}

function add(sums: Map<string, Sum>, path: string[], row: WindowRow): void {
  const key = pathOf(path);
  const sum = sums.get(key) ?? { requests: 0, failed: 0, timed: 0, unmeasured: 0, sumNs: 0n, max: 0, phasesNs: {}, statuses: {} };
  sums.set(key, sum);
  const status = row.tags['status'] ?? '';
  if (row.metric === 'http_reqs') {
    sum.requests += row.count;
    sum.statuses[status] = (sum.statuses[status] ?? 0) + row.count;
  } else if (row.metric === 'http_req_failed') {
    sum.failed += row.passes ?? 0;
  } else if (row.metric === 'http_req_duration') {
    sum.timed += row.count - row.unmeasured;
    sum.unmeasured += row.unmeasured;
    sum.sumNs += ns(row.sum);
    sum.max = Math.max(sum.max, row.max ?? 0);
  } else {
    const [phase] = PHASES.find(([known]) => row.metric === `http_req_${known}`) ?? [];
    if (phase) sum.phasesNs[phase] = (sum.phasesNs[phase] ?? 0n) + ns(row.sum);
  }
}

function ns(ms: number | undefined): bigint {
  return BigInt(Math.round((ms ?? 0) * 1e6));
}

/** A quotient of whole numbers as the nearest float. */
function mean(totalNs: bigint, count: number): number {
  return Number(totalNs) / 1e6 / count;
}

/**
 * The text of a mean, given what is shown. The product adds up milliseconds as floats and cuts digits off, so that a mean of
 * 24.2 µs may be 24.19 µs there: a text within that rounding is returned as it is.
 */
function meanText(ms: number, shown = ''): string {
  const close = [1 - ROUNDING, 1 + ROUNDING].map((factor) => duration(ms * factor));
  return close.includes(shown) ? shown : duration(ms);
}

/** The texts that a row of the tree has to show; statistics of samples that were not measured to their end are not known here. */
export function textsOf(sum: Sum, total: Sum, elapsedMs: number, shown: Record<string, string | undefined> = {}): Record<string, string> {
  const texts: Record<string, string> = {
    requests: plain(sum.requests),
    rate: brief(sum.requests / (elapsedMs / 1000), 'per_second'),
    failed: plain(sum.failed),
    share: percent(Number(sum.sumNs) / Number(total.sumNs)),
  };
  if (sum.unmeasured > 0 || sum.timed === 0) return texts;
  return { ...texts, avg: meanText(mean(sum.sumNs, sum.timed), shown['avg']), max: duration(sum.max) };
}

/** The means of a row's phases as its bar names them, given what it shows. */
export function phasesOf(sum: Sum, shown: string): string {
  const shownOf = new Map(shown.split(', ').map((phase) => [phase.slice(0, phase.lastIndexOf(' ')), phase.slice(phase.lastIndexOf(' ') + 1)]));
  const phaseText = ([phase, name]: (typeof PHASES)[number]) => `${name} ${meanText(mean(sum.phasesNs[phase] ?? 0n, sum.timed), shownOf.get(name))}`;
  return PHASES.map(phaseText).join(', ');
}

export { duration, percent, plain };
