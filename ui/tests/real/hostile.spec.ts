// Names that scripts and servers choose stay names: on every screen of a run that is made of nasty ones, and in its report.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, type Page } from '@playwright/test';
import { guarded } from '../guard';
import { inFile, real, says, served, settled, test, type Open } from './real';

/** Screens, and what is on them. */
const SCREENS: [string, Record<string, string>, string][] = [
  ['summary', { metrics: 'all' }, '<img src=x onerror=alert(1)>'],
  ['requests', {}, '<img src=x onerror=alert(1)>'],
  ['requests', { view: 'statuses' }, '"><svg onload=alert(1)>'],
  ['distribution', {}, ''],
  ['errors', {}, ''],
  ['logs', {}, '<img src=x onerror=alert(1)>'],
  ['validity', {}, ''],
  ['audit', {}, ''],
];

/** Counts what the content policy forbade, from the first script on. */
async function watched(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const counted = window as unknown as { __forbidden: string[] };
    counted.__forbidden = [];
    document.addEventListener('securitypolicyviolation', (event) => counted.__forbidden.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
  });
}

/** Nothing of the page is anything but the page's own. */
async function harmless(page: Page): Promise<void> {
  const found = await page.evaluate(() => ({
    hacked: (window as unknown as { __hacked?: number }).__hacked,
    forbidden: (window as unknown as { __forbidden: string[] }).__forbidden,
    elements: [...document.querySelectorAll('img, iframe, object, embed, form[action], base, marquee, body script, [onload], [onerror], [onclick], a[href^="javascript:" i]')]
      .filter((element) => element.id !== 'plimsoll-data' && !(element instanceof HTMLScriptElement && element.type === 'module'))
      .map((element) => element.outerHTML.slice(0, 200)),
    wide: document.documentElement.scrollWidth - innerWidth,
    long: Math.max(...[...document.querySelectorAll('main *')].map((element) => (element.children.length === 0 ? (element.textContent ?? '').length : 0))),
  }));
  expect(found).toMatchObject({ hacked: undefined, forbidden: [], elements: [] });
  expect(found.wide).toBeLessThanOrEqual(0);
  expect(found.long).toBeLessThan(9000);
  expect(await page.locator('body').innerText()).not.toMatch(/[\u0007\u001b\u202e\u2066]/);
}

async function everyScreen(page: Page, open: Open): Promise<void> {
  for (const [screen, query, text] of SCREENS) {
    await test.step(`${screen} ${JSON.stringify(query)}`, async () => {
      await open(screen, query);
      if (text) await expect(page.locator('main')).toContainText(text);
      await harmless(page);
    });
  }
}

test('no name does anything on any screen', async ({ page }) => {
  await watched(page);
  const problems = guarded(page);
  const { id } = real().runs.hostile;
  await everyScreen(page, served(page, id));
  await served(page, id)('requests', { q: 'onerror' });
  await page.locator('table.tree .pick .mono', { hasText: 'GET <img' }).first().click();
  await settled(page);
  await harmless(page);
  await page.getByRole('region', { name: 'Detail' }).getByRole('link', { name: 'Distribution' }).click();
  await settled(page);
  await harmless(page);
  await served(page, id)('logs', { q: '<img src=x', level: 'error' });
  await harmless(page);
  expect(problems()).toEqual([]);
});

test('no name does anything in the list, its filters and a comparison', async ({ page }) => {
  await watched(page);
  const problems = guarded(page);
  const { hostile, before } = real().runs;
  const nasty = '<img src=x onerror=alert(1)>';
  for (const path of ['/', `/?script=${encodeURIComponent(nasty)}`, `/?script=hostile.js`, `/?tag=${encodeURIComponent(`team=${nasty}`)}`, `/compare?a=${before.id}&b=${hostile.id}`]) {
    await test.step(path, async () => {
      await page.goto(`${path}${path.includes('?') ? '&' : '?'}lang=en`);
      await settled(page);
      await harmless(page);
    });
  }
  expect(problems()).toEqual([]);
});

test('no name does anything in a report, with the network off', async ({ page, context }) => {
  await watched(page);
  const problems = guarded(page);
  await context.setOffline(true);
  const { id } = real().runs.hostile;
  for (const lang of ['en', 'ko']) {
    const file = join(real().folder, `hostile-${lang}.html`);
    says('report', id, '--format', 'html', '--lang', lang, '-o', file);
    await everyScreen(page, inFile(page, pathToFileURL(file).href, id));
  }
  expect(problems()).toEqual([]);
});
