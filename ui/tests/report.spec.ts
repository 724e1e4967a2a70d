// An exported report: one file, opened without a server and with the network off.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import { answersOf, nasty, reportData } from './answers.mjs';
import { guarded } from './guard';

const DIST = new URL('../dist/', import.meta.url);

function written(data: unknown): string {
  const template = readFileSync(new URL('report.html', DIST), 'utf8');
  const block = `<script type="application/json" id="plimsoll-data">${JSON.stringify(data).replaceAll('</', '<\\/').replaceAll('<!--', '<\\u0021--')}</script>`;
  const path = join(mkdtempSync(join(tmpdir(), 'report-')), 'report.html');
  writeFileSync(path, template.replace('<!--plimsoll-data-->', () => block));
  return pathToFileURL(path).href;
}

test.beforeEach(async ({ context }) => {
  await context.setOffline(true);
});

test('a report shows every screen from its own data', async ({ page }) => {
  const problems = guarded(page);
  await page.goto(written(reportData()));
  await expect(page.getByRole('heading', { name: '3 of 4 thresholds failed' })).toBeVisible();
  for (const [screen, text] of [
    ['Requests', '/apps/first-page'],
    ['Distribution', 'Percentile curve'],
    ['Errors', 'HTTP 500'],
    ['Bottleneck', 'scan-worker CPU is at its limit'],
    ['Capacity', 'Maximum load: 169 VUs'],
    ['Logs', 'Insufficient VUs'],
    ['Validity', 'Reasons'],
    ['Audit', 'it decides nothing'],
  ] as const) {
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: new RegExp(`^${screen}`) }).click();
    await expect(page.locator('main')).toContainText(text);
  }
  await expect(page.getByRole('link', { name: 'Compare' })).toHaveCount(0);
  expect(problems()).toEqual([]);
});

test('a report is in its own language, and a zoom says what it does not do', async ({ page }) => {
  await page.goto(`${written(reportData('ko'))}#/runs/ab12cd08/summary?from=100&to=200`);
  await expect(page.locator('html')).toHaveAttribute('lang', 'ko');
  await expect(page.getByText('보고서의 수치는 전체 실행의 값입니다', { exact: false })).toBeVisible();
});

test('a report of nasty texts runs none of them', async ({ page }) => {
  const problems = guarded(page);
  const { lang, answers } = reportData();
  const dirty = Object.fromEntries(Object.entries(answers).map(([path, answer]) => [path, path.endsWith('/about') ? answer : nasty(answer)]));
  await page.goto(written({ lang, answers: dirty }));
  await page.locator('main#main').waitFor();
  await page.waitForTimeout(800);
  expect(await page.evaluate(() => (window as { __hacked?: number }).__hacked)).toBeUndefined();
  expect(problems()).toEqual([]);
});

test('a report prints on light paper', async ({ page }) => {
  await page.goto(`${written(reportData())}#/runs/ab12cd08/summary?theme=dark`);
  await page.getByRole('heading', { name: '3 of 4' }).waitFor();
  await page.emulateMedia({ media: 'print' });
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('light');
  await expect(page.locator('.rail')).toBeHidden();
});

test('a report prints all of its chapters, whatever screen is shown', async ({ page }) => {
  await page.goto(`${written(reportData())}#/runs/ab12cd08/requests?theme=dark`);
  await page.getByText('/apps/first-page').first().waitFor();
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print' });
  const headings = await page.locator('h2:visible').allInnerTexts();
  expect(headings[0]).toContain('Not OK at up to 120 VUs');
  expect(headings.slice(1).map((heading) => heading.split('.')[0])).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
  // The two of the first page, and those of processors in the chapter on evidence.
  expect(await page.locator('.sheet .paperchart svg').count()).toBe(2);
  await expect(page.getByRole('heading', { name: 'CPU over time' })).toBeVisible();
  expect(await page.locator('.chapter .paperchart svg').count()).toBeGreaterThan(0);
  await expect(page.locator('header, nav, .foot').filter({ visible: true })).toHaveCount(0);
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('light');
  // A4 without its margins is 184 mm wide.
  await page.setViewportSize({ width: 695, height: 1000 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: 'screen' });
  await expect(page.locator('.paper')).toHaveCount(0);
});

test('a report of a window draws that window', async ({ page }) => {
  const { lang, answers } = reportData() as { lang: string; answers: Record<string, unknown> };
  const run = answers['/api/v1/runs/ab12cd08'] as { window: object };
  const whole = answersOf('/runs/ab12cd08/series', new URLSearchParams({ from: '100', to: '200' }), { isLive: false });
  await page.goto(`${written({ lang, answers: { ...answers, '/api/v1/runs/ab12cd08': { ...run, window: { from: 100, to: 200, isWhole: false } }, '/api/v1/runs/ab12cd08/series': whole } })}#/runs/ab12cd08/report`);
  const drawing = page.locator('.sheet .paperchart svg').first();
  await drawing.waitFor();
  const times = (await drawing.locator('text').allTextContents()).filter((text) => /^\d+:\d\d$/.test(text));
  expect([times[0], times.at(-1)]).toEqual(['1:40', '3:20']);
});

test('a report shows the slowest traced request as a tree', async ({ page }) => {
  const { lang, answers } = reportData() as { lang: string; answers: Record<string, unknown> };
  const traces = answers['/api/v1/runs/ab12cd08/traces'] as { exemplars: { name: string; id: string }[] };
  const typical = traces.exemplars.find((one) => one.name === 'typical')!.id;
  const exemplars = traces.exemplars.map((one) => (one.name === 'slowest' ? { ...one, id: typical } : one));
  await page.goto(`${written({ lang, answers: { ...answers, '/api/v1/runs/ab12cd08/traces': { ...traces, exemplars } } })}#/runs/ab12cd08/report`);
  await expect(page.getByRole('heading', { name: 'Slowest traced request' })).toBeVisible();
  const rows = page.locator('table.spans tbody tr');
  expect(await rows.count()).toBeGreaterThan(5);
  const indents = await rows.locator('td:first-child').evaluateAll((cells) => cells.map((cell) => parseFloat((cell as HTMLElement).style.paddingLeft)));
  expect(Math.max(...indents)).toBeGreaterThan(Math.min(...indents));
});

test('a report of nasty texts prints them as texts', async ({ page }) => {
  const problems = guarded(page);
  await page.goto(written({ lang: 'en', answers: { ...reportData().answers, '/api/v1/runs/ab12cd08/report': answersOf('/runs/hostile/report', new URLSearchParams(), { isLive: false }) } }));
  await page.getByRole('link', { name: 'Report', exact: true }).click();
  await page.locator('.paper').waitFor();
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  expect(await page.locator('.paper').innerText()).toContain('</script><script>window.__hacked=1</script>');
  expect(await page.locator('.paper :is(img, script, iframe, a, [onload], [onerror])').count()).toBe(0);
  expect(await page.evaluate(() => (window as { __hacked?: number }).__hacked)).toBeUndefined();
  expect(problems()).toEqual([]);
});

test('what is served is small', () => {
  const index = readFileSync(new URL('index.html', DIST), 'utf8');
  const scripts = [...index.matchAll(/<script[^>]+src="\/(assets\/[^"]+)"/g)].map((match) => match[1] ?? '');
  expect(scripts).toHaveLength(1);
  const bytes = gzipSync(readFileSync(new URL(scripts[0] ?? '', DIST))).length;
  console.log(`script: ${(bytes / 1000).toFixed(1)} kB gzip`);
  expect(bytes).toBeLessThan(156_000);
  expect(readFileSync(new URL('report.html', DIST)).length).toBeLessThan(480 * 1024);
  expect(index).not.toMatch(/<script(?![^>]+src=)|style=|http:\/\/|https:\/\//);
});

test('colours of the tokens can be read on every surface', async ({ page }) => {
  await page.goto(written(reportData()));
  const ratios = await page.evaluate(() => {
    const luminance = (colour: string) => {
      const [red = 0, green = 0, blue = 0] = (/\(([^)]+)\)/.exec(colour)?.[1] ?? '').split(/[,\s]+/).map((part) => Number(part) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const probe = document.body.appendChild(document.createElement('i'));
    const read = (token: string) => {
      probe.style.color = `var(${token})`;
      return luminance(getComputedStyle(probe).color);
    };
    const result: [string, string, string, number][] = [];
    for (const theme of ['light', 'dark']) {
      document.documentElement.dataset['theme'] = theme;
      for (const surface of ['--bg', '--surface', '--sunken', '--hover', '--selected']) {
        for (const ink of ['--ink', '--ink-2', '--ink-3', '--accent', '--ok', '--warn', '--fail', '--unk']) {
          const [low, high] = [read(surface), read(ink)].sort((a, b) => a - b) as [number, number];
          result.push([theme, surface, ink, (high + 0.05) / (low + 0.05)]);
        }
      }
      for (let series = 1; series <= 8; series += 1) {
        const [low, high] = [read('--surface'), read(`--s${series}`)].sort((a, b) => a - b) as [number, number];
        result.push([theme, '--surface', `--s${series}`, (high + 0.05) / (low + 0.05)]);
      }
    }
    return result;
  });
  expect(ratios.length).toBe(96);
  expect(ratios.filter(([, , , ratio]) => ratio < 4.5)).toEqual([]);
});
