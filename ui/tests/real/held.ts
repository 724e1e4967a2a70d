// Screens held to what the terminal and the files say: the texts have to be equal, to the last digit.

import { expect, type Page } from '@playwright/test';
import type { Report, ReportMetric, ReportPart } from '../../src/api/contract';
import { brief } from '../../src/format';
import { card, cells, markdownRows, metricOf, textOf, titles, type Open } from './real';
import { duration, pathOf, phasesOf, plain, textsOf, tree, type WindowRow } from './sums';

/** A quantile is shown where at least this many samples are beyond it. */
const BEYOND_MIN = 10;
/** Objectives with a tile of their own. */
const OBJECTIVES_MAX = 3;
const UNSUPPORTED = 'n/a: fewer than 10 samples beyond it';
const QUANTILES = [['p50', 0.5, 'med'], ['p90', 0.9, 'p(90)'], ['p95', 0.95, 'p(95)'], ['p99', 0.99, 'p(99)']] as const;

/** The text of a quantile, where it has support. */
function supported(population: number, q: number, text: string): string {
  return population * (1 - q) >= BEYOND_MIN * (1 - 1e-9) ? text : UNSUPPORTED;
}

/** Cells of the summary's metrics by metric and statistic. */
export type Shown = Map<string, Map<string, string>>;

/** The summary says what the report says. `markdown` is the same report for people, which alone writes margins. */
export async function summaryIs(page: Page, open: Open, report: Report, markdown: string, query: Record<string, string> = {}): Promise<Shown> {
  await open('summary', { metrics: 'all', ...query });
  const text = (metric: string, statistic: string) => textOf(report.metrics, metric, statistic);
  const count = (metric: string) => report.metrics.find((known) => known.name === metric)?.values['count']?.value ?? 0;
  const requests = count('http_reqs');
  const quantile = (label: string) => {
    const [, q, name] = QUANTILES.find(([known]) => known === label)!;
    return [label, supported(requests, q, text('http_req_duration', name)), 'http_req_duration'];
  };
  const dropped = count('dropped_iterations');
  await expect(card(page, 'Verdict').getByRole('heading')).toHaveText(report.verdict.sentence);
  const facts = await card(page, 'Verdict').locator('.fact').evaluateAll((all) => all.map((fact) => [...fact.children].map((part) => (part as HTMLElement).innerText.trim())));
  // The objectives of the script come first, those that failed before the others.
  const own = Math.min(OBJECTIVES_MAX, report.thresholds.length);
  const crossed = report.thresholds.filter((one) => !one.ok).map((one) => one.observed.text);
  const observed = facts.slice(0, own).map((fact) => fact[1] ?? '');
  expect(observed.slice(0, crossed.length).every((value) => crossed.includes(value))).toBe(true);
  expect(observed.every((value) => report.thresholds.some((one) => one.observed.text === value))).toBe(true);
  const hasP95 = facts.slice(0, own).some((fact) => fact[0] === 'http_req_duration p95');
  const rest = facts.slice(own);
  const iterations = rest.at(-1) ?? [];
  expect(rest).toEqual([
    ['Requests', text('http_reqs', 'count'), `${brief(metricOf(report.metrics, 'http_reqs').values['rate']!.value, 'per_second')} on average`],
    ['Failed', text('http_req_failed', 'rate'), 'of all requests'],
    ...(own < 2 ? [quantile('p50')] : []),
    ...(hasP95 ? [] : [quantile('p95')]),
    ...(own < 3 || hasP95 ? [quantile('p99')] : []),
    ['Iterations', text('iterations', 'count'), iterations[2]],
  ]);
  // In a part of a run others may have been started than were finished, and starts are in no export.
  const due = query['from'] === undefined ? plain(count('iterations') + dropped) : '\\d+';
  expect(iterations[2]).toMatch(new RegExp(`^${plain(dropped)} of ${due} dropped$`));
  await thresholdsAre(page, report, markdown);
  await checksAre(page, report);
  return metricsAre(page, report);
}

async function thresholdsAre(page: Page, report: Report, markdown: string): Promise<void> {
  const written = markdownRows(markdown).filter((row) => row.length === 6);
  const margin = (metric: string, condition: string) => written.find((row) => row[1] === metric && row[2] === condition)?.[5];
  const shown = await cells(card(page, 'Thresholds').locator('table'));
  expect(shown.map(([result, metric, condition, observed, , margin]) => [result, metric, condition, observed, margin])).toEqual(
    report.thresholds.map((one) => [one.ok ? 'passed' : 'crossed', one.metric, one.condition, one.observed.text, margin(one.metric, one.condition)]),
  );
}

async function checksAre(page: Page, report: Report): Promise<void> {
  const of = (parts: ReportPart[]): string[][] =>
    parts.flatMap((part) => [...part.checks.map((check) => [check.fails === 0 ? 'passed' : 'failed', `${check.name} ${part.path}`, plain(check.passes), plain(check.fails)]), ...of(part.groups)]);
  const expected = of(report.groups);
  if (expected.length > 0) expect(await cells(card(page, 'Checks').locator('table'))).toEqual(expected);
}

async function metricsAre(page: Page, report: Report): Promise<Shown> {
  const tables = card(page, 'Metrics').locator('table');
  const trends = report.metrics.filter((metric) => metric.type === 'trend');
  const others = report.metrics.filter((metric) => metric.type !== 'trend');
  const columns = (await titles(tables.nth(0))).slice(1, -1);
  expect(columns).toEqual([...new Set(trends.flatMap((metric) => Object.keys(metric.values)))]);
  const note = (metric: ReportMetric) => `${metric.notApplicable ?? (metric.precision === 'exact' ? 'exact' : '±0.1 %')}${metric.untimed ? ` · avg excludes ${metric.untimed} failed requests` : ''}`;
  const rows = await cells(tables.nth(0));
  expect(rows).toEqual(trends.map((metric) => [metric.name, ...columns.map((column) => metric.values[column]?.text ?? '–'), note(metric)]));
  const plainRows = await cells(tables.nth(1));
  expect(plainRows).toEqual(others.map((metric) => [metric.name, metric.type, Object.entries(metric.values).map(([name, value]) => `${name} ${value.text}`).join(' · ')]));
  const shown: Shown = new Map(rows.map(([name = '', ...values]) => [name, new Map(columns.map((column, index) => [column, values[index] ?? '']))]));
  for (const [name = '', , values = ''] of plainRows) {
    shown.set(name, new Map(values.split(' · ').map((value) => [value.slice(0, value.indexOf(' ')), value.slice(value.indexOf(' ') + 1)])));
  }
  return shown;
}

/** What the terminal printed at the end of the run stands on the page; returns how many of its metrics were compared. */
export function terminalSays(terminal: string, shown: Shown): number {
  let compared = 0;
  // Metrics of single scenarios and groups have the same names, and come after those of the whole run.
  const [whole = ''] = terminal.split(/█ (?:SCENARIO|GROUP)/);
  for (const line of whole.split('\n')) {
    const [, name = '', rest = ''] = /^\s+([a-z_]+)\.{3,}: (.*)$/.exec(line) ?? [];
    const values = shown.get(name);
    if (!values || rest.startsWith('n/a')) continue;
    const printed = rest.replace(/\s+/g, ' ').trim();
    const value = (statistic: string) => values.get(statistic) ?? '';
    if (values.has('p(95)')) {
      const pairs = [...printed.matchAll(/([a-z]+|p\([\d.]+\))=(.+?)(?= (?:[a-z]+|p\([\d.]+\))=| exact| ±|$)/g)].map((match) => [name, match[1], match[2]]);
      expect(pairs).toEqual([...values].filter(([, text]) => text !== '–').map(([statistic, text]) => [name, statistic, text]));
    } else if (values.has('passes')) {
      expect([name, printed]).toEqual([name, `${value('rate')} ${value('passes')} out of ${plain(Number(value('passes')) + Number(value('fails')))}`]);
    } else if (values.has('rate')) {
      expect([name, printed]).toEqual([name, `${value('count')} ${value('rate')}`]);
    } else {
      expect([name, printed]).toEqual([name, `${value('value')} min=${value('min')} max=${value('max')}`]);
    }
    compared += 1;
  }
  return compared;
}

interface TreeRow {
  path: string;
  label: string;
  kind: 'request' | 'branch';
  cells: string[];
  phases: string;
}

async function treeRows(page: Page): Promise<TreeRow[]> {
  await page.locator('table.tree tbody tr').first().waitFor();
  const rows = await page.locator('table.tree tbody tr').evaluateAll((all) =>
    all.map((row) => ({
      depth: Math.round(parseFloat((row.querySelector('.twig') as HTMLElement).style.paddingLeft) / 18),
      label: (row.querySelector('.pick .mono, .pick b') as HTMLElement).innerText.replace(/\s+/g, ' ').trim(),
      kind: row.classList.contains('branch') ? ('branch' as const) : ('request' as const),
      cells: [...(row as HTMLTableRowElement).cells].map((cell) => cell.innerText.replace(/\s+/g, ' ').trim()),
      phases: row.querySelector('.phase')?.getAttribute('aria-label') ?? '',
    })),
  );
  const path: string[] = [];
  return rows.map(({ depth, ...row }) => {
    path.splice(depth, path.length, row.label);
    return { ...row, path: pathOf(path) };
  });
}

/** The request tree says what the export adds up to, and of endpoints what the report says. */
export async function requestsAre(page: Page, open: Open, report: Report, windows: WindowRow[], query: Record<string, string> = {}): Promise<void> {
  const sums = tree(windows, Number(query['from'] ?? 0), Number(query['to'] ?? Infinity));
  const total = sums.get('')!;
  await open('requests', query);
  const rows = await treeRows(page);
  expect(rows.map((row) => row.path).sort()).toEqual([...sums.keys()].filter(Boolean).sort());
  const whole = textsOf(total, total, report.run.elapsedMs);
  await expect(card(page, 'Requests').locator('.hd .sub')).toHaveText(`${whole['requests']} requests, ${whole['failed']} failed, ${whole['rate']}`);
  for (const row of rows) {
    const sum = sums.get(row.path)!;
    const [, requests, rate, failed, p50, p90, p95, p99, max, avg, , share] = row.cells;
    const shown: Record<string, string | undefined> = { requests, rate, failed, max, avg, share };
    const expected = textsOf(sum, total, report.run.elapsedMs, shown);
    expect([row.path, Object.fromEntries(Object.keys(expected).map((name) => [name, shown[name]]))]).toEqual([row.path, expected]);
    if (sum.unmeasured === 0) expect([row.path, row.phases]).toEqual([row.path, phasesOf(sum, row.phases)]);
    const metric = durationOf(report, row, rows);
    if (!metric) continue;
    // The tree shows one word; the reason for the missing number is below it.
    const statistics = QUANTILES.map(([, q, name]) => supported(sum.requests, q, metric.values[name]!.text).replace(UNSUPPORTED, 'n/a'));
    if (statistics.includes('n/a')) await expect(card(page, 'Requests')).toContainText(`${UNSUPPORTED}.`);
    expect([row.path, p50, p90, p95, p99, max, avg]).toEqual([row.path, ...statistics, metric.values['max']!.text, metric.values['avg']!.text]);
  }
  await open('requests', { view: 'statuses', ...query });
  const columns = (await titles(page.locator('table.tree'))).slice(4);
  expect(columns.map((name) => (name === 'no response' ? '0' : name))).toEqual(Object.keys(total.statuses).sort());
  for (const row of await treeRows(page)) {
    const statuses = columns.map((name) => String(sums.get(row.path)!.statuses[name === 'no response' ? '0' : name] ?? 0));
    expect([row.path, ...row.cells.slice(4)]).toEqual([row.path, ...statuses]);
  }
}

/** What the report has on the durations of the row's requests alone, if it has that. */
function durationOf(report: Report, row: TreeRow, rows: TreeRow[]): ReportMetric | undefined {
  if (row.kind === 'branch') {
    const part = row.path.includes(' > ') ? undefined : report.scenarios.find((scenario) => scenario.name === row.label);
    return part && metricOf(part.metrics, 'http_req_duration');
  }
  const isOnly = rows.filter((other) => other.kind === 'request' && other.label === row.label).length === 1;
  return isOnly ? report.endpoints.find((endpoint) => `${endpoint.method} ${endpoint.name}` === row.label)?.duration : undefined;
}

/** The distribution that is open says what a metric of the report says; `rows` are its series in the export. */
export async function distributionIs(page: Page, metric: ReportMetric, rows: WindowRow[]): Promise<void> {
  const population = rows.reduce((sum, row) => sum + row.count, 0);
  const measured = population - rows.reduce((sum, row) => sum + row.unmeasured, 0);
  const untimed = metric.untimed ?? 0;
  const mark = (q: number, statistic: string) => {
    const text = supported(population, q, metric.values[statistic]?.text ?? '');
    return text === UNSUPPORTED ? `needs ${plain(Math.round(BEYOND_MIN / (1 - q)))} samples` : text;
  };
  await expect(page.locator('main .filters')).toContainText(`n = ${plain(population)}, ${metric.precision === 'exact' ? 'exact' : '±0.1 %'}`);
  const quantiles = card(page, 'Quantiles').locator('table');
  expect((await titles(quantiles)).slice(1)).toEqual(['p50', 'p90', 'p95', 'p99', 'p99.9', 'p99.99', 'max']);
  const [[, ...marks] = []] = await cells(quantiles);
  expect(marks).toEqual([...QUANTILES.map(([, q, name]) => mark(q, name)), mark(0.999, ''), mark(0.9999, ''), metric.values['max']!.text]);
  const histogram = card(page, 'Histogram');
  await histogram.getByRole('button', { name: 'Table' }).click();
  const counts = (await cells(histogram.locator('table'))).map((row) => Number(row[2]));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(measured);
  // Requests outside of all buckets are counted, with the reason.
  const caption = await histogram.locator('figcaption').innerText();
  expect([...caption.matchAll(/(\d+) requests (failed without|timed out)/g)].map((match) => [match[2], Number(match[1])])).toEqual([
    ...(untimed > 0 ? [['failed without', untimed]] : []),
    ...(population - untimed > measured ? [['timed out', population - untimed - measured]] : []),
  ]);
  const curve = card(page, 'Percentile curve');
  await curve.getByRole('button', { name: 'Table' }).click();
  const drawn = (await cells(curve.locator('table'))).map(([label, own]) => [label, own]);
  const point = (statistic: string) => {
    const { value, text, censored } = metric.values[statistic]!;
    if (value === null) return '–';
    return censored ? `> ${duration(value)}` : text;
  };
  const named = QUANTILES.filter(([label, q]) => label !== 'p95' && mark(q, '') === '');
  expect(drawn).toEqual([['min', point('min')], ...named.map(([label, , name]) => [label, point(name)])]);
}
