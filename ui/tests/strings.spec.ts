// Texts with their values, and the types that keep the values complete.

import { expect, test } from '@playwright/test';
import { isLabel, say } from '../src/strings';

test('values stand where each language has them', () => {
  expect(say('en', 'fast_slow_sub', ['scan', 3, '9 s', 40, '1 s'])).toBe('scan: 3 of at least 9 s against 40 of at most 1 s');
  expect(say('ko', 'fast_slow_sub', ['scan', 3, '9 s', 40, '1 s'])).toBe('scan: 9 s 이상 3개, 1 s 이하 40개');
});

test('a value that looks like a placeholder stays as it is', () => {
  expect(say('en', 'window_is', ['{1}', '$&'])).toBe('Part of the run: {1} to $&.');
});

test('only texts without values are labels', () => {
  expect([isLabel('runs'), isLabel('window_is'), isLabel('unknown_key')]).toEqual([true, false, false]);
});

test('missing and superfluous values are errors of the types', () => {
  // @ts-expect-error a value is missing
  say('en', 'window_is', ['0:10']);
  // @ts-expect-error a label has no values
  say('en', 'runs', ['0:10']);
  // @ts-expect-error there is no such text
  expect(() => say('en', 'unknown_key', [])).toThrow();
});
