// Ticks of axes.

import { expect, test } from '@playwright/test';
import { ticks } from '../src/chart/plot';

for (const [max, count, expected] of [
  [438, 5, [0, 100, 200, 300, 400, 500]],
  [7.3, 4, [0, 2, 4, 6, 8]],
  [0.0042, 4, [0, 0.002, 0.004, 0.006]],
  [500, 5, [0, 100, 200, 300, 400, 500]],
  [0, 5, [0, 1]],
  [Infinity, 5, [0, 1]],
] as [number, number, number[]][]) {
  test(`ticks up to ${max}`, () => {
    expect(ticks(max, count)).toEqual(expected);
  });
}
