// Ticks of axes, and places for labels.

import { expect, test } from '@playwright/test';
import { along, boxOf, placed, type Box } from '../src/chart/labels';
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

const WITHIN: Box = [0, 0, 400, 200];
const dot = (x: number, y: number): Box => [x - 4, y - 4, x + 4, y + 4];
const apart = (one: Box, other: Box) => one[2] <= other[0] || other[2] <= one[0] || one[3] <= other[1] || other[3] <= one[1];

test('labels of dots that are close cover neither each other nor the dots', () => {
  const places: [number, number][] = [[200, 60], [200, 75], [201, 88], [190, 100], [40, 150], [395, 20]];
  const dots = places.map(([x, y]) => dot(x, y));
  const rule: Box = [0, 69, 400, 71];
  const labels = placed(places.map(([x, y], index) => ({ x, y, radius: 4, label: `VU ${index}개` })), dots, [rule], [], WITHIN);
  const boxes = labels.map(({ x, y, label }) => boxOf(x, y, label));
  expect(labels.length).toBeGreaterThanOrEqual(4);
  boxes.forEach((box, index) => {
    for (const other of [...dots, rule, ...boxes.slice(0, index)]) expect(apart(box, other)).toBe(true);
    expect(box[0] >= 0 && box[2] <= 400).toBe(true);
  });
});

test('a label covers a curve only where there is no other place', () => {
  const curve = along([[0, 100], [200, 100], [200, 200]]);
  const [free] = placed([{ x: 100, y: 100, radius: 4, label: 'on it' }], [dot(100, 100)], [], curve, WITHIN);
  expect(free && curve.every((box) => apart(boxOf(free.x, free.y, free.label), box))).toBe(true);
  const [wedged] = placed([{ x: 100, y: 100, radius: 4, label: 'on it' }], [dot(100, 100)], [], along([[0, 80], [400, 80], [400, 125], [0, 125], [0, 100], [400, 100]], 1), [0, 70, 400, 130]);
  expect(wedged).toBeDefined();
  expect(placed([{ x: 2, y: 100, radius: 4, label: 'no place at all' }], [], [[0, 0, 400, 200]], [], WITHIN)).toEqual([]);
});
