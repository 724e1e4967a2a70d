// Numbers of the page are those of the terminal and of the files, to the last digit.

import { expect } from '@playwright/test';
import { brief } from '../../src/format';
import { fixedText, withoutReason } from './words';
import { distributionIs, requestsAre, summaryIs, terminalSays } from './held';
import { card, cells, comparisonOf, markdownRows, metricOf, real, reportOf, says, served, settled, test, textOf, titles } from './real';
import { csvOf, duration, percent, plain, windowsOf } from './sums';

const NAMES = ['before', 'after'] as const;

for (const name of NAMES) {
  test(`the summary of ${name} is what the report and the terminal say`, async ({ page }) => {
    const { id, terminal } = real().runs[name];
    const shown = await summaryIs(page, served(page, id), reportOf(id), says('report', id, '--format', 'md'));
    expect(terminalSays(terminal, shown)).toBeGreaterThan(8);
    expect(terminalSays(says('show', id, '--summary-mode', 'full'), shown)).toBeGreaterThan(8);
  });

  test(`the requests of ${name} are what the export adds up to`, async ({ page }) => {
    const { id } = real().runs[name];
    await requestsAre(page, served(page, id), reportOf(id), windowsOf(id));
  });
}

test('both exports say the same', () => {
  const { id } = real().runs.before;
  const [windows, rows] = [windowsOf(id), csvOf(id)];
  expect(rows.length).toBe(windows.length);
  const sum = (metric: string) => plain(windows.filter((row) => row.metric === metric).reduce((sum, row) => sum + row.count, 0));
  for (const metric of ['http_reqs', 'iterations', 'http_req_duration', 'checks']) {
    expect(plain(rows.filter((row) => row['metric'] === metric).reduce((sum, row) => sum + Number(row['count']), 0))).toBe(sum(metric));
  }
  expect(textOf(reportOf(id).metrics, 'http_reqs', 'count')).toBe(sum('http_reqs'));
});

test('a part of a run is what the terminal says of that part', async ({ page }) => {
  const { id } = real().runs.before;
  for (const [from, to] of [[5, 17], [0, 2], [20, 21]] as const) {
    const window = `${from}s..${to}s`;
    const query = { from: String(from), to: String(to) };
    const report = reportOf(id, window);
    await summaryIs(page, served(page, id), report, says('report', id, '--format', 'md', '--window', window), query);
    await requestsAre(page, served(page, id), report, windowsOf(id), query);
  }
});

test('the distribution of one endpoint is what the report says of it', async ({ page }) => {
  const { id } = real().runs.before;
  const report = reportOf(id);
  for (const [label, name] of [['GET search', 'search'], ['GET front page', 'front page'], ['POST pay', 'pay']] as const) {
    await served(page, id)('distribution', { metric: 'http_req_duration' });
    const choice = page.getByRole('combobox', { name: 'Scope', exact: true });
    const option = await choice.locator('option', { hasText: label }).first().getAttribute('value');
    await choice.selectOption(option);
    await expect(page).toHaveURL(/tags=/);
    await settled(page);
    const endpoint = report.endpoints.find((known) => known.name === name)!;
    const rows = windowsOf(id).filter((row) => row.metric === 'http_req_duration' && row.tags['name'] === name);
    expect(rows.reduce((sum, row) => sum + row.count, 0)).toBe(endpoint.requests);
    await distributionIs(page, endpoint.duration, rows);
  }
});

test('the distribution of a metric is what the report says of it', async ({ page }) => {
  const { id } = real().runs.before;
  const report = reportOf(id);
  for (const metric of ['http_req_duration', 'http_req_response_time', 'http_req_waiting', 'iteration_duration']) {
    await served(page, id)('distribution', { metric });
    await distributionIs(page, metricOf(report.metrics, metric), windowsOf(id).filter((row) => row.metric === metric));
  }
});

test('charts as tables are the seconds of the export', async ({ page }) => {
  const { id } = real().runs.before;
  const windows = windowsOf(id);
  await served(page, id)('summary');
  for (const [chart, column, metric] of [['Rate', 'finished', 'iterations'], ['VUs and requests in flight', 'VUs', 'vus']] as const) {
    const figure = page.locator('figure.chart', { has: page.getByRole('heading', { name: chart, exact: true }) });
    await figure.getByRole('button', { name: 'Table' }).click();
    const place = (await titles(figure.locator('table'))).indexOf(column);
    expect([chart, place > 0]).toEqual([chart, true]);
    const shown = (await cells(figure.locator('table'))).map((row) => row[place]);
    const seconds = [...new Set(windows.map((row) => row.second))].sort((a, b) => a - b);
    const expected = seconds.map((second) => {
      const rows = windows.filter((row) => row.second === second && row.metric === metric);
      if (metric === 'vus') return rows.length > 0 ? plain(rows[0]!.value ?? 0) : '–';
      const width = windows.find((row) => row.second === second)!.seconds;
      if (width < 0.5 && second > seconds[0]!) return '–';
      return `${plain(rows.reduce((sum, row) => sum + row.count, 0) / width)}/s`;
    });
    expect([chart, shown]).toEqual([chart, expected]);
  }
});

test('errors are those of the report', async ({ page }) => {
  for (const name of NAMES) {
    const { id } = real().runs[name];
    const report = reportOf(id);
    await served(page, id)('errors');
    const total = report.errors.reduce((sum, error) => sum + error.count, 0) + report.errorsBeyond;
    await expect(card(page, 'Errors by kind').locator('.hd .sub')).toHaveText(`${plain(total)} errors, ${textOf(report.metrics, 'http_reqs', 'count')} requests`);
    const shown = await cells(card(page, 'Distinct errors').locator('table'));
    expect(shown.map(([message, code, count, share]) => [message, code, count, share])).toEqual(
      report.errors.map((error) => [error.message.replace(/\s+/g, ' '), String(error.code || '–'), plain(error.count), percent(error.count / total)]),
    );
    const failed = report.exemplars.filter((one) => one.kind === 'failed');
    const others = report.exemplars.filter((one) => one.kind !== 'failed');
    expect(failed.length).toBeGreaterThan(0);
    const exemplars = await cells(card(page, 'Sample requests').locator('table'));
    expect(exemplars.map(([kind, , took, , status]) => [kind, took, status])).toEqual([...failed, ...others].map((one) => [one.kind, one.duration.text, one.status || '–']));
  }
});

test('logs are those of the run', async ({ page }) => {
  const { id } = real().runs.before;
  const { log } = reportOf(id);
  await served(page, id)('logs');
  const lines = await cells(card(page, 'Logs').locator('table'));
  await expect(card(page, 'Logs').locator('.hd .sub')).toHaveText(`${lines.length} of ${plain(log.before + log.lines.length)} lines`);
  for (const [index, line] of log.lines.entries()) expect(line).toContain(lines[log.before + index]![3]!.split(' ').slice(0, 4).join(' '));
});

test('the validity is that of the report', async ({ page }) => {
  const { id } = real().runs.before;
  const { validity } = reportOf(id);
  await served(page, id)('validity');
  const claim = validity!.grade === 'valid' ? 'No measurement faults were found.' : validity!.line;
  await expect(card(page, 'Measurement validity').locator('.claim')).toHaveText(claim);
  const { reasons } = validity!;
  await expect(card(page, 'Reasons').locator('.hd .sub')).toHaveText(`${reasons.length}, most severe first`);
  await expect(card(page, 'Reasons').locator('tbody tr')).toHaveCount(reasons.length);
});

test('the audit is that of its verb', async ({ page }) => {
  const { id } = real().runs.before;
  const audit = JSON.parse(says('audit', id, '--format', 'json')) as { findings: { claim: string; evidence: { name: string; text: string }[] }[]; derived: { says: string; figures: { name: string; text: string }[] }[] };
  await served(page, id)('audit');
  const shown = await page.locator('main .find').evaluateAll((all) =>
    all.map((one) => [(one.querySelector('h3') as HTMLElement).innerText, ...[...one.querySelectorAll('dd')].map((figure) => figure.innerText)]),
  );
  expect(shown).toEqual([
    ...audit.findings.map((finding) => [finding.claim, ...finding.evidence.map((figure) => figure.text)]),
    ...audit.derived.map((law) => [law.says, ...law.figures.map((figure) => figure.text)]),
  ]);
});

test('the list of runs has the figures of their reports', async ({ page }) => {
  await page.goto('/?lang=en');
  await settled(page);
  const rows = await cells(page.locator('table.rows'));
  expect(rows.length).toBe(4);
  for (const name of [...NAMES, 'ping'] as const) {
    const { id } = real().runs[name];
    const { metrics, thresholds, run } = reportOf(id);
    const row = rows.find((known) => known[2]!.includes(id))!;
    const [, , , started, , , rate, p95, failed, held] = row;
    const judged = thresholds.length > 0 ? `${thresholds.filter((one) => one.ok).length} of ${thresholds.length} passed` : 'none';
    const population = metricOf(metrics, 'http_reqs').values['count']!.value!;
    const quantile = population * 0.05 >= 10 - 1e-8 ? textOf(metrics, 'http_req_duration', 'p(95)') : 'n/a';
    expect([rate, p95, failed, held!.slice(0, judged.length)]).toEqual([brief(metricOf(metrics, 'http_reqs').values['rate']!.value, 'per_second'), quantile, textOf(metrics, 'http_req_failed', 'rate'), judged]);
    expect(started).toContain(duration(run.elapsedMs));
  }
});

test('a comparison is what its verb says', async ({ page }) => {
  const [a, b] = [real().runs.before.id, real().runs.after.id];
  const comparison = comparisonOf(a, b);
  const written = markdownRows(says('compare', a, b, '--format', 'md')).filter((row) => row.length === 7).slice(1);
  await page.goto(`/compare?a=${a}&b=${b}&lang=en&rows=all`);
  await settled(page);
  const shown = (await cells(card(page, 'Changes').locator('table'))).map(([series, figure, before, after, , change, verdict]) => [series, figure, before, after, change, verdict]);
  // What is written marks changes with a sign, the page with an icon.
  const word = (verdict = ''): string => verdict.replace(/^\P{L}+/u, '').replaceAll('**', '');
  // The rows that matter are written, and the page was asked for all.
  expect(written.length).toBeGreaterThan(0);
  expect(shown).toEqual(expect.arrayContaining(written.map(([series, figure, before, after, change, , verdict]) => [series, figure, before, after, change, word(verdict)])));
  expect(shown.map(([, , before, after]) => [before, after])).toEqual(comparison.rows.map((row) => [fixedText(row.unit, row.a), fixedText(row.unit, row.b)]));
  // Runs without a steady part have figures, too: measured values are shown whether or not they can be judged.
  expect(shown.filter(([, , before]) => before !== '–').length).toBeGreaterThan(10);
  await expect(card(page, 'Verdict').getByRole('heading')).toHaveText(comparison.sentence);
  const remarks = await card(page, 'Are the runs comparable?').locator('.list li').allInnerTexts();
  expect(remarks.map((line) => line.trim()).slice(0, comparison.findings.length)).toEqual(comparison.findings.map((finding) => finding.sentence));
  const percentiles = card(page, 'Percentile curve');
  await percentiles.getByRole('button', { name: 'Table' }).click();
  const curves = await cells(percentiles.locator('table'));
  const metric = (await percentiles.locator('.hd .sub').innerText()).split(',')[0]!;
  const [one, other] = [reportOf(a), reportOf(b)].map((report) => metricOf(report.metrics, metric));
  const medians = [one!.values['med']!.text, other!.values['med']!.text];
  expect(curves.find(([label]) => label === 'p50')).toEqual(['p50', ...medians]);
});

test('Korean changes words and no number', async ({ page }) => {
  const { id } = real().runs.before;
  const numbers = async (lang: string) => {
    await page.goto(`/runs/${id}/summary?lang=${lang}&metrics=all`);
    await settled(page);
    const facts = await page.locator('.fact .n').allInnerTexts();
    return [...facts, ...(await page.locator('main td.num').allInnerTexts())].map(withoutReason);
  };
  const english = await numbers('en');
  expect(english.length).toBeGreaterThan(60);
  expect(await numbers('ko')).toEqual(english);
});
