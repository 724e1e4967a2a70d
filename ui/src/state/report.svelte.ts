// What a report is drawn from: its chapters, the run and its objective over time, the processors, and the slowest request.

import type { Evidence, ReportDocument, Series, TracePage, Traces } from '../api/contract';
import { asked } from './asked.svelte';
import { apiPath, objectivePath } from './window';

/** Asks for all of it while it is wanted. A report is on the whole run, whatever part of it is looked at. */
export function reportData(run: string, isWanted: () => boolean) {
  const about = (what: string) => apiPath(`/runs/${encodeURIComponent(run)}/${what}`);
  const when = (path: () => string) => () => (isWanted() ? path() : '');
  const report = asked<ReportDocument>(when(() => about('report')));
  const series = asked<Series>(when(() => about('series')));
  const objective = asked<Series>(when(() => (report.data ? objectivePath(run, report.data) : '')));
  const evidence = asked<Evidence>(when(() => about('evidence')));
  const traces = asked<Traces>(when(() => about('traces')));
  const slowest = $derived(traces.data?.exemplars.find((one) => one.name === 'slowest')?.id);
  const trace = asked<TracePage>(when(() => (slowest ? about(`traces/${encodeURIComponent(slowest)}`) : '')));
  /** Nothing more is on its way, but what there is none of. */
  const isReady = $derived(
    Boolean(report.data && series.data && objective.data && (evidence.data || evidence.refusal) && (traces.data || traces.refusal) && (!slowest || trace.data || trace.refusal)),
  );
  return {
    /** All of it, once it is there. */
    get whole() {
      if (!isReady || !report.data || !series.data || !objective.data) return undefined;
      return { document: report.data, series: series.data, objective: objective.data, evidence: evidence.data, trace: trace.data };
    },
    /** What is waited for. */
    get waiting() {
      return [report, series, objective, evidence, traces].find((one) => !one.data) ?? trace;
    },
  };
}
