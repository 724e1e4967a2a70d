// What the tests of this folder look at: a server with known answers, runs that were really made against it, and `plimsoll
// serve` beside them. Everything is on the loopback, bounded, and ended by its own process id.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PLACE_ENV, surroundings, type Kept, type Real } from './real';

const SCRIPTS = new URL('scripts/', import.meta.url).pathname;
const CHECKED = new URL('../../../target/checked/', import.meta.url).pathname;
/** A run that takes longer hangs, ms. */
const RUN_MS_MAX = 60_000;
/** A program that has not said where it listens by then will not, ms. */
const START_MS_MAX = 10_000;
/** What a program is given to end by itself, ms. */
const END_MS_MAX = 5_000;
const NAME_HOSTILE = '\u001b[31m</script><script>window.__hacked=1</script>|<img src=x onerror=alert(1)>';

const started: ChildProcess[] = [];

export default async function setup(): Promise<() => Promise<void>> {
  const plimsoll = program('PLIMSOLL_BIN', 'plimsoll');
  const testkit = program('TESTKIT_BIN', 'testkit');
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-page-'));
  process.once('exit', () => started.forEach((child) => child.kill('SIGKILL')));
  try {
    const target = (await says(testkit, ['serve'], folder, /http:\S+/)).replace(/\/$/, '');
    const place: Real = { plimsoll, folder, target, page: '', runs: {} as Real['runs'] };
    const printed = await allRuns(place);
    place.page = await says(plimsoll, ['serve', '--runs', join(folder, 'runs'), '--address', '127.0.0.1:0'], folder, /http:\S+/);
    place.runs = known(place, printed);
    const file = join(folder, 'real.json');
    writeFileSync(file, JSON.stringify(place));
    process.env[PLACE_ENV] = file;
  } catch (error) {
    await endAll(folder);
    throw error;
  }
  return () => endAll(folder);
}

/** A program that was built before. */
function program(variable: string, name: string): string {
  const path = process.env[variable] || join(CHECKED, name);
  if (existsSync(path)) return path;
  throw new Error(`${name} is not at ${path}: build it with "cargo build --profile checked -p plimsoll -p testkit --bins", or say where it is with ${variable}`);
}

/** Starts a program that goes on, and waits for where it says that it listens. */
function says(program: string, words: string[], folder: string, what: RegExp): Promise<string> {
  const child = spawn(program, words, { cwd: folder, env: surroundings(folder), stdio: ['pipe', 'pipe', 'pipe'] });
  started.push(child);
  return new Promise((resolve, reject) => {
    let text = '';
    const fail = (why: string) => reject(new Error(`${program} ${words.join(' ')}: ${why}\n${text}`));
    const timer = setTimeout(() => fail('it does not say where it listens'), START_MS_MAX);
    const read = (part: Buffer) => {
      text += part.toString();
      const found = what.exec(text);
      if (!found || !text.includes('\n', found.index)) return;
      clearTimeout(timer);
      resolve(found[0]);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', (error) => fail(error.message));
    child.on('exit', (code) => fail(`it ended with ${code}`));
  });
}

/** Makes the runs, beside each other: none of them is measured for its own sake. */
async function allRuns(place: Real): Promise<Record<string, string>> {
  const shop = (name: string, version: string, waitMs: number) =>
    run(place, 'shop.js', { WAIT_MS: String(waitMs) }, ['--name', name, '--target-version', version, '--tag', 'branch=main', '--note', `the search takes ${waitMs} ms`], 99);
  // The list has the newest first, so that the order of starts matters.
  const before = shop('before', '1.4.0', 20);
  await pause(700);
  const after = shop('after', '1.5.0', 30);
  await pause(700);
  const hostile = run(place, 'hostile.js', {}, ['--name', NAME_HOSTILE, '--target-version', NAME_HOSTILE, '--tag', `team=${NAME_HOSTILE}`, '--note', NAME_HOSTILE], 99);
  await pause(700);
  const ping = run(place, 'ping.js', {}, [], 0);
  return { before: await before, after: await after, hostile: await hostile, ping: await ping };
}

/** Makes a run, and returns what its terminal showed. */
function run(place: Real, script: string, variables: Record<string, string>, words: string[], code: number): Promise<string> {
  const flags = Object.entries({ TARGET: place.target, ...variables }).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const child = spawn(place.plimsoll, ['run', '--runs', join(place.folder, 'runs'), '--log-output', 'none', ...flags, ...words, script], {
    cwd: SCRIPTS, env: surroundings(place.folder), stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  return new Promise((resolve, reject) => {
    let [out, err] = ['', ''];
    const timer = setTimeout(() => child.kill('SIGKILL'), RUN_MS_MAX);
    child.stdout.on('data', (part: Buffer) => (out += part.toString()));
    child.stderr.on('data', (part: Buffer) => (err += part.toString()));
    child.on('error', reject);
    child.on('close', (ended) => {
      clearTimeout(timer);
      if (ended === code) resolve(out);
      else reject(new Error(`${script} ended with ${ended} instead of ${code}\n${out.slice(-4000)}\n${err.slice(-4000)}`));
    });
  });
}

/** Which run is which. */
function known(place: Real, printed: Record<string, string>): Real['runs'] {
  const listed = spawnSync(place.plimsoll, ['runs', '--json', '--runs', join(place.folder, 'runs')], { env: surroundings(place.folder), encoding: 'utf8' });
  const rows = JSON.parse(listed.stdout) as { id: string; script: string; name?: string }[];
  const find = (name: string): Kept => {
    const row = rows.find((row) => row.name === name || (!['before', 'after'].includes(name) && row.script.endsWith(`${name}.js`)));
    if (!row) throw new Error(`the run ${name} is not listed: ${listed.stdout}${listed.stderr}`);
    return { id: row.id, terminal: printed[name] ?? '' };
  };
  return { before: find('before'), after: find('after'), hostile: find('hostile'), ping: find('ping') };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function endAll(folder: string): Promise<void> {
  await Promise.all(started.map(end));
  if (!process.env['KEEP']) rmSync(folder, { recursive: true, force: true });
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), END_MS_MAX);
    child.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill('SIGTERM');
  });
}
