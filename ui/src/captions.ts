// Sentences below charts, read from the points that are drawn.

import type { Series } from './api/contract';
import { noted } from './api/series';
import { brief, elapsed } from './format';
import { t } from './state/look.svelte';

/** Of the rate: whether the plan was kept. */
export function ofRate(series: Series): string {
  const partial = series.finished.notes.find((note) => note.why === 'partial');
  const left = partial ? ` ${t('caption_partial', (series.width[partial.from] ?? 0).toFixed(2))}` : '';
  return `${kept(series)}${left}`;
}

function kept(series: Series): string {
  const first = series.dropped.values.findIndex((value) => (value ?? 0) > 0);
  if (first >= 0) {
    const at = series.t[first] ?? 0;
    const most = highest(series.dropped.values);
    return t('caption_dropped', elapsed(at), brief(series.dropped.values[most] ?? 0, 'per_second'), elapsed(series.t[most] ?? 0));
  }
  return series.offered.values.some((value) => value !== null) ? t('caption_plan_kept') : t('caption_no_plan');
}

/** Of the latency: where it was worst, and what is not known of it. */
export function ofLatency(series: Series): string {
  const { p95, p99 } = series.latency;
  const most = highest(p95.values);
  const sentences: string[] = [];
  if (most >= 0) sentences.push(t('caption_worst', 'p95', brief(p95.values[most] ?? null, 'time'), elapsed(series.t[most] ?? 0)));
  for (const [name, column] of [['p95', p95], ['p99', p99]] as const) {
    const few = noted(series, column, 'few_samples');
    if (few.length > 0) sentences.push(t('caption_few_samples', name, ranges(few)));
    const bound = noted(series, column, 'at_least');
    if (bound.length > 0) sentences.push(t('caption_at_least', name, ranges(bound)));
    const failed = noted(series, column, 'failed');
    if (failed.length > 0) sentences.push(t('caption_failed', name, ranges(failed)));
  }
  const wide = ([['p50', series.latency.p50], ['p95', p95], ['p99', p99]] as const).filter(([, column]) => noted(series, column, 'widened').length > 0);
  if (wide.length > 0) sentences.push(t('caption_widened', wide.map(([name]) => name).join(', ')));
  return sentences.join(' ');
}

/** Of the errors: when they began. */
export function ofErrors(series: Series): string {
  const first = series.t.findIndex((_, index) => series.errors.some((kind) => (kind.values[index] ?? 0) > 0));
  return first < 0 ? t('caption_no_errors') : t('caption_errors_from', elapsed(series.t[first] ?? 0));
}

/** Of VUs and requests under way. */
export function ofVus(series: Series): string {
  const vus = highest(series.vus.values);
  const flight = highest(series.inFlight.values);
  if (vus < 0) return '';
  const flying = flight < 0 ? '–' : brief(series.inFlight.values[flight] ?? null, 'default');
  return t('caption_vus', brief(series.vus.values[vus] ?? null, 'default'), elapsed(series.t[vus] ?? 0), flying);
}

/** The first few ranges of seconds, and how many more there are. */
export function ranges(all: [number, number][], limit = 2): string {
  const shown = all.slice(0, limit).map(([from, to]) => `${elapsed(from)}–${elapsed(to)}`);
  return all.length > limit ? `${shown.join(', ')} ${t('and_more', all.length - limit)}` : shown.join(', ');
}

function highest(values: (number | null)[]): number {
  let best = -1;
  values.forEach((value, index) => {
    if (value !== null && (best < 0 || value > (values[best] ?? 0))) best = index;
  });
  return best;
}
