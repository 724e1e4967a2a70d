// Logarithmic axes.

/** Positions for values from `low` to `high`, both above zero. */
export function logScale(low: number, high: number, from: number, to: number): (value: number) => number {
  const [start, end] = [Math.log10(low), Math.log10(Math.max(high, low * 1.0001))];
  return (value) => from + ((Math.log10(Math.max(value, low)) - start) / (end - start)) * (to - from);
}

/**
 * Round values between two bounds: 1, 2 and 5 of each power of ten, fewer where there would be too many, and equal steps where
 * there would be none to read the scale from.
 */
export function logTicks(low: number, high: number, limit = 8): number[] {
  for (const factors of [[1, 2, 5], [1, 3], [1]]) {
    const ticks: number[] = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      for (const factor of factors) {
        const tick = factor * 10 ** power;
        if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(Number(tick.toPrecision(3)));
      }
    }
    if (ticks.length <= limit) return ticks.length > 1 ? ticks : evenTicks(low, high);
  }
  return [low, high];
}

/** Two to six round values between two bounds that are close to each other. */
function evenTicks(low: number, high: number): number[] {
  const unit = 10 ** Math.floor(Math.log10((high - low) / 2));
  const step = [5, 2, 1].map((factor) => factor * unit).find((step) => Math.floor(high / step) - Math.ceil(low / step) >= 1) ?? high - low;
  const ticks: number[] = [];
  for (let place = Math.ceil(low / step); place * step <= high && ticks.length < 8; place += 1) ticks.push(Number((place * step).toPrecision(6)));
  return ticks.length > 0 ? ticks : [low, high];
}

/** Where a quantile stands on an axis that is dense towards 1: p50, p90, p99, p99.9 are at equal distances from p90 on. */
export function tailPosition(quantile: number): number {
  return -Math.log10(Math.max(1e-9, 1 - quantile));
}
