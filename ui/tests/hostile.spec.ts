// What scripts and servers send is text, whatever it looks like: on every screen, and from a report.

import { expect, test } from '@playwright/test';
import { guarded } from './guard';

const PATHS = [
  '/',
  '/?script=%3C%2Fscript%3E%3Cscript%3Ewindow.__hacked%3D1%3C%2Fscript%3E',
  '/runs/hostile/summary?metrics=all',
  '/runs/hostile/requests',
  '/runs/hostile/requests?view=statuses',
  '/runs/hostile/distribution?tags=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E',
  '/runs/hostile/errors',
  '/runs/hostile/logs',
  '/runs/hostile/traces',
  '/runs/hostile/traces?trace=3e7037e3a1c94b62985d0f47c6d2aab1&span=0000000000000001',
  '/runs/hostile/traces?trace=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E',
  '/runs/hostile/services',
  '/runs/hostile/services?view=table',
  '/runs/hostile/validity',
  '/runs/hostile/audit',
  '/runs/hostile/report',
  '/runs/hostile/evidence?lanes=all',
  '/runs/hostile/evidence?view=queues',
  '/runs/hostile/evidence?view=database',
  '/runs/hostile/evidence?view=host',
  '/runs/hostile/bottleneck',
  '/runs/hostile/bottleneck?view=table&finding=2',
  '/runs/hostile/capacity',
  '/compare?a=hostile&b=%22%3E%3Csvg%20onload%3Dalert(1)%3E',
  '/runs/%3Cimg%20src%3Dx%3E/summary',
];

for (const path of PATHS) {
  test(`nothing runs on ${path}`, async ({ page }) => {
    const problems = guarded(page, [404]);
    await page.goto(path);
    await page.locator('main#main').waitFor();
    await page.waitForTimeout(700);
    await expect(page.locator('[aria-busy="true"]')).toHaveCount(0, { timeout: 15_000 });
    expect(await page.evaluate(() => (window as { __hacked?: number }).__hacked)).toBeUndefined();
    expect(await page.locator('img, script:not([src]), iframe, object, embed, [onload], [onerror], [href^="javascript:" i], [src^="javascript:" i]').count()).toBe(0);
    // A megabyte of name neither widens the page nor fills it.
    const { wide, long, out } = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth - innerWidth,
      // Text that is wider than its box is clipped, scrolled or wrapped there.
      out: [...document.querySelectorAll('main *')]
        .filter((element) => element.getClientRects().length > 0 && element.getBoundingClientRect().right > innerWidth + 1)
        .filter((element) => {
          for (let box = element.parentElement; box; box = box.parentElement) {
            if (getComputedStyle(box).overflowX !== 'visible') return false;
          }
          return true;
        })
        .map((element) => element.outerHTML.slice(0, 80)),
      long: Math.max(...[...document.querySelectorAll('main *')].map((element) => (element.children.length === 0 ? (element.textContent ?? '').length : 0))),
    }));
    expect(wide).toBeLessThanOrEqual(0);
    expect(out).toEqual([]);
    expect(long).toBeLessThan(9000);
    const text = await page.locator('body').innerText();
    expect(text).not.toMatch(/[\u0007\u001b\u202e\u2066]/);
    expect(problems()).toEqual([]);
  });
}
