// What people do with the page.

import { expect, test, type Page } from '@playwright/test';
import { guarded } from './guard';

const RUN = '/runs/ab12cd08';

test.beforeEach(async ({ request }) => {
  await request.get('/test/reset');
});

test('from the list to a run and back, with the browser’s own buttons', async ({ page }) => {
  const problems = guarded(page);
  await page.goto('/');
  await page.getByRole('link', { name: 'nightly <b>"&' }).click();
  await expect(page).toHaveURL(/\/runs\/ab12cd08$/);
  await expect(page.getByRole('heading', { name: '3 of 4 thresholds failed' })).toBeVisible();
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: /^Requests/ }).click();
  await expect(page).toHaveURL(/\/requests$/);
  await page.goBack();
  await expect(page.getByRole('heading', { name: '3 of 4 thresholds failed' })).toBeVisible();
  await page.goBack();
  await expect(page.locator('table.rows')).toContainText('first-page.js');
  expect(problems()).toEqual([]);
});

test('filters of the list are in the address', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('combobox', { name: 'Status' }).selectOption('failed');
  await expect(page).toHaveURL(/status=failed/);
  await expect(page.locator('tbody tr').first()).toContainText('Failed');
  const shown = await page.locator('table.rows tbody tr').count();
  await page.reload();
  await expect(page.locator('table.rows tbody tr')).toHaveCount(shown);
  await page.getByRole('button', { name: 'All runs' }).click();
  await expect(page).not.toHaveURL(/status=/);
});

test('two chosen runs are compared, the older one first', async ({ page }) => {
  await page.goto('/');
  await page.getByLabel('Select run ab12cd08').check();
  await page.getByLabel('Select run ab12cd05').check();
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await expect(page).toHaveURL(/a=ab12cd05&b=ab12cd08/);
  await expect(page.getByRole('heading', { name: /figure regressed/ })).toBeVisible();
  await page.keyboard.press('x');
  await expect(page).toHaveURL(/a=ab12cd08&b=ab12cd05/);
});

test('a run is compared with the baseline of its script unless another is chosen', async ({ page }) => {
  await page.goto(`${RUN}/summary`);
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Compare' }).click();
  await expect(page).toHaveURL(/a=ab12cd07/);
  await expect(page.getByRole('heading', { name: /figure regressed/ })).toBeVisible();
});

test('a baseline is pinned and a note is kept', async ({ page, request }) => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Baseline: run ab12cd08' }).click();
  await page.goto(`${RUN}/summary`);
  await page.getByRole('textbox', { name: 'Note' }).fill('after the index');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved.')).toBeVisible();
  const { writes } = (await (await request.get('/test/state')).json()) as { writes: unknown };
  expect(writes).toEqual([
    { path: '/api/v1/runs/ab12cd08/baseline', value: { isBaseline: true } },
    { path: '/api/v1/runs/ab12cd08/note', value: { note: 'after the index' } },
  ]);
});

test('a report is taken away as a file, or printed', async ({ page }) => {
  await page.goto(`${RUN}/summary?lang=ko`);
  const report = page.getByRole('group', { name: '보고서' });
  for (const [name, file] of [['HTML', 'report.html'], ['Markdown', 'report.md']] as const) {
    const link = report.getByRole('link', { name });
    await expect(link).toHaveAttribute('href', `/api/v1${RUN}/${file}?lang=ko`);
    await expect(link).toHaveAttribute('download', '');
  }
  await page.evaluate(() => (window.print = () => (document.title = 'printed')));
  await report.getByRole('button', { name: 'PDF' }).click();
  await expect(page).toHaveTitle('printed');
});

test('dragging zooms, and every number is asked for anew', async ({ page }) => {
  await page.goto(`${RUN}/summary`);
  // What is known of the whole run comes later, and moves what stands below it.
  await page.getByRole('region', { name: 'Bottleneck' }).waitFor();
  await page.getByRole('region', { name: 'Maximum load' }).waitFor();
  const plot = page.locator('.plot .u-over').first();
  await plot.scrollIntoViewIfNeeded();
  const box = (await plot.boundingBox())!;
  const asked = page.waitForRequest((request) => /\/api\/v1\/runs\/ab12cd08\?from=\d+&lang=en&to=\d+/.test(request.url()));
  await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 50, { steps: 6 });
  await page.mouse.up();
  await asked;
  const { from, to } = bounds(page);
  expect(to - from).toBeGreaterThan(50);
  await expect(page.getByText(String((to - from) * 100), { exact: true })).toBeVisible();
  await expect(page.getByText('Bottleneck, maximum load, audit and thresholds are those of the whole run')).toBeVisible();
  await page.keyboard.press('0');
  await expect(page).not.toHaveURL(/from=/);
});

test('what is typed into a filter asks nothing anew, and a zoom keeps the charts that are there', async ({ page }) => {
  const asked: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname.startsWith('/api/')) asked.push(`${url.pathname}${url.searchParams.has('from') ? ' of a part' : ''}`);
  });
  await page.goto(`${RUN}/summary`);
  const canvases = page.locator('.plot canvas');
  await expect(canvases).toHaveCount(5);
  await canvases.evaluateAll((all) => all.forEach((canvas) => canvas.setAttribute('data-known', '')));
  await page.getByRole('region', { name: 'Bottleneck' }).waitFor();
  await page.getByRole('region', { name: 'Maximum load' }).waitFor();
  asked.length = 0;
  await page.locator('[data-filter]').pressSequentially('http');
  await expect(page).toHaveURL(/q=http/);
  await page.locator('.plot .u-over').first().scrollIntoViewIfNeeded();
  const box = (await page.locator('.plot .u-over').first().boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 50, { steps: 6 });
  await page.mouse.up();
  await expect(page).toHaveURL(/from=/);
  const run = '/api/v1/runs/ab12cd08';
  await expect.poll(() => [...asked].sort()).toEqual([`${run} of a part`, `${run}/series of a part`, `${run}/thresholds of a part`]);
  // All but the one that has other lines in this part.
  await expect(page.locator('.plot canvas[data-known]')).toHaveCount(4);
});

test('why there is no number is said in the language of the page', async ({ page }) => {
  await page.route(/\/api\/v1\/runs\/ab12cd08\?/, async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as { headline: { figures: Record<string, unknown> } };
    answer.headline.figures['p99'] = { value: null, text: 'n/a: no samples', censored: 'n/a: no samples' };
    await route.fulfill({ response, json: answer });
  });
  for (const [lang, text] of [['en', 'n/a: no samples'], ['ko', 'n/a: 표본 없음']]) {
    await page.goto(`${RUN}/summary?lang=${lang}`);
    await expect(page.locator('.fact').filter({ has: page.getByText('p99', { exact: true }) })).toContainText(text!);
  }
});

test('the window stays when the screen changes', async ({ page }) => {
  await page.goto(`${RUN}/summary?from=100&to=150`);
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: /^Errors/ }).click();
  await expect(page).toHaveURL(/errors\?from=100&to=150/);
});

test('the crosshair is one for all charts, and the keyboard moves it', async ({ page }) => {
  await page.goto(`${RUN}/summary`);
  await page.locator('.plot').first().focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  const readouts = page.locator('.readout');
  await expect(readouts.nth(0)).toContainText('at 0:01: offered 20.5/s');
  await expect(readouts.nth(1)).toContainText('at 0:01: p50');
  await expect(readouts.nth(3)).toContainText('at 0:01: no response');
  await expect(readouts.nth(4)).toContainText('at 0:01: VUs');
  await expect(readouts.nth(0)).toContainText('GMT+9');
  await page.keyboard.press('t');
  await expect(page.getByRole('group', { name: 'Rate' }).getByRole('row')).toHaveCount(301);
});

test('a quantile without support is a gap with its reason', async ({ page }) => {
  await page.goto(`${RUN}/summary`);
  await expect(page.getByText(/p99 has too few samples at 0:00–0:41/)).toBeVisible();
});

test('the request tree folds, sorts, filters and opens a detail', async ({ page }) => {
  await page.goto(`${RUN}/requests`);
  const rows = page.locator('table.tree tbody tr');
  await expect(rows).toHaveCount(4);
  await page.getByRole('button', { name: 'Fold browse' }).click();
  await expect(rows).toHaveCount(1);
  await page.reload();
  await expect(rows).toHaveCount(1);
  await page.getByRole('searchbox', { name: 'Filter' }).fill('search');
  await expect(rows).toHaveCount(3);
  await page.getByRole('button', { name: /apps\/search/ }).click();
  await expect(page).toHaveURL(/node=/);
  await expect(page.getByRole('region', { name: 'Detail' })).toContainText('TLS');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Status matrix' }).click();
  await expect(page.getByRole('columnheader', { name: '504' })).toBeVisible();
});

test('keys: help, screens, filter', async ({ page }) => {
  await page.goto(`${RUN}/summary`);
  await page.getByRole('heading', { name: '3 of 4' }).waitFor();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keys' })).toBeVisible();
  await page.keyboard.press('Escape');
  // A dialog that is still closing takes what is pressed.
  await expect(page.getByRole('dialog', { name: 'Keys' })).toBeHidden();
  // A closed dialog keeps the focus until the next frame: a key that arrives before it is for the screen.
  await page.locator('dialog.keys').first().dispatchEvent('keydown', { key: '[', bubbles: true });
  await expect(page).not.toHaveURL(/\/summary/);
  await page.keyboard.press(']');
  await expect(page).toHaveURL(/\/summary/);
  await page.keyboard.press(']');
  await expect(page).toHaveURL(/\/requests/);
  await page.locator('table.tree').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('zzz');
  await expect(page.getByText('Nothing matches the filter.')).toBeVisible();
});

test('theme and language stay, and a link can name them', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('button', { name: '한국어' }).click();
  await expect(page.getByRole('heading', { name: '실행', level: 1 })).toBeVisible();
  await page.getByRole('button', { name: '시스템' }).click();
  await page.getByRole('button', { name: '밝게' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.goto('/?lang=en&theme=light');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
  await expect(page.getByRole('heading', { name: 'Runs', level: 1 })).toBeVisible();
});

test('a token is taken from the fragment, which then is gone', async ({ page, request }) => {
  await request.get('/test/token?is=secret');
  await page.goto('/#token=secret');
  await expect(page.locator('table.rows')).toContainText('first-page.js');
  expect(page.url()).not.toContain('secret');
});

test('without a token there is a field for it', async ({ page, request }) => {
  await request.get('/test/token?is=secret');
  await page.goto(`${RUN}/summary`);
  await page.getByLabel('Token', { exact: true }).last().fill('wrong');
  await page.getByRole('button', { name: 'Open' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await page.getByLabel('Token', { exact: true }).last().fill('secret');
  await page.getByRole('button', { name: 'Open' }).click();
  await expect(page.getByRole('heading', { name: '3 of 4' })).toBeVisible();
});

test('an answer that does not come says why', async ({ page }) => {
  await page.goto('/runs/ffff/summary');
  await expect(page.getByText('Run or time range not found.')).toBeVisible();
  await page.route('**/api/v1/runs/ab12cd08/audit*', (route) => route.abort());
  await page.goto(`${RUN}/audit`);
  await expect(page.getByText(/No response/)).toBeVisible();
  await page.unroute('**/api/v1/runs/ab12cd08/audit*');
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(page.getByText('it decides nothing')).toBeVisible();
});

function bounds(page: Page): { from: number; to: number } {
  const query = new URL(page.url()).searchParams;
  return { from: Number(query.get('from')), to: Number(query.get('to')) };
}

test('the button for paper opens the report and prints it once', async ({ page }) => {
  await page.addInitScript(() => {
    (window as { __printed?: string[] }).__printed = [];
    window.print = () => (window as unknown as { __printed: string[] }).__printed.push(document.querySelector('.paper h2')?.textContent ?? '');
  });
  await page.goto('/runs/ab12cd08/requests?lang=en');
  await page.getByRole('button', { name: 'PDF' }).click();
  await page.locator('.paper').waitFor();
  await expect(page).toHaveURL(/\/runs\/ab12cd08\/report\?lang=en$/);
  await page.waitForTimeout(300);
  const printed = await page.evaluate(() => (window as unknown as { __printed: string[] }).__printed);
  expect(printed).toHaveLength(1);
  expect(printed[0]).toContain('Not OK at up to 120 VUs');
});

test('a summary that is opened while the server is away has its charts after a retry', async ({ page }) => {
  await page.route('**/api/v1/runs/**', (route) => route.abort());
  await page.goto(RUN);
  await expect(page.getByRole('button', { name: 'Retry' })).toBeVisible();
  await page.unroute('**/api/v1/runs/**');
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(page.getByRole('heading', { name: '3 of 4 thresholds failed' })).toBeVisible();
  await expect(page.locator('.plot canvas').first()).toBeVisible();
});
