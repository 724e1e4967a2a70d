// Every screen of a real run, on a desk and on a telephone. SHOTS=folder keeps a picture of each, in both themes and languages.

import { expect } from '@playwright/test';
import { guarded } from '../guard';
import { real, settled, test } from './real';

const SIZES = [['desk', 1440, 900], ['phone', 390, 844]] as const;
const FOLDER = process.env['SHOTS'];
const LOOKS = FOLDER ? ([['light', 'en'], ['dark', 'en'], ['light', 'ko'], ['dark', 'ko']] as const) : ([['light', 'en']] as const);

function screens(): [string, string][] {
  const { before, after } = real().runs;
  const run = `/runs/${after.id}`;
  return [
    ['runs', '/'],
    ['trend', '/?script=shop.js'],
    ['summary', `${run}/summary`],
    ['zoomed', `${run}/summary?from=5&to=15`],
    ['requests', `${run}/requests`],
    ['detail', `${run}/requests?q=search`],
    ['statuses', `${run}/requests?view=statuses`],
    ['evidence', `${run}/evidence`],
    ['distribution', `${run}/distribution`],
    ['errors', `${run}/errors`],
    ['logs', `${run}/logs`],
    ['validity', `${run}/validity`],
    ['audit', `${run}/audit`],
    ['compare', `/compare?a=${before.id}&b=${after.id}`],
  ];
}

for (const [size, width, height] of SIZES) {
  for (const [theme, lang] of LOOKS) {
    test(`every screen fits: ${size}, ${theme}, ${lang}`, async ({ page }) => {
      test.setTimeout(120_000);
      const problems = guarded(page);
      await page.setViewportSize({ width, height });
      for (const [name, path] of screens()) {
        await page.goto(`${path}${path.includes('?') ? '&' : '?'}theme=${theme}&lang=${lang}`);
        await settled(page);
        if (name === 'detail') {
          await page.locator('table.tree .pick .mono', { hasText: 'GET search' }).click();
          await settled(page);
        }
        expect([name, await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)]).toEqual([name, 0]);
        if (FOLDER) await page.screenshot({ path: `${FOLDER}/${name}-${size}-${theme}-${lang}.png`, fullPage: size === 'phone' });
      }
      expect(problems()).toEqual([]);
    });
  }
}
