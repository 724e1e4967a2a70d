// What a chart over time is given.

/** One line, or one row of bars. */
export interface Line {
  /** Its name, at its end and in the table. */
  label: string;
  /** One value per point; null where there is none, and then there is a gap. */
  values: (number | null)[];
  /** Its colour, as the name of a token: `--s1`. */
  color: string;
  /** Lengths of dashes and gaps, so that colour is not all that tells lines apart. */
  dash?: number[];
  /** In pixels. */
  width?: number;
  /** Whether the area below is tinted. */
  area?: boolean;
  /** Bars are stacked on those before them. */
  bars?: boolean;
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

/** The area between two lines, by their indexes, upper first. */
export interface Band {
  between: [number, number];
  color: string;
  /** From 0 to 1. */
  opacity: number;
}

/** Values of bars, each on top of those before it; lines stay as they are. */
export function stacked(lines: Line[]): (number | null)[][] {
  const base: number[] = [];
  return lines.map((line) => {
    if (!line.bars) return line.values;
    return line.values.map((value, index) => {
      const top = (base[index] ?? 0) + (value ?? 0);
      base[index] = top;
      return value === null || value === 0 ? null : top;
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
