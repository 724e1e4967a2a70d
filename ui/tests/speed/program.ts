// The program that is measured, and when a page has settled.

import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import type { Page } from '@playwright/test';

/** Returns a required variable of the environment. */
function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; cargo xtask bench --case page sets it`);
  return value;
}

/** The run that is looked at: an hour of 500 series. */
export const RUN = (): string => required('SPEED_RUN');
/** How often each thing is measured. */
export const ROUNDS = Number(process.env['SPEED_ROUNDS'] ?? 7);

export interface Served {
  /** Where the page is, without a slash at its end. */
  url: string;
  end(): Promise<void>;
}

/** Starts `plimsoll serve` beside the run, new and with nothing read. */
export async function serve(): Promise<Served> {
  const child = spawn(required('SPEED_PLIMSOLL'), ['serve', '--runs', required('SPEED_RUNS'), '--address', '127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await addressOf(child);
  return {
    url,
    end: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (part: Buffer) => {
      text += part.toString();
      const found = /page: (http:\/\/\S+?)\/?\s/.exec(text);
      if (found?.[1]) resolve(found[1]);
    });
    child.once('exit', (code) => reject(new Error(`plimsoll serve ended with ${code}`)));
  });
}

/** Hands a figure over: one line of JSON. */
export function figure(name: string, values: number[]): void {
  console.log(`${name}: ${values.map((value) => value.toFixed(1)).join(' ')}`);
  appendFileSync(required('SPEED_OUT'), `${JSON.stringify({ name, values })}\n`);
}

/** When nothing was asked for so long, the page has settled, ms. */
const QUIET_MS = 400;

interface Watched {
  since: number;
  open: number;
  asked: number;
  done: number;
}

/**
 * Watches a page from its first script on: which answers are on their way, and when the frame was drawn after the last of
 * them. What a reader does begins a new measurement.
 */
export async function watch(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const watched: Watched = { since: 0, open: 0, asked: 0, done: 0 };
    (window as unknown as { watched: Watched }).watched = watched;
    const closed = (): void => {
      watched.open -= 1;
      if (watched.open > 0) return;
      // Effects run and charts are drawn before the next frame; what is posted from within it comes after the drawing.
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => {
          if (watched.open === 0) watched.done = performance.now();
        };
        port2.postMessage(0);
      });
    };
    const ask = window.fetch.bind(window);
    const read = Response.prototype.text;
    window.fetch = async (...question) => {
      watched.open += 1;
      watched.asked += 1;
      try {
        return await ask(...question);
      } catch (error) {
        closed();
        throw error;
      }
    };
    Response.prototype.text = async function (this: Response) {
      try {
        return await read.call(this);
      } finally {
        // The page makes of it what it makes before anything else is done.
        setTimeout(closed, 0);
      }
    };
    const begin = (): void => {
      Object.assign(watched, { since: performance.now(), asked: 0, done: 0 });
    };
    for (const kind of ['mouseup', 'keydown']) addEventListener(kind, begin, true);
  });
}

/** How long it took from the last thing that a reader did until everything from at least so many responses was drawn, ms. */
export async function settled(page: Page, answers: number): Promise<number> {
  const handle = await page.waitForFunction(
    ([answers, quiet]) => {
      const watched = (window as unknown as { watched?: Watched }).watched;
      if (!watched || watched.asked < answers || watched.open > 0 || watched.done === 0) return false;
      return performance.now() - watched.done > quiet ? watched.done - watched.since : false;
    },
    [answers, QUIET_MS] as const,
    { polling: 50, timeout: 60_000 },
  );
  return (await handle.jsonValue()) as number;
}
