// The time of a trace on a line: to scale, or with long waits drawn shorter so that what was done beside them can be seen.

import type { TracePage } from '../api/contract';

export interface Part {
  /** Milliseconds from the trace's start. */
  start: number;
  end: number;
  /** Shares of the line's length. */
  left: number;
  width: number;
  isWait: boolean;
  text: string;
}

/** What a wait takes, whatever its length; work takes between the least and the most. */
const WAIT = 60;
const WORK_LEAST = 48;
const WORK_MORE = 150;

/** The parts of a line. Without waits that are shortened there is one. */
export function partsOf(stretches: TracePage['stretches'], isLinear: boolean): Part[] {
  const first = stretches[0];
  const last = stretches.at(-1);
  if (!first || !last) return [];
  const whole = Math.max(last.end - first.start, Number.MIN_VALUE);
  if (isLinear || !stretches.some((stretch) => stretch.isWait)) {
    return [{ start: first.start, end: last.end, left: 0, width: 1, isWait: false, text: '' }];
  }
  const worked = stretches.reduce((sum, stretch) => sum + (stretch.isWait ? 0 : stretch.end - stretch.start), 0);
  const weights = stretches.map((stretch) =>
    stretch.isWait ? WAIT : WORK_LEAST + WORK_MORE * Math.sqrt((stretch.end - stretch.start) / Math.max(worked, whole / 1e9)),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let left = 0;
  return stretches.map((stretch, index) => {
    const width = (weights[index] ?? 0) / total;
    const part = { start: stretch.start, end: stretch.end, left, width, isWait: stretch.isWait, text: stretch.duration.text };
    left += width;
    return part;
  });
}

/** Where an instant is on a line, as a share of its length. */
export function position(parts: Part[], ms: number): number {
  let [low, high] = [0, parts.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ms <= (parts[middle]?.end ?? 0)) high = middle;
    else low = middle + 1;
  }
  const part = parts[low];
  if (!part) return 0;
  const share = part.end > part.start ? (ms - part.start) / (part.end - part.start) : 0;
  return part.left + Math.min(1, Math.max(0, share)) * part.width;
}
