// A run that goes on: watched on the page that it serves itself, stopped there, and opened again.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { guarded } from '../guard';
import { summaryIs } from './held';
import { card, real, reportOf, says, served, surroundings, test } from './real';

const SCRIPTS = new URL('scripts/', import.meta.url).pathname;
/** The run is over by itself after this time, ms; a test that hangs leaves nothing behind. */
const RUN_MS_MAX = 90_000;

test('a run is watched, stopped and opened again', async ({ page }) => {
  // While the file of a run is being finished, requests for it are asked to retry later.
  const problems = guarded(page, [409]);
  const { plimsoll, folder, target } = real();
  const child = spawn(plimsoll, ['run', '--runs', join(folder, 'runs'), '--no-page=false', '-e', `TARGET=${target}`, 'steady.js'], {
    cwd: SCRIPTS, env: surroundings(folder), stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_MS_MAX,
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  try {
    const address = await new Promise<string>((resolve, reject) => {
      let text = '';
      const read = (part: Buffer) => {
        text += part.toString();
        const found = /page: (http:\S+)\s/.exec(text);
        if (found) resolve(found[1]!);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.on('close', (code) => reject(new Error(`it ended with ${code}\n${text}`)));
    });
    await page.goto(`${address}?lang=en`);
    await expect(page.getByText(/live · last data/)).toBeVisible();
    const requests = async () => Number((await card(page, 'Now').locator('dd').first().innerText()).split(' ')[0]);
    await expect.poll(requests).toBeGreaterThan(80);
    const early = await requests();
    await expect.poll(requests).toBeGreaterThan(early);
    await expect(card(page, 'Thresholds')).toContainText('count>0');
    await expect(card(page, 'Logs')).toContainText(/iteration \d+0 begins/);
    await expect(page.locator('figure.chart').first().locator('.plot')).toBeVisible();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('dialog', { name: 'Stop' }).getByRole('button', { name: 'Stop' }).click();
    await expect(page.getByText('The run has ended.').first()).toBeVisible();
    expect(await ended).toBe(103);
    // Its process is gone, and the page says how to see it again.
    await expect(page.getByText('plimsoll serve').first()).toBeVisible();
    const id = /runs\/([0-9a-f]+)/.exec(address)![1]!;
    await summaryIs(page, served(page, id), reportOf(id), says('report', id, '--format', 'md'));
    expect(problems().filter((problem) => !problem.includes('ERR_CONNECTION_REFUSED') && !problem.includes('ERR_INCOMPLETE_CHUNKED_ENCODING'))).toEqual([]);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
});
