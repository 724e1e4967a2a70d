// Charts of one number against another: what is drawn, and the ticks of their axes.

/** A line through points, from left to right. */
export interface PlotLine {
  points: [number, number][];
  color: string;
  width?: number;
  dash?: string;
  /** Beside its end, or where it leaves the chart: of lines from the origin. */
  label?: string;
}

/** A dot, with what is known of its height. */
export interface PlotPoint {
  x: number;
  y: number;
  label?: string;
  low?: number;
  high?: number;
  /** Whether it counts; one that does not is drawn in grey. */
  isOut?: boolean;
  isChosen?: boolean;
}

/** A value of one axis, drawn across the other. */
export interface PlotLevel {
  at: number;
  label: string;
  kind: 'limit' | 'slo' | 'hull';
}

/** A stretch of the x axis. */
export interface PlotRegion {
  from: number;
  to: number;
  kind: 'knee' | 'interval';
  label?: string;
}

/** An area between two lines. */
export interface PlotBand {
  points: [number, number, number][];
  color: string;
}

/** A drawing is at least this wide, pixels; a narrower place shows it smaller. */
export const WIDTH_MIN = 280;

const STEPS = [1, 2, 2.5, 5, 10];

/** Round values from zero to at least `max`, about `count` of them. */
export function ticks(max: number, count: number): number[] {
  if (!(max > 0) || !Number.isFinite(max)) return [0, 1];
  const rough = max / count;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = (STEPS.find((known) => known * unit >= rough * 0.999) ?? 10) * unit;
  const last = Math.ceil(max / step - 1e-9);
  return Array.from({ length: last + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}
