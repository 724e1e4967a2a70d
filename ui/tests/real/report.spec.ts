// Reports as files: opened from the disk with the network off, they say what the terminal says.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { statSync } from 'node:fs';
import { expect, type BrowserContext } from '@playwright/test';
import { guarded } from '../guard';
import { distributionIs, requestsAre, summaryIs, terminalSays } from './held';
import { inFile, metricOf, real, reportOf, says, test } from './real';
import { windowsOf } from './sums';
import { withoutReason } from './words';

const BYTES_MAX = 2 << 20;

/** Writes the report of a run; returns its URL. */
function written(run: string, lang: string): string {
  const file = join(real().folder, `${run}-${lang}.html`);
  says('report', run, '--format', 'html', '--lang', lang, '-o', file);
  expect(statSync(file).size).toBeLessThan(BYTES_MAX);
  return pathToFileURL(file).href;
}

/** Takes the network away, and notes whatever asks for it. */
async function offline(context: BrowserContext): Promise<string[]> {
  const asked: string[] = [];
  context.on('request', (request) => {
    if (!request.url().startsWith('file:') && !request.url().startsWith('data:')) asked.push(request.url());
  });
  await context.route(/^(https?|wss?):/, (route) => route.abort());
  await context.setOffline(true);
  return asked;
}

test('the report in English says what the terminal says', async ({ page, context }) => {
  const asked = await offline(context);
  const problems = guarded(page);
  const { id, terminal } = real().runs.before;
  const [open, report] = [inFile(page, written(id, 'en'), id), reportOf(id)];
  const shown = await summaryIs(page, open, report, says('report', id, '--format', 'md'));
  expect(terminalSays(terminal, shown)).toBeGreaterThan(8);
  await requestsAre(page, open, report, windowsOf(id));
  await open('distribution');
  const metric = (await page.locator('main .filters select').first().inputValue());
  await distributionIs(page, metricOf(report.metrics, metric), windowsOf(id).filter((row) => row.metric === metric));
  for (const screen of ['errors', 'logs', 'validity', 'audit']) await open(screen);
  expect(asked).toEqual([]);
  expect(problems()).toEqual([]);
});

test('the report in Korean has the same numbers', async ({ page, context }) => {
  const asked = await offline(context);
  const problems = guarded(page);
  const { id } = real().runs.after;
  const numbers = async (lang: string) => {
    const open = inFile(page, written(id, lang), id);
    await open('summary', { metrics: 'all' });
    await expect(page.locator('html')).toHaveAttribute('lang', lang);
    const facts = [...(await page.locator('.fact .n').allInnerTexts()), ...(await page.locator('main td.num').allInnerTexts())];
    await open('requests');
    return [...facts, ...(await page.locator('main td.num').allInnerTexts())].map(withoutReason);
  };
  const korean = await numbers('ko');
  expect(korean.length).toBeGreaterThan(100);
  expect(await numbers('en')).toEqual(korean);
  expect(asked).toEqual([]);
  expect(problems()).toEqual([]);
});
