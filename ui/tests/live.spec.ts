// A run that goes on.

import { expect, test } from '@playwright/test';
import { guarded } from './guard';

const LIVE = '/runs/ab12cd09';

test.beforeEach(async ({ request }) => {
  await request.get('/test/reset');
});

test('new seconds arrive, and the view can be held', async ({ page, request }) => {
  await request.get('/test/speed?ms=100');
  const problems = guarded(page);
  await page.goto(LIVE);
  await expect(page.getByText(/live · last data/)).toBeVisible();
  await expect(page.locator('.top .meta')).toContainText(/3m2\d/);
  await page.getByRole('button', { name: /Pause view/ }).click();
  await expect(page.getByRole('button', { name: /Resume view/ })).toBeVisible();
  await page.keyboard.press('Escape');
  expect(problems()).toEqual([]);
});

test('only a threshold that crosses is announced', async ({ page, request }) => {
  await request.get('/test/speed?ms=30');
  await page.goto(LIVE);
  await expect(page.locator('[aria-live=assertive]')).toContainText(/is crossed|is met again/, { timeout: 15_000 });
});

test('a run is stopped after asking, and the page stays', async ({ page, request }) => {
  await request.get('/test/speed?ms=100');
  await page.goto(`${LIVE}/live`);
  await page.getByRole('heading', { name: 'Now' }).waitFor();
  await page.keyboard.press('s');
  await page.getByRole('button', { name: 'Keep running' }).click();
  expect(((await (await request.get('/test/state')).json()) as { isStopped: boolean }).isStopped).toBe(false);
  await page.keyboard.press('s');
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  await expect(page.getByText('The run has ended.').first()).toBeVisible();
  await expect(page.getByText(/plimsoll serve, then/)).toBeVisible();
});

test('the address of a run leads to its summary when it has ended', async ({ page, request }) => {
  await request.get('/test/speed?ms=100');
  await page.goto(LIVE);
  await page.getByRole('heading', { name: 'Now' }).waitFor();
  await request.get('/test/end');
  await expect(page.getByRole('heading', { name: '3 of 4 thresholds failed' })).toBeVisible();
});

test('a run that ends before anybody listens leads to its summary at once', async ({ page, request }) => {
  // Far less than the time after which the page would ask by itself.
  const soon = { timeout: 2500 };
  await page.route(/\/events/, async (route) => {
    await request.get('/test/end');
    await route.fulfill({ status: 204 });
  });
  await page.goto(LIVE);
  await expect(page.getByRole('heading', { name: '3 of 4 thresholds failed' })).toBeVisible(soon);
});

test('a broken connection is shown, and restored', async ({ page, request, context }) => {
  await request.get('/test/speed?ms=100');
  await page.goto(LIVE);
  await expect(page.getByText(/live · last data/)).toBeVisible();
  await context.setOffline(true);
  await page.evaluate(() => dispatchEvent(new Event('offline')));
  await context.setOffline(false);
  await expect(page.getByText(/live · last data/)).toBeVisible();
});

test('half an hour of seconds leaves the heap flat', async ({ page, request }) => {
  test.setTimeout(240_000);
  await request.get('/test/speed?ms=20');
  await page.goto(LIVE);
  await expect(page.getByText(/live · last data/)).toBeVisible();
  const session = await page.context().newCDPSession(page);
  const heapBytes = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = (await session.send('Runtime.getHeapUsage')) as { usedSize: number };
    return usedSize;
  };
  await page.waitForTimeout(8000);
  const before = await heapBytes();
  // At fifty seconds a second: 36 seconds are half an hour.
  await page.waitForTimeout(36_000);
  const after = await heapBytes();
  console.log(`heap ${(before / 1e6).toFixed(1)} MB, half an hour later ${(after / 1e6).toFixed(1)} MB`);
  expect(after - before).toBeLessThan(3_000_000);
});

test('a run whose requests fail is not called well because they are sent in time', async ({ page }) => {
  const failing = { value: 1, text: '100.00%', censored: null };
  await page.route(/\/api\/v1\/runs\/ab12cd09\/events/, (route) => route.abort());
  await page.route(/\/api\/v1\/runs\/ab12cd09\?/, async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as { headline: { figures: { failed: object } } };
    answer.headline.figures.failed = failing;
    await route.fulfill({ response, json: answer });
  });
  await page.goto(`${LIVE}/live?lang=en`);
  const now = page.locator('.card', { has: page.getByRole('heading', { name: 'Now', exact: true }) });
  await expect(now.locator('.claim').first()).toHaveText('100.00% of requests fail');
});
