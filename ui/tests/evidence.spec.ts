// What the servers did, beside the load.

import { expect, test } from '@playwright/test';
import { guarded } from './guard';

const EVIDENCE = '/runs/ab12cd08/evidence';

test('the summary leads to the evidence, and the way is in the address', async ({ page }) => {
  const problems = guarded(page);
  await page.goto('/runs/ab12cd08/summary');
  await page.getByRole('link', { name: 'Server-side metrics' }).click();
  await expect(page).toHaveURL(/\/evidence$/);
  await page.getByRole('button', { name: 'Queues and workers' }).click();
  await expect(page).toHaveURL(/view=queues/);
  const queues = page.getByRole('group', { name: 'Queues' });
  await expect(queues.locator('tr', { hasText: 'scan.vision' })).toContainText('352');
  await page.reload();
  await expect(queues.locator('tr', { hasText: 'scan.vision' })).toContainText('1 / 3 / 3');
  expect(problems()).toEqual([]);
});

test('a queue’s peak is the same in its lane, in the table and in the sentence', async ({ page }) => {
  await page.goto(EVIDENCE);
  const lane = page.locator('.lane', { has: page.getByRole('heading', { name: 'Queue depth (ready)' }) });
  await expect(lane.locator('.rd')).toContainText('352');
  await expect(page.locator('.story')).toContainText('scan.vision 352 at 0:40');
  await page.goto(`${EVIDENCE}?view=queues`);
  const row = page.getByRole('group', { name: 'Queues' }).locator('tr', { hasText: 'scan.vision' });
  await expect(row.locator('td').nth(1)).toHaveText('rabbitmq');
  await expect(row.locator('td').nth(3)).toHaveText('352');
  await expect(row.locator('td').nth(4)).toHaveText('0:40');
});

test('the crosshair moves all lanes, and keys show table and query', async ({ page }) => {
  await page.goto(EVIDENCE);
  const depth = page.locator('.lane', { has: page.getByRole('heading', { name: 'Queue depth (ready)' }) });
  const cpu = page.locator('.lane', { has: page.getByRole('heading', { name: 'Container CPU' }) });
  await depth.getByRole('img').focus();
  await page.keyboard.press('Home');
  for (let step = 0; step < 8; step += 1) await page.keyboard.press('ArrowRight');
  await expect(depth.locator('.rd')).toContainText('at 0:40');
  await expect(cpu.locator('.rd')).toContainText('at 0:40');
  await page.keyboard.press('q');
  await expect(depth.locator('pre')).toContainText('GET /api/queues: queue_ready');
  await page.keyboard.press('t');
  await expect(depth.getByRole('columnheader', { name: 'scan.vision' })).toBeVisible();
});

test('a zoom asks anew', async ({ page }) => {
  await page.goto(EVIDENCE);
  const asked = page.waitForRequest((request) => request.url().includes('/evidence?') && request.url().includes('from='));
  const chart = page.locator('.lane').nth(2).locator('.u-over');
  const box = await chart.boundingBox();
  if (!box) throw new Error('the chart is not drawn');
  await page.mouse.move(box.x + box.width * 0.2, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 20, { steps: 5 });
  await page.mouse.up();
  await expect(page).toHaveURL(/from=\d+&to=\d+|to=\d+&from=\d+/);
  expect((await asked).url()).toContain('to=');
});

test('a gap says why, and what has no data says how to get it', async ({ page }) => {
  await page.goto(EVIDENCE);
  const cpu = page.locator('.lane', { has: page.getByRole('heading', { name: 'Container CPU' }) });
  await expect(cpu.locator('.lh')).toContainText('connection refused by localhost:9090');
  await expect(page.getByRole('group', { name: 'Sources' })).toContainText('401 Unauthorized');
  await page.goto('/runs/empty/evidence?view=database');
  await expect(page.locator('pre')).toContainText('[evidence.postgresql]');
  await expect(page.locator('main')).toContainText('plimsoll doctor');
});

test('the way of a task adds up, and Little’s law stands beside its queues', async ({ page }) => {
  const problems = guarded(page);
  await page.goto(`${EVIDENCE}?view=queues`);
  const way = page.getByRole('group', { name: 'Task latency from submission to result' });
  await expect(way.locator('tr', { hasText: 'wait in scan.vision' })).toContainText('20s');
  await expect(way.locator('tr', { hasText: 'result ready, until the next poll by task scan' })).toContainText('1s');
  await expect(way.locator('tr', { hasText: 'total' })).toContainText('1m7s');
  await expect(page.getByText('Segments add up to 1m7s of 1m7s (difference 0.00%).')).toBeVisible();
  const law = page.getByRole('group', { name: 'Little' });
  await expect(law.locator('tr', { hasText: 'scan.vision' })).toContainText('20s');
  expect(problems()).toEqual([]);
});
