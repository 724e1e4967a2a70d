// Columns over time, made ready to draw and joined while a run goes on.

import type { Column, Note, Series } from './contract';

/** A live page holds this many points; beyond them it asks for coarser ones. */
export const LIVE_POINTS_MAX = 1500;

/** The points of a series with a hole wherever windows were lost. */
export interface Points {
  xs: number[];
  /** A column over `xs`. */
  of(column: Column | number[]): (number | null)[];
}

/** Lays the points out, so that a line breaks where there is nothing. */
export function points(series: Series): Points {
  const { t, width, step } = series;
  const xs: number[] = [];
  const from: (number | undefined)[] = [];
  t.forEach((second, index) => {
    const before = t[index - 1];
    const reach = (width[index - 1] ?? step) + step / 2;
    if (before !== undefined && second - before > reach + (width[index] ?? step)) {
      xs.push(before + (width[index - 1] ?? step));
      from.push(undefined);
    }
    xs.push(second);
    from.push(index);
  });
  return {
    xs,
    of(column) {
      const values = Array.isArray(column) ? column : column.values;
      return from.map((index) => (index === undefined ? null : (values[index] ?? null)));
    },
  };
}

/** Seconds from one point to the next; a hole is longer. One second where there is no next. */
export function stepOf(xs: number[]): number {
  const steps = xs.slice(1).map((x, index) => x - (xs[index] ?? x));
  const least = Math.min(...steps);
  return Number.isFinite(least) ? Math.max(1, Math.round(least)) : 1;
}

const COLUMNS = [
  'offered', 'started', 'finished', 'dropped', 'requests', 'failed', 'vus', 'vusMax', 'inFlight', 'sent', 'received',
] as const;
const QUANTILES = ['p50', 'p95', 'p99', 'max', 'mean'] as const;

/** The series with a newer point at its end; the same series where the point is not newer. */
export function joined(series: Series, point: Series): Series {
  const second = point.t[0];
  const last = series.t.at(-1);
  if (second === undefined || (last !== undefined && second <= last)) return series;
  const at = series.t.length;
  const latency = { ...series.latency, count: [...series.latency.count, ...point.latency.count] };
  for (const name of QUANTILES) latency[name] = joinedColumn(series.latency[name], point.latency[name], at);
  const result: Series = {
    ...series,
    t: [...series.t, second],
    width: [...series.width, point.width[0] ?? 1],
    latency,
    errors: joinedErrors(series, point),
    statuses: [],
    chosen: null,
    marks: [...series.marks, ...point.marks],
    limits: point.limits.length > 0 ? point.limits : series.limits,
  };
  for (const name of COLUMNS) result[name] = joinedColumn(series[name], point[name], at);
  return result;
}

function joinedColumn(column: Column, point: Column, at: number): Column {
  const notes = [...column.notes];
  for (const note of point.notes) {
    const last = notes.at(-1);
    if (last && last.to === at && last.why === note.why) notes[notes.length - 1] = { ...last, to: at + 1 };
    else notes.push({ ...note, from: at, to: at + 1 });
  }
  return { values: [...column.values, point.values[0] ?? null], notes };
}

function joinedErrors(series: Series, point: Series): Series['errors'] {
  const length = series.t.length;
  const known = series.errors.map((kind) => {
    const newer = point.errors.find((other) => other.kind === kind.kind && other.code === kind.code);
    return { ...kind, values: [...kind.values, newer?.values[0] ?? 0], total: newer?.total ?? kind.total };
  });
  const isKnown = (kind: Series['errors'][number]) => series.errors.some((other) => other.kind === kind.kind && other.code === kind.code);
  const fresh = point.errors.filter((kind) => !isKnown(kind));
  return [...known, ...fresh.map((kind) => ({ ...kind, values: [...Array<number>(length).fill(0), kind.values[0] ?? 0] }))];
}

/** Columns of several runs over the same seconds: points that only some of them have are holes of the others. */
export function overlaid(all: Series[]): { xs: number[]; of: (place: number, column: Column) => (number | null)[] } {
  const xs = [...new Set(all.flatMap((one) => one.t))].sort((left, right) => left - right);
  const places = all.map((one) => new Map(one.t.map((second, at) => [second, at])));
  return { xs, of: (place, column) => xs.map((second) => column.values[places[place]?.get(second) ?? -1] ?? null) };
}

/** Notes of one reason as ranges of seconds. */
export function noted(series: Series, column: Column, why: Note['why']): [number, number][] {
  return column.notes
    .filter((note) => note.why === why)
    .map((note) => [series.t[note.from] ?? 0, (series.t[note.to - 1] ?? 0) + (series.width[note.to - 1] ?? series.step)]);
}

/** The question for a metric over time: a selector as thresholds write it, and further tags (`name=value, …`). */
export function seriesQuery(selector: string, tags: string): Record<string, string> {
  const [metric = '', inside = ''] = selector.split('{', 2);
  const pairs = [...inside.replace(/}$/, '').split(',').map((pair) => split(pair, ':')), ...tags.split(',').map((pair) => split(pair, '='))];
  const chosen = Object.fromEntries(pairs.filter(([name]) => name !== ''));
  return { metric, tags: Object.keys(chosen).length > 0 ? JSON.stringify(chosen) : '' };
}

function split(pair: string, mark: string): [string, string] {
  const at = pair.indexOf(mark);
  const bare = (text: string) => text.trim().replace(/^(["'])(.*)\1$/, '$2');
  return at < 0 ? ['', ''] : [bare(pair.slice(0, at)), bare(pair.slice(at + 1))];
}
