// More than two runs beside each other: the first is what the others are compared with, and the answer comes before the table.

import { expect, test } from '@playwright/test';

const THREE = '/compare?a=ab12cd05&b=ab12cd07&c=ab12cd08&lang=en';

test('three chosen runs are compared, the oldest one as the reference', async ({ page }) => {
  await page.goto('/');
  for (const run of ['ab12cd08', 'ab12cd05', 'ab12cd07']) await page.getByLabel(`Select run ${run}`).check();
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await expect(page).toHaveURL(/a=ab12cd05&b=ab12cd07&c=ab12cd08/);
  await expect(page.getByRole('heading', { name: /^B: / })).toBeVisible();
});

test('each side has its answer, then its column', async ({ page }) => {
  await page.goto(THREE);
  const verdict = page.getByRole('region', { name: 'Verdict' });
  await expect(verdict.getByRole('heading')).toHaveText([/^\s*B: 1 figure regressed/, /^\s*C: Nothing could be judged/]);
  const table = page.getByRole('group', { name: 'Changes' });
  await expect(table.locator('thead th')).toHaveText(['Series', 'Figure', 'A baseline', 'B ab12cd07', 'C ab12cd08']);
  const first = table.locator('tbody tr').first().locator('td');
  await expect(first).toHaveText(['GET /apps/first-page', 'p50', '612ms', /248ms\s*×0.405/, '–']);
  await expect(first.nth(3).locator('.st.ok')).toHaveText('×0.405');
  const [answer, rows] = [await verdict.boundingBox(), await table.boundingBox()];
  expect(answer!.y).toBeLessThan(rows!.y);
  // One side that cannot be compared does not make the others so.
  await expect(page.getByText('WITH CARE')).toBeVisible();
});

test('a side is added and removed by its choice', async ({ page }) => {
  await page.goto('/compare?a=ab12cd07&b=ab12cd08&lang=en');
  await expect(page.getByRole('group', { name: 'Changes' }).locator('thead th')).toHaveCount(7);
  await page.getByRole('combobox', { name: 'Add a run' }).selectOption('ab12cd05');
  await expect(page).toHaveURL(/c=ab12cd05/);
  await expect(page.getByRole('heading', { name: /^C: / })).toBeVisible();
  await page.getByRole('combobox', { name: 'Side C' }).selectOption('');
  await expect(page).not.toHaveURL(/c=/);
  await expect(page.getByRole('heading', { name: /^C: / })).toHaveCount(0);
});
