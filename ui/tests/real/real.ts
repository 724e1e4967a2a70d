// What tests of this folder share: where the runs are, what the verbs of the terminal say of them, and what stands on a page.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test as base, type Locator, type Page } from '@playwright/test';
import type { Comparison, Report, ReportMetric, ReportValue } from '../../src/api/contract';

/** Names the file in which `setup` says what it made. */
export const PLACE_ENV = 'PLIMSOLL_REAL_PLACE';

/** A stored run, and what its terminal showed at the end. */
export interface Kept {
  id: string;
  terminal: string;
}

export interface Real {
  /** Path of the program. */
  plimsoll: string;
  /** Where everything is written to. */
  folder: string;
  /** URL of the server that is tested, without a slash at its end. */
  target: string;
  /** URL of `plimsoll serve`, with one. */
  page: string;
  runs: Record<'before' | 'after' | 'hostile' | 'ping', Kept>;
}

/** What `setup` made. */
export function real(): Real {
  return JSON.parse(readFileSync(process.env[PLACE_ENV] ?? '', 'utf8')) as Real;
}

/** Playwright's test, on the page of the runs that were made. */
export const test = base.extend({
  baseURL: async ({}, use) => {
    await use(real().page);
  },
});

/** Variables for the program: none of who runs the tests, whose files and settings are no part of them. */
export function surroundings(folder: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(K6_|PLIMSOLL_|GITHUB_|AWS_|CI$)/.test(name));
  return { ...Object.fromEntries(own), XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, XDG_CACHE_HOME: folder, NO_COLOR: '1' };
}

/** What a verb of the program prints. */
export function says(...words: string[]): string {
  const { plimsoll, folder } = real();
  return execFileSync(plimsoll, ['-q', '--runs', join(folder, 'runs'), ...words], { env: surroundings(folder), cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 });
}

/** The run's report as JSON, of the whole run or of seconds of it (`3s..9s`). */
export function reportOf(run: string, window = ''): Report {
  return JSON.parse(says('report', run, '--format', 'json', ...(window ? ['--window', window] : []))) as Report;
}

/** The comparison as JSON. */
export function comparisonOf(a: string, b: string): Comparison {
  return JSON.parse(says('compare', a, b, '--format', 'json')) as Comparison;
}

/** The cells of the tables of a text in Markdown, row by row; names without what makes them code. */
export function markdownRows(text: string): string[][] {
  const rows = text.split('\n').filter((line) => line.startsWith('| ') && line.endsWith(' |'));
  return rows.map((line) => line.slice(2, -2).split(' | ').map((cell) => cell.replace(/^\*\*(.*)\*\*$/, '$1').replace(/^`(.*)`$/, '$1').trim()));
}

/** A metric of a report. */
export function metricOf(metrics: ReportMetric[], name: string): ReportMetric {
  const metric = metrics.find((known) => known.name === name);
  if (!metric) throw new Error(`there is no metric ${name}`);
  return metric;
}

/** The text of a statistic as the terminal writes it. */
export function textOf(metrics: ReportMetric[], name: string, statistic: string): string {
  const value: ReportValue | undefined = metricOf(metrics, name).values[statistic];
  if (!value) throw new Error(`${name} has no ${statistic}`);
  return value.text;
}

/** A titled part of a screen. */
export function card(page: Page, title: string): Locator {
  return page.locator(`main section[aria-label="${title}"]`);
}

/** The texts of a table's cells, row by row, as they are read. */
export async function cells(table: Locator): Promise<string[][]> {
  await table.first().waitFor();
  return table.first().evaluate((element) =>
    [...(element as HTMLTableElement).tBodies].flatMap((body) => [...body.rows].map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\s+/g, ' ').trim()))),
  );
}

/** The texts of a table's titles. */
export async function titles(table: Locator): Promise<string[]> {
  await table.first().waitFor();
  return table.first().evaluate((element) => [...(element as HTMLTableElement).tHead!.rows[0]!.cells].map((cell) => cell.innerText.replace(/\s+/g, ' ').trim()));
}

/** How a screen of a run is opened: on the server, or in a report. */
export type Open = (screen: string, query?: Record<string, string>) => Promise<void>;

/** Opens screens of a run on the server. */
export function served(page: Page, run: string): Open {
  return async (screen, query = {}) => {
    await page.goto(`/runs/${run}/${screen}?${new URLSearchParams({ lang: 'en', ...query })}`);
    await settled(page);
  };
}

/** Opens screens of a run in a report. */
export function inFile(page: Page, file: string, run: string): Open {
  return async (screen, query = {}) => {
    await page.goto(`${file}#/runs/${run}/${screen}?${new URLSearchParams(query)}`);
    await settled(page);
  };
}

/** Waits until everything that was asked for has been answered; nothing of it may have been refused. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main#main').waitFor();
  const refused = await page.waitForFunction(() => {
    const main = document.querySelector('main#main');
    const waiting = [...(main?.querySelectorAll<HTMLElement>('.waiting') ?? [])];
    if (main === null || main.getAttribute('aria-busy') === 'true' || waiting.some((one) => one.querySelector('b') === null)) return undefined;
    return { refused: waiting.map((one) => one.innerText) };
  });
  expect(await refused.jsonValue()).toEqual({ refused: [] });
}
