// Numbers of comparisons, as the terminal writes them.

import { duration } from '../../src/format';

/** A side's figure: times as everywhere, shares of errors in percent with three decimals, rates with two. */
export function fixedText(unit: 'ms' | 'share' | 'per_second', value: number | null): string {
  if (value === null) return '–';
  if (unit === 'ms') return duration(value);
  return unit === 'share' ? `${(value * 100).toFixed(3)} %` : `${value.toFixed(2)}/s`;
}

/** The number of a quantile among failures, whose reason stands in words behind it: `≥ 11 s (timeout)`. */
export const withoutReason = (text: string): string => text.replace(/^(≥ .+) \(\D+\)$/, '$1');
