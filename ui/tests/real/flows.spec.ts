// What people do with the page, on runs that were really made.

import { expect, type Page } from '@playwright/test';
import { guarded } from '../guard';
import { requestsAre, summaryIs } from './held';
import { card, cells, real, reportOf, says, served, settled, test, textOf } from './real';
import { windowsOf } from './sums';

test('from the list over a filter to a run', async ({ page }) => {
  const problems = guarded(page);
  await page.goto('/?lang=en');
  const rows = page.locator('table.rows tbody tr');
  await expect(rows).toHaveCount(4);
  await page.getByRole('combobox', { name: 'Status' }).selectOption('passed');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('ping.js');
  await page.getByRole('combobox', { name: 'Status' }).selectOption('failed');
  await page.getByRole('searchbox', { name: 'Tag' }).fill('branch=main');
  await page.getByRole('searchbox', { name: 'Tag' }).press('Enter');
  await expect(rows).toHaveCount(2);
  await page.reload();
  await expect(rows).toHaveCount(2);
  await page.getByRole('searchbox', { name: 'Script' }).fill('shop');
  await page.getByRole('searchbox', { name: 'Script' }).press('Enter');
  await expect(page.getByRole('group', { name: /from the oldest to the newest/ }).locator('circle')).toHaveCount(2);
  await page.locator('table.rows').getByRole('link', { name: 'after', exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`/runs/${real().runs.after.id}`));
  await expect(card(page, 'Verdict').getByRole('heading')).toHaveText(reportOf(real().runs.after.id).verdict.sentence);
  await page.goBack();
  await expect(rows).toHaveCount(2);
  expect(problems()).toEqual([]);
});

test('two runs of the list are compared', async ({ page }) => {
  const problems = guarded(page);
  const { before, after } = real().runs;
  await page.goto('/?lang=en');
  await page.getByLabel(`Select run ${after.id}`).check();
  await page.getByLabel(`Select run ${before.id}`).check();
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`a=${before.id}&b=${after.id}`));
  await settled(page);
  // The search was made ten milliseconds slower. On a busy machine that may not be certain; it is never equal or better.
  const rows = await cells(card(page, 'Changes').locator('table'));
  expect(rows.find(([series, figure]) => series!.includes('search') && figure === 'p50')?.at(-1)).toMatch(/^(regressed|inconclusive|no verdict)/);
  await page.getByRole('searchbox', { name: 'Filter' }).fill('pay');
  await expect(card(page, 'Changes').locator('tbody tr').first()).toContainText('pay');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /Swap/ }).click();
  await expect(page).toHaveURL(new RegExp(`a=${after.id}&b=${before.id}`));
  expect(problems()).toEqual([]);
});

test('a baseline is pinned, and a note is written', async ({ page }) => {
  const problems = guarded(page);
  const { before, after } = real().runs;
  await page.goto('/?lang=en');
  await page.getByRole('button', { name: `Baseline: run ${before.id}` }).click();
  await expect(page.getByRole('button', { name: `Baseline: run ${before.id}` })).toHaveAttribute('aria-pressed', 'true');
  await served(page, after.id)('summary');
  await page.getByRole('textbox', { name: 'Note' }).fill('with the <b>new</b> index');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved.')).toBeVisible();
  await page.goto('/?lang=en');
  await expect(page.locator('table.rows')).toContainText('with the <b>new</b> index');
  await expect(page.getByRole('button', { name: `Baseline: run ${before.id}` })).toHaveAttribute('aria-pressed', 'true');
  // Who asks for a comparison without saying with what gets the baseline.
  await served(page, after.id)('summary');
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Compare' }).click();
  await expect(page).toHaveURL(new RegExp(`a=${before.id}`));
  expect(problems()).toEqual([]);
});

test('a part of a chart is chosen, and every number is of that part', async ({ page }) => {
  const problems = guarded(page);
  const { id } = real().runs.before;
  await served(page, id)('summary');
  const plot = page.locator('.plot .u-over').first();
  const box = (await plot.boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, box.y + 50, { steps: 6 });
  await page.mouse.up();
  await expect(page).toHaveURL(/from=\d+/);
  const query = new URL(page.url()).searchParams;
  const [from, to] = [query.get('from')!, query.get('to')!];
  const part = reportOf(id, `${from}s..${to}s`);
  const count = textOf(part.metrics, 'http_reqs', 'count');
  await expect(card(page, 'Verdict').locator('.fact .n').getByText(count, { exact: true })).toBeVisible();
  await summaryIs(page, served(page, id), part, says('report', id, '--format', 'md', '--window', `${from}s..${to}s`), { from, to });
  await requestsAre(page, served(page, id), part, windowsOf(id), { from, to });
  await page.keyboard.press('0');
  await expect(page).not.toHaveURL(/from=/);
  expect(problems()).toEqual([]);
});

test('the request tree is sorted, filtered and opened', async ({ page }) => {
  const problems = guarded(page);
  const { id } = real().runs.before;
  await served(page, id)('requests');
  const names = () => page.locator('table.tree .pick .mono').allInnerTexts();
  const counts = async () => (await cells(page.locator('table.tree'))).filter(([name]) => /^(GET|POST) /.test(name!)).map((row) => Number(row[1]));
  await page.locator('th').getByRole('button', { name: 'Failed' }).click();
  await expect(page).toHaveURL(/sort=failed/);
  expect((await names())[0]).toMatch(/suggest|reset|stock|hang/);
  await page.locator('th').getByRole('button', { name: 'Failed' }).click();
  expect((await counts()).length).toBe(8);
  await page.getByRole('searchbox', { name: 'Filter' }).fill('search');
  await expect(page.locator('table.tree .pick .mono').first()).toContainText('search');
  await page.locator('table.tree .pick', { hasText: 'GET search' }).click();
  const endpoint = reportOf(id).endpoints.find((known) => known.name === 'search')!;
  const detail = page.getByRole('region', { name: 'Detail' });
  await expect(detail.locator('.sub').first()).toContainText(`${endpoint.requests} requests`);
  await expect(detail.getByRole('row', { name: /^200/ })).toContainText(String(endpoint.requests));
  await page.reload();
  await expect(detail).toBeVisible();
  await page.locator('table.tree .pick', { hasText: 'GET search' }).focus();
  await page.keyboard.press('Escape');
  await expect(page).not.toHaveURL(/node=/);
  expect(problems()).toEqual([]);
});

test('from a row of the tree to its distribution', async ({ page }) => {
  const problems = guarded(page);
  const { id } = real().runs.before;
  await served(page, id)('requests');
  await page.locator('table.tree .pick', { hasText: 'POST pay' }).click();
  await page.getByRole('region', { name: 'Detail' }).getByRole('link', { name: 'Distribution' }).click();
  await settled(page);
  const endpoint = reportOf(id).endpoints.find((known) => known.name === 'pay')!;
  await expect(card(page, 'Quantiles')).toContainText(endpoint.duration.values['med']!.text);
  const heat = page.getByRole('img', { name: 'Heat map over time' });
  await heat.hover({ position: { x: 300, y: 100 } });
  await expect(card(page, 'Heat map over time').locator('figcaption')).toContainText('samples');
  expect(problems()).toEqual([]);
});

test('an error is found, and leads to its seconds', async ({ page }) => {
  const problems = guarded(page);
  const { id } = real().runs.before;
  await served(page, id)('errors');
  const rows = card(page, 'Distinct errors').locator('tbody tr');
  const all = await rows.count();
  expect(all).toBeGreaterThan(2);
  await page.getByRole('searchbox', { name: 'Filter' }).fill('503');
  await expect(rows).toHaveCount(1);
  await rows.locator('summary').click();
  await rows.getByRole('button').click();
  await expect(page).toHaveURL(/from=\d+/);
  await expect(page.getByText('Bottleneck, maximum load, audit and thresholds are those of the whole run')).toBeVisible();
  expect(problems()).toEqual([]);
});

test('logs are filtered by level and words', async ({ page }) => {
  const problems = guarded(page);
  const { id } = real().runs.before;
  await served(page, id)('logs');
  const lines = card(page, 'Logs').locator('tbody tr');
  const all = await lines.count();
  await page.getByRole('combobox', { name: 'Level' }).selectOption('warning');
  await expect(page).toHaveURL(/level=warning/);
  await expect.poll(() => lines.count()).toBeLessThan(all);
  await page.getByRole('searchbox', { name: 'Filter' }).fill('turn 50 of');
  await page.keyboard.press('Enter');
  await expect(lines).toHaveCount(1);
  await expect(lines).toContainText('turn 50 of browse');
  await page.reload();
  await expect(lines).toHaveCount(1);
  expect(problems()).toEqual([]);
});

test('what is measured is questioned: validity and audit', async ({ page }) => {
  const problems = guarded(page);
  const { id } = real().runs.before;
  await served(page, id)('summary');
  await card(page, 'Validity').getByRole('link', { name: 'Why?' }).click();
  await expect(page).toHaveURL(/\/validity/);
  const response = await page.request.get(`/api/v1/runs/${id}/validity?lang=en`);
  const { strip } = (await response.json()) as { strip: { value: { text: string } }[] };
  const looked = await cells(card(page, 'Checked').locator('table'));
  expect(looked.map(([, value]) => value)).toEqual(strip.map(({ value }) => value.text));
  expect(looked.find(([name]) => name === 'Sent = recorded')?.[1]).toBe(textOf(reportOf(id).metrics, 'http_reqs', 'count'));
  await expect(card(page, 'Load generator').locator('figure.chart').first()).toBeVisible();
  await page.keyboard.press(']');
  await expect(page).toHaveURL(/\/audit/);
  await expect(card(page, 'Derived figures')).toBeVisible();
  // Both limits on failed requests cannot be meant, which is reported in each language.
  await expect(page.locator('main .find h3').first()).toContainText('http_req_failed');
  await page.getByRole('button', { name: '한국어' }).click();
  await expect(page.locator('main .find h3').first()).toContainText(/[가-힣]/);
  await expect(page.locator('main .find').first()).toContainText('http_req_failed');
  expect(problems()).toEqual([]);
});

test('language and theme are chosen, and stand in the address', async ({ page, context }) => {
  await page.goto('/');
  await page.getByRole('button', { name: '한국어' }).click();
  await expect(page).toHaveURL(/lang=ko/);
  await page.getByRole('button', { name: '시스템' }).click();
  await page.getByRole('button', { name: '밝게' }).click();
  await expect(page).toHaveURL(/theme=dark/);
  await page.locator('table.rows').getByRole('link', { name: 'after', exact: true }).click();
  await expect(page.getByRole('navigation', { name: '화면' })).toBeVisible();
  await expect(page).toHaveURL(/lang=ko.*theme=dark|theme=dark.*lang=ko/);
  // A link shows the same to a reader who has chosen nothing.
  const other = await context.browser()!.newContext({ locale: 'en-GB' });
  const theirs: Page = await other.newPage();
  await theirs.goto(page.url());
  await expect(theirs.locator('html')).toHaveAttribute('lang', 'ko');
  await expect(theirs.locator('html')).toHaveAttribute('data-theme', 'dark');
  await other.close();
});
