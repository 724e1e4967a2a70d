// The page writes numbers as the terminal does: held to the terminal's own examples.

import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { brief, bytes, duration, elapsed, percent, plain, shownName, visible } from '../src/format';

function rows(name: string): string[][] {
  const text = readFileSync(new URL(`../../crates/report/golden/${name}.tsv`, import.meta.url), 'utf8');
  return text.trimEnd().split('\n').map((line) => line.split('\t'));
}

test('numbers and times are those of the terminal', () => {
  const all = rows('numbers');
  expect(all.length).toBeGreaterThan(80);
  for (const [number, asNumber, asTime] of all) expect([number, plain(Number(number)), duration(Number(number))]).toEqual([number, asNumber, asTime]);
});

test('bytes are those of the terminal', () => {
  const all = rows('bytes');
  expect(all.length).toBeGreaterThan(40);
  for (const [number, text] of all) expect([number, bytes(Number(number))]).toEqual([number, text]);
});

test('shares are those of the terminal', () => {
  const all = rows('shares');
  expect(all.length).toBeGreaterThan(80);
  for (const [passes, total, text] of all) expect([passes, total, percent(Number(passes) / Number(total))]).toEqual([passes, total, text]);
});

test('axes are short', () => {
  expect([brief(1234.567, 'time'), brief(0.5, 'share'), brief(127.46, 'per_second'), brief(0, 'time'), brief(null, 'time')]).toEqual(['1.23s', '50%', '127/s', '0s', '–']);
});

test('ticks separate thousands', () => {
  expect([0, 1000, 2000, 12_500, 1_500_000].map((value) => brief(value, 'default'))).toEqual(['0', '1,000', '2,000', '12,500', '1.5 M']);
  expect([brief(2_174_379.651, 'default'), brief(21_899_580, 'per_second'), brief(999_999.7, 'default'), brief(-1_500_000, 'default')]).toEqual(['2.17 M', '21.9 M/s', '1 M', '-1.5 M']);
  expect([brief(2000, 'per_second'), brief(2000, 'time'), brief(0.25, 'share')]).toEqual(['2,000/s', '2s', '25%']);
});

test('elapsed times are clocks', () => {
  expect([elapsed(0), elapsed(61), elapsed(3723), elapsed(1.5), elapsed(59.96)]).toEqual(['0:00', '1:01', '1:02:03', '0:01.5', '0:59']);
});

test('what is invisible is made visible, and long names are cut', () => {
  expect(visible('\u001b[31mred\u202e')).toBe('␛[31mred⟨202E⟩');
  expect(visible('a\nb\tc')).toBe('a\nb\tc');
  expect(shownName('x'.repeat(1_000_000)).length).toBeLessThan(200);
  expect(shownName('short')).toBe('short');
  for (const limit of [4, 8, 20, 24, 60]) expect(shownName('image/jpeg.(*decoder).processSOS'.repeat(3), limit).length).toBeLessThanOrEqual(limit);
});
