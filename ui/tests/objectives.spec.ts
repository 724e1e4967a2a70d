// The order in which a script's objectives are shown.

import { expect, test } from '@playwright/test';
import { limitText, objectiveName, objectivesFirst } from '../src/objectives';

const of = (metric: string, condition: string, ok: boolean, marginShare: number | null) => ({ metric, condition, ok, marginShare, statistic: /^[a-z]+(\([\d.]+\))?/.exec(condition)?.[0] ?? '', limitText: /[\d.]+$/.exec(condition)?.[0] ?? '' });

test('crossed limits come first, times before shares and counts, then what is closest to its limit', () => {
  const all = [
    of('http_req_duration', 'p(95)<300', true, 0.5), of('dropped_iterations', 'count<1', false, -2587), of('http_req_failed', 'rate==0', false, null),
    of('checkout_time', 'p(95)<100', true, 0.1), of('flow_duration', 'p(95)<3000', false, -2.7),
    of('hung_task', 'p(95)<9000', false, null),
  ];
  expect(objectivesFirst(all, 5).map((one) => objectiveName(one))).toEqual(['hung_task p95', 'flow_duration p95', 'http_req_failed', 'dropped_iterations count', 'checkout_time p95']);
  expect(all.map(limitText)).toEqual(['<300', '<1', '==0', '<100', '<3000', '<9000']);
});
