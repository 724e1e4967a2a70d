// First paint, opening, zooming, and each screen.

import { expect, test, type Browser, type Page } from '@playwright/test';
import { figure, ROUNDS, RUN, serve, settled, watch, type Served } from './program';

/** Answers that the summary asks for beside what it is: the run, its columns, its thresholds. */
const ANSWERS_OF_ZOOM = 3;
const SCREENS = ['requests', 'distribution', 'errors', 'logs', 'validity', 'audit'];
/** Reading ahead is done after so long, ms. */
const AHEAD_MS = 4000;
/**
 * A new window of the browser has loaded its own parts after so long, ms: Chromium's address bar alone is 200 files and takes
 * more of the processor than the page. A reader who follows a link has a window already.
 */
const WINDOW_MS = 2500;

async function opened(browser: Browser, served: Served, path: string): Promise<Page> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await watch(page);
  await page.waitForTimeout(WINDOW_MS);
  await page.goto(`${served.url}${path}`);
  return page;
}

async function expectSummary(page: Page): Promise<void> {
  await expect(page.locator('.plot canvas')).toHaveCount(5);
  await expect(page.locator('.waiting')).toHaveCount(0);
}

test('first paint and opening', async ({ browser }) => {
  const [paints, contents, openings, lists] = [[], [], [], []] as number[][];
  for (let round = 0; round < ROUNDS; round += 1) {
    // A server that has read nothing yet, and a browser that has nothing kept.
    const served = await serve();
    const page = await opened(browser, served, `/runs/${RUN()}`);
    openings?.push(await settled(page, 1 + ANSWERS_OF_ZOOM));
    await expectSummary(page);
    const paint = (name: string) => page.evaluate((name) => performance.getEntriesByName(name)[0]?.startTime ?? Infinity, name);
    paints?.push(await paint('first-paint'));
    contents?.push(await paint('first-contentful-paint'));
    await page.context().close();
    const list = await opened(browser, served, '/');
    lists?.push(await settled(list, 2));
    await list.context().close();
    await served.end();
  }
  figure('first paint', paints ?? []);
  figure('first content', contents ?? []);
  figure('opening the summary', openings ?? []);
  figure('opening the list', lists ?? []);
});

test('zoom', async ({ browser }) => {
  const served = await serve();
  const page = await opened(browser, served, `/runs/${RUN()}/summary`);
  await settled(page, 1 + ANSWERS_OF_ZOOM);
  await page.waitForTimeout(AHEAD_MS);
  const [cold, wide, warm, back] = [[], [], [], []] as number[][];
  const whole = page.url();
  for (let round = 0; round < ROUNDS; round += 1) {
    // Another part each time: a sixth of an hour, and more than half of it.
    const [from, to] = [0.1 + round * 0.05, 0.1 + round * 0.05 + 1 / 6];
    cold?.push(await drag(page, from, to));
    await page.keyboard.press('0');
    back?.push(await settled(page, ANSWERS_OF_ZOOM));
    expect(page.url()).toBe(whole);
    warm?.push(await drag(page, from, to));
    await page.keyboard.press('0');
    await settled(page, ANSWERS_OF_ZOOM);
    wide?.push(await drag(page, 0.05 + round * 0.01, 0.65 + round * 0.01));
    await page.keyboard.press('0');
    await settled(page, ANSWERS_OF_ZOOM);
  }
  figure('zoom into ten minutes', cold ?? []);
  figure('zoom into ten minutes again', warm ?? []);
  figure('zoom into 36 minutes', wide ?? []);
  figure('zoom out', back ?? []);
  await page.context().close();
  await served.end();
});

async function drag(page: Page, from: number, to: number): Promise<number> {
  const box = (await page.locator('.plot .u-over').first().boundingBox())!;
  await page.mouse.move(box.x + box.width * from, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, box.y + 50, { steps: 4 });
  await page.mouse.up();
  const took = await settled(page, ANSWERS_OF_ZOOM);
  expect(page.url()).toMatch(/from=\d+/);
  return took;
}

test('screens', async ({ browser }) => {
  const times = new Map<string, number[]>(SCREENS.map((name) => [name, []]));
  for (let round = 0; round < Math.min(ROUNDS, 3); round += 1) {
    const served = await serve();
    const page = await opened(browser, served, `/runs/${RUN()}/summary`);
    await settled(page, 1 + ANSWERS_OF_ZOOM);
    for (const name of SCREENS) {
      await page.locator(`nav.tabs a[href*="/${name}"]`).click();
      times.get(name)?.push(await settled(page, 1));
      await expect(page.locator('.waiting')).toHaveCount(0);
    }
    await page.context().close();
    await served.end();
  }
  for (const [name, values] of times) figure(`screen ${name}`, values);
});
