// The script's objectives, the most important first.

import type { Capacity, CapacityLevel, ReportThreshold } from './api/contract';
import { shownName } from './format';

type Objective = Pick<ReportThreshold, 'metric' | 'condition' | 'statistic' | 'ok' | 'marginShare'>;

/**
 * The thresholds to show first: crossed ones, and of those times before shares and counts, whose limits are often zero or one;
 * then those that are closest to their limits. The sentence above the tiles names the first one that is crossed.
 */
export function objectivesFirst<T extends Objective>(thresholds: T[], limit: number): T[] {
  const order = (a: T, b: T) => Number(a.ok) - Number(b.ok) || rank(b) - rank(a) || (left(a) - left(b) || 0);
  return [...thresholds].sort(order).slice(0, limit);
}

/** The objectives of a study with what one of its steps measured: a step has no thresholds of its own. */
export function objectivesOfStep({ objectives }: Capacity, step: CapacityLevel): (Objective & Pick<ReportThreshold, 'limitText' | 'observed'>)[] {
  return objectives.flatMap(({ selector, statistic, text, limit }, index) => {
    const measured = step.objectives[index];
    if (!measured) return [];
    return [{ metric: selector, condition: text, statistic, limitText: limit.text, observed: measured.value, ok: measured.isKept !== false, marginShare: null }];
  });
}

/** Whether all objectives hold at a step; null if one could not be judged and none is violated. */
export function isStepKept(step: CapacityLevel): boolean | null {
  const kept = step.objectives.map((measured) => measured.isKept);
  if (kept.includes(false)) return false;
  return kept.includes(null) || kept.length === 0 ? null : true;
}

/** The name of an objective: its metric, and its statistic where the metric does not say it. */
export function objectiveName(objective: Objective, limit = 60): string {
  const statistic = objective.statistic === 'rate' ? '' : ` ${objective.statistic.replace(/[()]/g, '')}`;
  return shownName(`${objective.metric}${statistic}`, limit);
}

/** The limit with the comparison that the script writes: `<800ms`, `==0`. */
export function limitText(objective: Objective & Pick<ReportThreshold, 'limitText'>): string {
  return `${/[<>=!]=?=?/.exec(objective.condition)?.[0] ?? ''}${objective.limitText}`;
}

/** The share left to the limit. A crossed one without a number lies among failures, which rank above every number. */
function left(objective: Objective): number {
  return objective.marginShare ?? (objective.ok ? 1 : -Infinity);
}

function rank(objective: Objective): number {
  if (objective.statistic === 'rate') return 1;
  return objective.statistic === 'count' || objective.statistic === 'value' ? 0 : 2;
}
