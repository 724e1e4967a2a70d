// The first glance: the verdict with its objective, bottleneck and safe load; charts that agree with each other.

import { expect, test, type Page } from '@playwright/test';

const RUN = '/runs/ab12cd08';

test.beforeEach(async ({ request }) => {
  await request.get('/test/reset');
});

test('the verdict names the objective, its limit, the bottleneck and the safe load', async ({ page }) => {
  await page.goto(`${RUN}/summary`);
  const verdict = page.getByRole('region', { name: 'Verdict' });
  await expect(verdict.getByRole('heading')).toHaveText(/^Not OK at 127\/s on average: http_req_duration p95 1\.64s, limit 800ms/);
  await expect(verdict.locator('.answers dt')).toHaveText(['Bottleneck', 'Safe load']);
  // The objectives of the script come before other metrics.
  const tiles = verdict.locator('.fact');
  await expect(tiles.nth(0).locator('.n')).toHaveClass(/failink/);
  await expect(tiles.first()).toContainText('limit');
  await expect(tiles.filter({ hasText: 'http_req_duration p95' })).toContainText('1.64s');
});

test('green means that nothing failed', async ({ page }) => {
  await page.route(/\/api\/v1\/runs\?/, async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as { runs: { id: string; status: string; verdict: string; figures: { failed: unknown } }[] };
    for (const row of answer.runs) if (row.id === 'ab12cd07') Object.assign(row, { status: 'passed', verdict: 'pass', figures: { ...row.figures, failed: { value: 0.546, text: '54.60%' } } });
    await route.fulfill({ response, json: answer });
  });
  await page.goto('/');
  const row = page.locator('table.rows tbody tr', { hasText: 'ab12cd07' });
  await expect(row.locator('.st').first()).toHaveClass(/warn/);
  await expect(row).toContainText('54.60%');
});

// "The script defines no thresholds" and "inconclusive" stood on a step that had met the SLO of its study.
test('a step of a study is judged by the SLOs of the study', async ({ page }) => {
  await page.route(/\/api\/v1\/runs\/ab12cd08(\?.*)?$/, async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as { report: { thresholds: unknown[]; verdict: unknown } };
    answer.report.thresholds = [];
    answer.report.verdict = { verdict: 'inconclusive', sentence: 'Step of a study at 500 VUs, judged by the SLOs of the study' };
    await route.fulfill({ response, json: answer });
  });
  let answerStudy = () => {};
  const studyIsWanted = new Promise<void>((resolve) => (answerStudy = resolve));
  await page.route(/\/api\/v1\/runs\/ab12cd08\/capacity/, async (route) => {
    await studyIsWanted;
    await route.continue();
  });
  await page.goto(`${RUN}/summary`);
  const verdict = page.getByRole('region', { name: 'Verdict' });
  await expect(verdict).toContainText('Step of a study at 500 VUs');
  await expect(verdict.locator('.chip')).toHaveCount(0);
  answerStudy();
  await expect(verdict.locator('.chip').first()).toHaveText('SLO violated');
  await expect(verdict.locator('.chip').first()).toHaveClass(/fail/);
  const tile = verdict.locator('.fact').first();
  await expect(tile).toContainText('scan_e2e p95');
  await expect(tile).toContainText('76.4s');
  await expect(tile).toContainText('limit <30s');
  await expect(page.getByRole('region', { name: 'Thresholds' })).toContainText('The SLOs of the study judge it');
});

async function cursors(page: Page): Promise<number[]> {
  return page.locator('.u-cursor-x').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
}

test('one crosshair stands at the same pixel of all lanes', async ({ page }) => {
  await page.goto(`${RUN}/evidence`);
  await page.locator('.lane .u-over').nth(2).waitFor();
  // Lanes have points every one, five or fifteen seconds.
  const box = (await page.locator('.lane .u-over').first().boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.37, box.y + 20);
  await page.waitForTimeout(200);
  const at = await cursors(page);
  expect(at.length).toBeGreaterThan(3);
  expect(Math.max(...at) - Math.min(...at)).toBeLessThanOrEqual(1);
});

test('a pinned crosshair is in the address', async ({ page }) => {
  await page.goto(`${RUN}/summary`);
  const plot = page.locator('.plot .u-over').first();
  await plot.scrollIntoViewIfNeeded();
  const box = (await plot.boundingBox())!;
  await page.mouse.click(box.x + box.width * 0.5, box.y + 30);
  await expect(page).toHaveURL(/[?&]at=\d+/);
  await page.mouse.move(0, 0);
  await expect(page.locator('.readout').first()).toContainText('pinned');
  await page.reload();
  await expect(page.locator('.readout').first()).toContainText('pinned');
  await page.locator('.plot').first().focus();
  await page.keyboard.press('Escape');
  await expect(page).not.toHaveURL(/at=/);
});

test('status codes are drawn over time', async ({ page }) => {
  await page.goto(`${RUN}/summary`);
  const chart = page.locator('figure', { has: page.getByRole('heading', { name: 'Responses by status code' }) });
  await chart.getByRole('button', { name: 'Table' }).click();
  await expect(chart.getByRole('columnheader')).toHaveText(['Elapsed', 'no response', '200', '504']);
});

test('a metric over time is asked for with its tags', async ({ page }) => {
  await page.goto(`${RUN}/summary`);
  const asked = page.waitForRequest((request) => request.url().includes('/series?') && request.url().includes('metric=http_req_blocked'));
  await page.getByRole('combobox', { name: 'Metric over time' }).selectOption('http_req_blocked');
  await asked;
  const tagged = page.waitForRequest((request) => request.url().includes('metric=http_req_blocked') && decodeURIComponent(request.url()).includes('{"scenario":"browse"}'));
  await page.getByRole('searchbox', { name: 'Tags' }).fill('scenario=browse');
  await page.keyboard.press('Enter');
  await tagged;
  await expect(page).toHaveURL(/metric=http_req_blocked/);
});

test('a live run says how it stands, and its objectives against their limits', async ({ page }) => {
  await page.goto('/runs/ab12cd09/live');
  const now = page.getByRole('region', { name: 'Now' });
  await expect(now).toContainText('Saturated at 127/s: 33/s not sent');
  await expect(now).toContainText(/http_req_duration p95: 1\.64s, limit 800ms/);
  await page.goto('/runs/ab12cd09/live?lang=ko');
  await expect(page.getByRole('region', { name: '현재' })).toContainText('127/s에서 포화: 33/s 미전송');
});

test('levels of a study stand together, and an empty list offers the demo', async ({ page }) => {
  await page.goto('/');
  await expect(page.locator('tr.branch')).toHaveText(/Study first-page limit: 2 levels/);
  const ids = await page.locator('table.rows tbody tr .mono').allTextContents();
  expect(ids.indexOf('ab12cd01')).toBe(ids.indexOf('ab12cd03') + 1);
  // A step is judged by the objectives of its study, which are no thresholds of its script.
  const step = (id: string) => page.locator('table.rows tbody tr', { hasText: id }).locator('.under');
  await expect(step('ab12cd03')).toHaveText(/SLO violated.*548\.7ms, limit 500ms/s);
  await expect(step('ab12cd01')).toHaveText(/SLO met/);
  await page.route(/\/api\/v1\/runs\?/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), runs: [] } });
  });
  await page.goto('/?lang=en');
  await expect(page.getByText('plimsoll demo', { exact: true })).toBeVisible();
});

test('arrow keys walk through a trace after a click', async ({ page }) => {
  await page.goto(`${RUN}/traces?trace=3e7037e3a1c94b62985d0f47c6d2aab1`);
  const rows = page.getByRole('treeitem');
  await rows.nth(1).click();
  await expect(rows.nth(1)).toHaveAttribute('aria-selected', 'true');
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press('ArrowDown');
  await expect(rows.nth(2)).toHaveAttribute('aria-selected', 'true');
});

for (const [name, path, width] of [['a map', `${RUN}/services`, 1440], ['a long chain', '/runs/closed/services', 1440], ['a map', `${RUN}/services`, 390]] as const) {
  test(`no way of ${name} crosses a box at ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(path);
    await page.locator('svg.map .way').first().waitFor({ state: 'attached' });
    const crossed = await page.evaluate(() => {
      const boxes = [...document.querySelectorAll<SVGGElement>('svg.map .place')].map((place) => {
        const { e: x, f: y } = place.transform.baseVal.consolidate()!.matrix;
        const body = place.querySelector<SVGGraphicsElement>('.body')!.getBBox();
        return { name: place.textContent ?? '', left: x + body.x + 2, right: x + body.x + body.width - 2, top: y + body.y + 2, bottom: y + body.y + body.height - 2 };
      });
      return [...document.querySelectorAll<SVGPathElement>('svg.map .way')].flatMap((way, index) => {
        const length = way.getTotalLength();
        for (let at = 0; at <= length; at += 2) {
          const { x, y } = way.getPointAtLength(at);
          const box = boxes.find((one) => x > one.left && x < one.right && y > one.top && y < one.bottom);
          if (box) return [`way ${index} crosses ${box.name}`];
        }
        return [];
      });
    });
    expect(crossed).toEqual([]);
  });
}

test('a map of a part of the requests says which part', async ({ page }) => {
  await page.goto(`${RUN}/services`);
  await expect(page.getByRole('region', { name: 'Service map' }).locator('.sub')).toContainText('of 289/s requests');
});

// The sentence said 169 VUs for all SLOs beside a chart of 384 VUs for the one that was chosen.
test('the sentence of another SLO than the decisive one is of that SLO, as its chart is', async ({ page }) => {
  await page.goto(`${RUN}/capacity?slo=1`);
  const maximum = page.getByRole('region', { name: 'Maximum load' });
  await expect(maximum.getByRole('heading', { level: 2 }).last()).toHaveText('Maximum load 384 VUs (371–398) for scan_e2e: p(95)<60000 alone.');
  await expect(maximum.locator('.hulltext')).toContainText('384 VUs');
  await expect(maximum).toContainText('With every SLO: Maximum load: 169 VUs');
  await page.goto(`${RUN}/capacity`);
  await expect(maximum.getByRole('heading', { level: 2 }).last()).toContainText('169 VUs');
  await expect(maximum.locator('.hulltext')).toContainText('169 VUs');
});

// Steps near the maximum load lie close together, and their labels stood on each other and on dots.
for (const width of [1440, 390]) {
  for (const language of ['en', 'ko']) {
    test(`labels in the charts of a study hide nothing at ${width} px in ${language}`, async ({ page }) => {
      await page.setViewportSize({ width, height: 900 });
      await page.addInitScript((it) => localStorage.setItem('plimsoll.lang', it), language);
      await page.goto(`${RUN}/capacity`);
      const charts = page.locator('figure.chart svg:has(.spot)');
      await expect(charts).toHaveCount(2);
      for (const chart of await charts.all()) {
        const hidden = await chart.evaluate((svg) => {
          const boxOf = (it: Element) => ({ text: it.textContent, box: it.getBoundingClientRect() });
          const labels = [...svg.querySelectorAll('text.halo')].map(boxOf);
          const dots = [...svg.querySelectorAll('circle')].map(boxOf);
          // A line of text is some pixels higher than its letters.
          const overlap = (a: DOMRect, b: DOMRect) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
          return labels.flatMap((label, index) => [...labels.slice(index + 1), ...dots].filter((other) => overlap(label.box, other.box)).map((other) => `${label.text} on ${other.text}`));
        });
        expect(hidden).toEqual([]);
        expect(await chart.locator('text.note').count()).toBeGreaterThan(2);
      }
    });
  }
}

// "95." and "2" on two lines were read as two numbers.
test('numbers of a finding stay whole in a narrow window', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 900 });
  await page.goto(`${RUN}/bottleneck`);
  const numbers = page.locator('.tightrows .num b');
  await numbers.first().waitFor();
  await page.locator('.tightrows td:not(.num)').evaluateAll((all) => all.forEach((it) => (it.textContent = 'as long as a name and a note may be')));
  expect(await numbers.evaluateAll((all) => all.filter((it) => it.getClientRects().length > 1).map((it) => it.textContent))).toEqual([]);
});

// One long status made a column of it, and the last columns were cut.
test('a long status does not push the last columns of the list out of sight', async ({ page }) => {
  await page.goto('/runs');
  const table = page.locator('table.rows');
  await table.waitFor();
  expect(await table.evaluate((it) => it.scrollWidth - (it.parentElement?.clientWidth ?? 0))).toBeLessThanOrEqual(0);
});

// A word of a status must stay whole: "Complete" and "d" on two lines were read as two words.
for (const language of ['en', 'ko']) {
  test(`no status of the list breaks inside a word in ${language}`, async ({ page }) => {
    await page.addInitScript((it) => localStorage.setItem('plimsoll.lang', it), language);
    await page.goto('/runs');
    await page.locator('table.rows').waitFor();
    const broken = await page.locator('table.rows tr:not(:has(a[href="/runs/hostile"])) .st').evaluateAll((all) => {
      const textNodes = (of: Element) => [...of.querySelectorAll('*'), of].flatMap((it) => [...it.childNodes]).filter((it) => it.nodeType === Node.TEXT_NODE);
      return all.flatMap(textNodes).flatMap((node) =>
        [...(node.textContent ?? '').matchAll(/\p{L}+/gu)]
          .filter(({ 0: word, index }) => {
            const range = document.createRange();
            range.setStart(node, index);
            range.setEnd(node, index + word.length);
            return range.getClientRects().length > 1;
          })
          .map(([word]) => word),
      );
    });
    expect(broken).toEqual([]);
  });
}

// The label of a limit lay on the bars, and among those of the quantiles.
test('labels of a histogram lie above the bars and beside each other', async ({ page }) => {
  await page.goto(`${RUN}/distribution`);
  const chart = page.getByRole('region', { name: 'Histogram' }).locator('svg');
  await chart.locator('text.lb').first().waitFor();
  const { labels, barsTop } = await chart.evaluate((svg) => ({
    labels: [...svg.querySelectorAll<SVGTextElement>('text.lb')].map((it) => ({ text: it.textContent ?? '', top: it.getBBox().y, bottom: it.getBBox().y + it.getBBox().height, left: it.getBBox().x, right: it.getBBox().x + it.getBBox().width })),
    barsTop: svg.querySelector<SVGPathElement>('path.fill1')!.getBBox().y,
  }));
  expect(labels.map((it) => it.text)).toContain('p(95)<800');
  for (const [index, label] of labels.entries()) {
    expect(label.bottom, `${label.text} lies on the bars`).toBeLessThanOrEqual(barsTop + 3);
    for (const other of labels.slice(index + 1)) {
      const isBeside = label.bottom <= other.top + 3 || other.bottom <= label.top + 3 || label.right <= other.left || other.right <= label.left;
      expect(isBeside, `${label.text} and ${other.text} overlap`).toBe(true);
    }
  }
});
