// The part of a run that the page looks at: whole seconds from its start, in the address.

import type { ReportDocument, RunPage } from '../api/contract';
import { seriesQuery } from '../api/series';
import { API, isReport } from '../api/source';
import { language } from './look.svelte';
import { parameter, setQuery } from './place.svelte';

export interface Window {
  from: number | undefined;
  to: number | undefined;
}

/** The window that was chosen; without bounds it is the whole run. */
export function chosenWindow(): Window {
  return { from: seconds(parameter('from')), to: seconds(parameter('to')) };
}

/** The seconds of the run that there are: all of them, or the part that a report was written of. */
export function wholeRange(page: RunPage): [number, number] {
  return isReport() ? [page.window.from, page.window.to] : [0, page.seconds];
}

/** The seconds that are looked at. */
export function shownRange(page: RunPage): [number, number] {
  const { from, to } = chosenWindow();
  const [first, last] = wholeRange(page);
  return [from ?? first, to ?? last];
}

/** Whether a part was chosen. */
export function isZoomed(): boolean {
  const { from, to } = chosenWindow();
  return from !== undefined || to !== undefined;
}

/**
 * Looks at a part that was chosen among points of `step` seconds: at least one of them, and whole ones, since a point that is
 * cut would have another number than the one that was pointed at.
 */
export function setWindow(from: number, to: number, step = 1): void {
  const first = Math.max(0, Math.floor(from / step) * step);
  setQuery({ from: String(first), to: String(Math.max(first + step, Math.ceil(to / step) * step)) }, 'push');
}

/** Looks at the whole run. */
export function clearWindow(): void {
  setQuery({ from: '', to: '' }, 'push');
}

/** The path of a question about a run: of the chosen window and in the page's language. */
export function runPath(run: string, what = '', query: Record<string, string | number | undefined> = {}): string {
  // A report holds the whole run only; there the window moves the charts and no number.
  const window: Window = isReport() ? { from: undefined, to: undefined } : chosenWindow();
  return apiPath(`/runs/${encodeURIComponent(run)}${what}`, { ...window, ...query });
}

/** The path of a run's columns over time, with the metric that is chosen. */
export function seriesPath(run: string): string {
  return runPath(run, '/series', seriesQuery(parameter('metric'), parameter('tags')));
}

/** The path of a question, in the page's language. */
export function apiPath(path: string, query: Record<string, string | number | undefined> = {}): string {
  const parameters = new URLSearchParams({ lang: language() });
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  }
  parameters.sort();
  return `${API}${path}?${parameters}`;
}

/** The path of the metric that a report draws, over the whole run. */
export function objectivePath(run: string, report: ReportDocument): string {
  return apiPath(`/runs/${encodeURIComponent(run)}/series`, { ...report.objective });
}

function seconds(text: string): number | undefined {
  const value = Number(text);
  return text !== '' && Number.isInteger(value) && value >= 0 ? value : undefined;
}
