// What people do with traces and services.

import { expect, test } from '@playwright/test';
import { guarded } from './guard';

const RUN = '/runs/ab12cd08';
const SCAN = `${RUN}/traces?trace=3e7037e3a1c94b62985d0f47c6d2aab1`;
const HUGE = `${RUN}/traces?trace=50005000500050005000500050005000`;

test('a search is in the address, and asks the server', async ({ page }) => {
  const problems = guarded(page);
  await page.goto(`${RUN}/traces`);
  await expect(page.getByRole('group', { name: 'Traces' }).locator('tbody tr')).toHaveCount(50);
  const asked = page.waitForRequest((request) => /\/traces\?kept=slowest&lang=en$/.test(request.url()));
  await page.getByLabel('Kept').selectOption('slowest');
  await asked;
  await expect(page).toHaveURL(/kept=slowest/);
  await expect(page.getByRole('region', { name: 'Traces' }).last()).toContainText('of 160 found');
  await page.getByLabel('Min. ms').fill('999999');
  await page.getByLabel('Min. ms').press('Enter');
  await expect(page.getByText('Nothing matches the filter.')).toBeVisible();
  expect(problems()).toEqual([]);
});

test('an exemplar opens, and the browser’s own button leads back', async ({ page }) => {
  await page.goto(`${RUN}/traces`);
  await page.getByRole('link', { name: /^typical/ }).click();
  await expect(page).toHaveURL(/trace=3e7037e3/);
  await expect(page.getByRole('treeitem', { name: /wait in scan.vision/ })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('heading', { name: 'Stage by stage' })).toBeVisible();
});

test('the critical path says whose the time was, and its parts are the whole', async ({ page }) => {
  await page.goto(SCAN);
  await expect(page.getByText('79.13% of the critical path is queueing.')).toBeVisible();
  const shares = await page.getByRole('region', { name: 'Critical path' }).locator('td:last-child').allInnerTexts();
  const sum = shares.reduce((total, text) => total + Number.parseFloat(text), 0);
  expect(Math.abs(sum - 100)).toBeLessThan(0.1);
});

test('waits are drawn shorter until G, and P leaves the critical path', async ({ page }) => {
  await page.goto(SCAN);
  const bar = page.getByRole('treeitem', { name: /^wait in scan.vision/ }).locator('.bar');
  await bar.waitFor();
  const short = (await bar.boundingBox())!.width;
  await page.keyboard.press('g');
  await expect(page).toHaveURL(/linear=1/);
  await expect.poll(async () => (await bar.boundingBox())!.width).toBeGreaterThan(short * 2);
  await expect(page.getByRole('treeitem', { name: /SETEX/ })).toHaveCount(1);
  await page.keyboard.press('p');
  await expect(page.getByRole('treeitem', { name: /SETEX/ })).toHaveCount(0);
  await page.keyboard.press('g');
  await expect(page).not.toHaveURL(/linear/);
});

test('repeats are folded, and the keyboard unfolds them', async ({ page }) => {
  await page.goto(SCAN);
  const tree = page.getByRole('tree');
  const fold = page.getByRole('treeitem', { name: /34 × SELECT character/ });
  await fold.click();
  await expect(page).toHaveURL(/span=fold-/);
  await expect(page.getByText('The same statement ran 34 times in process scan.reward.')).toBeVisible();
  await expect(fold).toHaveAttribute('aria-expanded', 'false');
  await tree.focus();
  await page.keyboard.press('Enter');
  await expect(fold).toHaveAttribute('aria-expanded', 'true');
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('pre.q')).toHaveText('SELECT * FROM character WHERE id = 1000');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await expect(fold).toHaveAttribute('aria-expanded', 'false');
  await page.getByRole('link', { name: /^Open evidence around 2:35/ }).click();
  await expect(page).toHaveURL(/\/evidence\?from=125&to=185/);
  await expect(page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: /^Evidence/ })).toHaveAttribute('aria-current', 'page');
});

test('of 5,000 spans only those in sight are there', async ({ page }) => {
  await page.goto(HUGE);
  const rows = page.getByRole('treeitem');
  await rows.first().waitFor();
  expect(await rows.count()).toBeLessThan(60);
  await page.getByRole('tree').focus();
  await page.keyboard.press('End');
  await expect(page.locator('#span-4999')).toBeVisible();
  expect(await rows.count()).toBeLessThan(60);
  // Far less than a frame of 16 ms for each step, on a slow machine.
  const took = await page.evaluate(async () => {
    const box = document.querySelector('.wfbox')!;
    const began = performance.now();
    for (let step = 0; step < 100; step += 1) {
      box.scrollTop = step * 1500;
      await new Promise(requestAnimationFrame);
    }
    return (performance.now() - began) / 100;
  });
  expect(took).toBeLessThan(60);
  await page.getByRole('searchbox', { name: 'Filter' }).fill('SELECT item');
  await expect(page.locator('#span-0')).toBeVisible();
  await expect(page.getByRole('treeitem', { name: /SELECT item/ }).first()).toBeVisible();
});

test('the map and its table say the same', async ({ page }) => {
  const problems = guarded(page);
  await page.goto(`${RUN}/services`);
  const map = page.getByRole('img', { name: 'Service map' });
  await expect(map).toContainText('wait p95 18.61s');
  const ways = await map.locator('path.way').count();
  await page.keyboard.press('t');
  await expect(page).toHaveURL(/view=table/);
  await expect(page.getByRole('group', { name: 'Service calls' }).locator('tbody tr')).toHaveCount(ways);
  await page.getByRole('link', { name: 'scan-worker' }).first().click();
  await expect(page).toHaveURL(/\/traces\?service=scan-worker/);
  expect(problems()).toEqual([]);
});

test('a long chain of queues and workers stays within its card', async ({ page }) => {
  await page.goto('/runs/closed/services');
  const map = page.getByRole('group', { name: 'Service map' });
  await expect(map.locator('g.place')).toHaveCount(11);
  const { inner, outer } = await map.evaluate((box) => ({ inner: box.scrollWidth, outer: box.clientWidth }));
  expect(inner).toBeLessThanOrEqual(outer);
  // No place stands on another.
  const boxes = await map.locator('g.place').evaluateAll((all) => all.map((place) => place.getBoundingClientRect()).map(({ x, y, width, height }) => ({ x, y, width, height })));
  const overlap = (a: (typeof boxes)[0], b: (typeof boxes)[0]) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  expect(boxes.filter((a, index) => boxes.slice(index + 1).some((b) => overlap(a, b)))).toEqual([]);
});
