// What limits the target, and how much load is safe.

import { expect, test } from '@playwright/test';
import { guarded } from './guard';

const RUN = '/runs/ab12cd08';

test('the summary shows the maximum load and the bottleneck, and leads to both', async ({ page }) => {
  const problems = guarded(page);
  await page.goto(`${RUN}/summary`);
  await expect(page.getByRole('region', { name: 'Verdict' }).locator('.answers dd').last()).toHaveText('122 VUs, 4.65/s');
  await expect(page.getByRole('region', { name: 'Maximum load' })).toContainText('Safe load: 122 VUs, 4.65/s');
  const bottleneck = page.getByRole('region', { name: 'Bottleneck' });
  await expect(bottleneck).toContainText('scan-worker CPU is at its limit');
  await expect(bottleneck).toContainText('Worker slots full: 69 of 400 busy');
  await page.getByRole('region', { name: 'Maximum load' }).getByRole('link', { name: 'All steps' }).click();
  await expect(page).toHaveURL(/\/capacity$/);
  await page.goBack();
  await page.getByRole('link', { name: 'All findings' }).click();
  await expect(page).toHaveURL(/\/bottleneck$/);
  expect(problems()).toEqual([]);
});

test('findings are chosen with the arrows, and the choice is in the address', async ({ page }) => {
  await page.goto(`${RUN}/bottleneck`);
  await expect(page.getByRole('region', { name: 'Finding 1' })).toContainText('at most 421 scans a minute');
  await page.keyboard.press('ArrowDown');
  await expect(page).toHaveURL(/finding=2/);
  await expect(page.getByRole('region', { name: 'Finding 2' })).toContainText('for 204 of 218 s');
  await page.reload();
  await expect(page.getByRole('button', { name: 'Autoscaler ceiling' })).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('region', { name: 'Finding 1' })).toBeVisible();
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('region', { name: 'Finding 1' })).toBeVisible();
});

test('a query is copied as it reads', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${RUN}/bottleneck`);
  const query = await page.getByRole('region', { name: 'Finding 1' }).locator('pre.q').first().textContent();
  await page.keyboard.press('q');
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(query);
  expect(query).toContain('container!="", image!=""');
});

test('parts of the time add up to the whole, as a bar and as a table', async ({ page }) => {
  await page.goto(`${RUN}/bottleneck`);
  const spent = page.getByRole('region', { name: 'Time breakdown of scan' });
  await expect(spent.locator('.bdown div').first()).toBeVisible();
  const widths = await spent.locator('.bdown div').evaluateAll((all) => all.map((part) => part.getBoundingClientRect().width));
  const whole = (await spent.locator('.bdown').boundingBox())!.width;
  // There are gaps of two pixels between them.
  expect(widths.reduce((sum, width) => sum + width, 0) + 2 * (widths.length - 1)).toBeCloseTo(whole, 0);
  expect(widths[0]! / whole).toBeGreaterThan(18.9 / 59.2 - 0.02);
  await expect(spent.getByRole('row', { name: /^Little's law/ })).toContainText('0.2 %');
  await page.keyboard.press('t');
  await expect(page).toHaveURL(/view=table/);
  await expect(spent.getByRole('row', { name: /scan.vision.*queueing/ })).toContainText('18.9 s');
});

test('a prediction says what would prove it wrong, and how to try', async ({ page }) => {
  await page.goto(`${RUN}/bottleneck`);
  const finding = page.getByRole('region', { name: 'Finding 1' });
  await expect(finding).toContainText('737/min');
  await expect(finding).toContainText('Refuted if the plateau stays under 500/min.');
  await expect(finding).toContainText('--target-version replicas-6');
  await finding.getByRole('link', { name: /Trace 3e7037e3/ }).click();
  await expect(page).toHaveURL(/traces\?trace=3e7037e3a1c94b62985d0f47c6d2aab1/);
});

test('a diagnosis that cannot decide says what to connect', async ({ page }) => {
  await page.goto('/runs/empty/bottleneck');
  await expect(page.locator('main')).toContainText('INCONCLUSIVE: no server-side metrics were collected');
  await expect(page.locator('pre').first()).toContainText('plimsoll run --otlp');
  await page.goto('/runs/closed/capacity');
  await expect(page.locator('pre')).toContainText('plimsoll capacity first-page.js');
});

test('steps are chosen with the arrows and opened with Enter', async ({ page }) => {
  await page.goto(`${RUN}/capacity`);
  await expect(page.getByRole('heading', { name: /Maximum load: 169 VUs/ })).toBeVisible();
  const steps = page.getByRole('group', { name: 'Steps' });
  await expect(steps.locator('tr[aria-current]')).toContainText('500 VUs');
  for (let step = 0; step < 3; step += 1) await page.keyboard.press('ArrowUp');
  await expect(steps.locator('tr[aria-current]')).toContainText('250 VUs');
  await expect(page).toHaveURL(/step=2/);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/runs\/ab12cd03/);
});

test('L changes the objective, and with it line, verdicts and columns', async ({ page }) => {
  await page.goto(`${RUN}/capacity`);
  const steps = page.getByRole('group', { name: 'Steps' });
  const row = steps.locator('tr', { hasText: '200 VUs' });
  await expect(row).toContainText('exceeded, likely');
  await expect(page.getByRole('img', { name: /^Maximum load 169 VUs/ })).toBeVisible();
  await page.keyboard.press('l');
  await expect(page).toHaveURL(/slo=1/);
  await expect(row).toContainText('met');
  await expect(page.getByRole('img', { name: /^Maximum load 384 VUs/ })).toBeVisible();
});

test('charts of a sweep have tables', async ({ page }) => {
  await page.goto(`${RUN}/capacity`);
  const chart = page.getByRole('region', { name: 'Throughput against offered load' });
  await chart.getByRole('img').focus();
  await page.keyboard.press('t');
  await expect(chart.getByRole('row', { name: /^250 VUs/ })).toContainText('6.96/s');
});
