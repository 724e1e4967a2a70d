// What a chart over time is given.

/** Values of a line, one per point of its chart. */
export type Values = (number | null | undefined)[];

/** One line, or one row of bars. */
export interface Line {
  /** Its name, at its end and in the table. */
  label: string;
  /** One value per point; null where there is none, and then there is a gap. Undefined where only others have a point. */
  values: Values;
  /** Its colour, as the name of a token: `--s1`. */
  color: string;
  /** Lengths of dashes and gaps, so that lines differ in more than colour. */
  dash?: number[];
  /** In pixels. */
  width?: number;
  /** Whether the area below is tinted. */
  area?: boolean;
  /** Bars are stacked on those before them. */
  bars?: boolean;
  /** Whether a value holds until the next. */
  stepped?: boolean;
}

/** A level across the chart. */
export interface Level {
  /** Where, in the chart's unit. */
  at: number;
  /** What it is. */
  label: string;
  /** A limit is what must not be crossed, a target what was promised. */
  kind: 'limit' | 'target';
}

/** A moment on the chart. */
export interface Mark {
  /** Seconds from the start. */
  at: number;
  /** What happened. */
  label: string;
}

/** A point with a name. */
export interface Peak {
  /** Seconds from the start. */
  at: number;
  value: number;
  label: string;
  /** The name of a token. */
  color: string;
}

/** A time of which nothing is known. */
export interface Hole {
  from: number;
  to: number;
  label: string;
}

/** The area between two lines, by their indexes, upper first. */
export interface Band {
  between: [number, number];
  color: string;
  /** From 0 to 1. */
  opacity: number;
}

/** Values of bars, each on top of those before it; lines stay as they are. */
export function stacked(lines: Line[]): Values[] {
  const base: number[] = [];
  return lines.map((line) => {
    if (!line.bars) return line.values;
    return line.values.map((value, index) => {
      const top = (base[index] ?? 0) + (value ?? 0);
      base[index] = top;
      return value === null || value === undefined || value === 0 ? null : top;
    });
  });
}

/** Label positions moved apart so that none hides another: equal distances of at least `gap`, within `from` and `to`. */
export function apart(positions: number[], gap: number, from: number, to: number): number[] {
  const order = positions.map((_, index) => index).sort((a, b) => (positions[a] ?? 0) - (positions[b] ?? 0));
  const result = [...positions];
  let last = -Infinity;
  for (const index of order) {
    result[index] = last = Math.max(result[index] ?? 0, last + gap, from);
  }
  let next = to + gap;
  for (const index of order.reverse()) {
    result[index] = next = Math.min(result[index] ?? 0, next - gap);
  }
  return result;
}

/** Lines over the times of all of them. Where only others have a point, a line goes on. */
export function joinedTimes(series: { t: number[]; values: (number | null)[] }[]): { xs: number[]; values: Values[] } {
  const xs = [...new Set(series.flatMap((one) => one.t))].sort((a, b) => a - b);
  const place = new Map(xs.map((x, index) => [x, index]));
  const values = series.map((one) => {
    const laid: Values = Array<undefined>(xs.length).fill(undefined);
    one.t.forEach((x, index) => (laid[place.get(x) ?? 0] = one.values[index] ?? null));
    return laid;
  });
  return { xs, values };
}

/** The value at a point, or the one before it where only others have a point there. */
export function heldAt(values: Values, index: number): number | null {
  let at = index;
  while (at > 0 && values[at] === undefined) at -= 1;
  return values[at] ?? null;
}
