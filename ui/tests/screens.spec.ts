// Every screen in both themes and languages: nothing for axe to complain of, no error, nothing that reaches out.
// SHOTS=folder keeps a picture of each.

import AxeBuilder from '@axe-core/playwright';
import { expect, test } from '@playwright/test';
import { guarded } from './guard';

const SCREENS: [string, string][] = [
  ['runs', '/'],
  ['trend', '/?script=first-page.js'],
  ['summary', '/runs/ab12cd08/summary'],
  ['live', '/runs/ab12cd09/live'],
  ['requests', '/runs/ab12cd08/requests?node=scenario%3Abrowse%2Cgroup%3A%3A%3Ahome'],
  ['statuses', '/runs/ab12cd08/requests?view=statuses'],
  ['evidence', '/runs/ab12cd08/evidence'],
  ['evidence-queues', '/runs/ab12cd08/evidence?view=queues'],
  ['evidence-database', '/runs/ab12cd08/evidence?view=database'],
  ['evidence-host', '/runs/ab12cd08/evidence?view=host'],
  ['evidence-none', '/runs/empty/evidence?view=queues'],
  ['bottleneck', '/runs/ab12cd08/bottleneck'],
  ['bottleneck-table', '/runs/ab12cd08/bottleneck?view=table&finding=2'],
  ['bottleneck-none', '/runs/empty/bottleneck'],
  ['capacity', '/runs/ab12cd08/capacity'],
  ['capacity-slo', '/runs/ab12cd08/capacity?slo=1&step=2'],
  ['capacity-none', '/runs/closed/capacity'],
  ['distribution', '/runs/ab12cd08/distribution'],
  ['errors', '/runs/ab12cd08/errors'],
  ['logs', '/runs/ab12cd08/logs'],
  ['traces', '/runs/ab12cd08/traces'],
  ['trace', '/runs/ab12cd08/traces?trace=3e7037e3a1c94b62985d0f47c6d2aab1&span=fold-000000000000000e'],
  ['trace-linear', '/runs/ab12cd08/traces?trace=3e7037e3a1c94b62985d0f47c6d2aab1&linear=1&path=1'],
  ['trace-huge', '/runs/ab12cd08/traces?trace=50005000500050005000500050005000'],
  ['services', '/runs/ab12cd08/services'],
  ['services-chain', '/runs/closed/services'],
  ['services-table', '/runs/ab12cd08/services?view=table'],
  ['empty-traces', '/runs/empty/traces'],
  ['empty-services', '/runs/empty/services'],
  ['validity', '/runs/ab12cd08/validity'],
  ['fleet', '/runs/ab12cd08/fleet'],
  ['audit', '/runs/ab12cd08/audit'],
  ['report', '/runs/ab12cd08/report'],
  ['compare', '/compare?a=ab12cd07&b=ab12cd08'],
  ['compare-several', '/compare?a=ab12cd05&b=ab12cd07&c=ab12cd08'],
  ['compare-none', '/compare'],
  ['zoomed', '/runs/ab12cd08/summary?from=200&to=260'],
  ['closed', '/runs/closed/summary'],
  ['empty', '/runs/empty/summary'],
  ['empty-requests', '/runs/empty/requests'],
  ['missing', '/runs/ffff/summary'],
  ['nowhere', '/nowhere'],
];

for (const [name, path] of SCREENS) {
  for (const [theme, lang] of [['light', 'en'], ['dark', 'en'], ['light', 'ko']] as const) {
    test(`${name}, ${theme}, ${lang}`, async ({ page }) => {
      const problems = guarded(page, name === 'missing' ? [404] : []);
      await page.goto(`${path}${path.includes('?') ? '&' : '?'}theme=${theme}&lang=${lang}`);
      await page.locator('main#main').waitFor();
      await page.waitForLoadState('load');
      await page.waitForTimeout(name === 'live' ? 1500 : 500);
      await expect(page.locator('html')).toHaveAttribute('lang', lang);
      if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/${name}-${theme}-${lang}.png`, fullPage: true });
      const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']).analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 4).map((node) => `${node.html.slice(0, 160)} (${node.failureSummary?.slice(0, 160)})`).join('\n   ')}`)).toEqual([]);
      expect(problems()).toEqual([]);
    });
  }
}
