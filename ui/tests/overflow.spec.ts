// Nothing is cut off and nothing overlaps, on wide and narrow screens, with the longest texts that others choose.

import { expect, test, type Page } from '@playwright/test';

const RUN = '/runs/ab12cd08';
const SCREENS: [string, string][] = [
  ['runs', '/'],
  ['summary', `${RUN}/summary`],
  ['live', '/runs/ab12cd09/live'],
  ['requests', `${RUN}/requests`],
  ['statuses', `${RUN}/requests?view=statuses`],
  ['evidence', `${RUN}/evidence`],
  ['bottleneck', `${RUN}/bottleneck`],
  ['capacity', `${RUN}/capacity`],
  ['distribution', `${RUN}/distribution`],
  ['errors', `${RUN}/errors`],
  ['logs', `${RUN}/logs`],
  ['traces', `${RUN}/traces`],
  ['trace', `${RUN}/traces?trace=3e7037e3a1c94b62985d0f47c6d2aab1`],
  ['services', `${RUN}/services`],
  ['validity', `${RUN}/validity`],
  ['audit', `${RUN}/audit`],
  ['report', `${RUN}/report`],
  ['compare', '/compare?a=ab12cd07&b=ab12cd08'],
  ['compare-several', '/compare?a=ab12cd05&b=ab12cd07&c=ab12cd08'],
  ['long-summary', '/runs/hostile/summary'],
  ['long-requests', '/runs/hostile/requests'],
  ['long-errors', '/runs/hostile/errors'],
  ['long-report', '/runs/hostile/report'],
  ['long-bottleneck', '/runs/hostile/bottleneck'],
];

/** Lines of smaller texts cannot be read, pixels. */
const TEXT_HEIGHT_MIN = 9;

/** Texts that stick out of their boxes, and cards that lie over each other. */
function flaws(page: Page): Promise<string[]> {
  return page.evaluate((TEXT_HEIGHT_MIN) => {
    const found: string[] = [];
    const seen = (element: Element) => {
      const box = element.getBoundingClientRect();
      return box.width > 1 && box.height > 1 && getComputedStyle(element).visibility !== 'hidden' && !element.closest('.unseen, svg, [hidden]');
    };
    const scrolls = (element: Element | null): boolean =>
      element !== null && element !== document.body && (['auto', 'scroll'].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    const named = (element: Element) => `${element.tagName.toLowerCase()}.${element.className} "${(element.textContent ?? '').trim().slice(0, 60)}"`;
    if (document.documentElement.scrollWidth > innerWidth + 1) found.push(`the page is ${document.documentElement.scrollWidth} px wide`);
    for (const element of document.querySelectorAll('main *, header *, footer *')) {
      if (!seen(element) || !(element instanceof HTMLElement) || scrolls(element)) continue;
      const { overflowX, textOverflow } = getComputedStyle(element);
      const isCut = element.scrollWidth > element.clientWidth + 1 && overflowX !== 'auto' && overflowX !== 'scroll' && getComputedStyle(element).display !== 'inline';
      // A cut text with its whole in a title is no loss; nor is a drawing.
      const isExplained = textOverflow === 'ellipsis' && (element.title !== '' || element.querySelector('[title]') !== null || element.closest('[title]') !== null);
      if (isCut && !isExplained && element.querySelector('canvas, svg.map') === null && !element.closest('.plot, .bdown, .minimap')) found.push(`cut: ${named(element)} ${element.scrollWidth} in ${element.clientWidth}`);
      const box = element.getBoundingClientRect();
      // What a box around it cuts off is found there.
      const isClipped = (function clips(above: Element | null): boolean {
        return above !== null && above !== document.body && (getComputedStyle(above).overflowX !== 'visible' || clips(above.parentElement));
      })(element.parentElement);
      if (box.right > innerWidth + 1 && !isClipped) found.push(`outside: ${named(element)} to ${Math.round(box.right)}`);
    }
    // Texts of drawings: inside of them, and large enough to be read.
    for (const text of document.querySelectorAll('main svg text')) {
      const drawing = text.closest('svg')!.getBoundingClientRect();
      const box = text.getBoundingClientRect();
      if (box.width < 1 || drawing.width < 1 || (text.textContent ?? '').length > 40) continue;
      if (box.left < drawing.left - 2 || box.right > drawing.right + 2) found.push(`outside its drawing: "${text.textContent}"`);
      if (box.height < TEXT_HEIGHT_MIN) found.push(`${box.height.toFixed(1)} px high: "${text.textContent}"`);
    }
    const cards = [...document.querySelectorAll('.card, .filters')].filter(seen).map((card) => card.getBoundingClientRect());
    cards.forEach((a, index) => {
      for (const b of cards.slice(index + 1)) {
        const [across, down] = [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
        if (across > 1 && down > 1) found.push(`cards lie over each other by ${Math.round(across)} × ${Math.round(down)} px`);
      }
    });
    // Texts beside each other in a heading, a tile or a row of words must not meet.
    for (const row of document.querySelectorAll('.hd, .charthead, .facts, .trust, .top, .filters, .kv')) {
      const parts = [...row.children].filter(seen).map((part) => ({ part, box: part.getBoundingClientRect() }));
      parts.forEach((a, index) => {
        for (const b of parts.slice(index + 1)) {
          const [across, down] = [Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left), Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top)];
          if (across > 1 && down > 1) found.push(`overlap: ${named(a.part)} and ${named(b.part)}`);
        }
      });
    }
    return [...new Set(found)].slice(0, 12);
  }, TEXT_HEIGHT_MIN);
}

for (const width of [1440, 390]) {
  for (const lang of ['en', 'ko']) {
    test(`nothing is cut or overlaps at ${width} px, ${lang}`, async ({ page }) => {
      test.setTimeout(180_000);
      await page.setViewportSize({ width, height: 900 });
      const all: string[] = [];
      // A live run whose objective has the name of a long selector.
      await page.route(/\/api\/v1\/runs\/ab12cd09\/thresholds/, async (route) => {
        const response = await route.fetch();
        const answer = (await response.json()) as { thresholds: { metric: string }[] };
        if (answer.thresholds[0]) answer.thresholds[0].metric = 'http_req_duration{scenario:browse,name:checkout of the whole basket}';
        await route.fulfill({ response, json: answer });
      });
      for (const [name, path] of SCREENS) {
        await page.goto(`${path}${path.includes('?') ? '&' : '?'}lang=${lang}`);
        await page.locator('main#main').waitFor();
        await page.waitForTimeout(name === 'live' ? 1200 : 350);
        all.push(...(await flaws(page)).map((flaw) => `${name}: ${flaw}`));
      }
      expect(all).toEqual([]);
    });
  }
}

test('the measure sees what is cut and what overlaps', async ({ page }) => {
  await page.goto(`${RUN}/errors?lang=en`);
  await page.locator('.card .hd h2').first().waitFor();
  await page.evaluate(() => {
    const heading = document.querySelector<HTMLElement>('.card .hd h2')!;
    Object.assign(heading.style, { width: '20px', overflow: 'hidden', whiteSpace: 'nowrap' });
    heading.textContent = 'a heading that is far too long for its place';
  });
  expect((await flaws(page)).some((flaw) => flaw.startsWith('cut:'))).toBe(true);
});
