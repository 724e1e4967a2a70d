// Leaves a page open: `node tests/speed/look.mjs URL SECONDS`.

import { chromium } from '@playwright/test';

const [url = '', seconds = '60'] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
  handleSIGTERM: false,
});
// Ctrl+C ends it.
process.on('SIGTERM', () => browser.close().finally(() => process.exit(0)));
const page = await browser.newPage({ viewport: { width: 1440, height: 1000 } });
await page.goto(url);
await page.locator('.plot canvas').first().waitFor({ timeout: 20_000 });
console.log('open');
setTimeout(() => browser.close(), Number(seconds) * 1000);
