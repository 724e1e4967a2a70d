// Half an hour of events of a real run, sent faster than once a second.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readFileSync } from 'node:fs';
import { expect, test, type Page } from '@playwright/test';
import { figure, RUN, serve } from './program';

/** Seconds that are sent before the heap is first measured: until then the page makes what it keeps for good. */
const WARM = 1800;
/** Seconds between the two looks. */
const SECONDS = 1800;
/** Between two of them, ms. */
const EVERY_MS = 12;

interface Tick {
  state: { elapsedMs: number };
  point: { t: number[] } | null;
}

test('half an hour of seconds', async ({ page }) => {
  const ticks = recorded();
  const served = await serve();
  const state = { sent: 0, listeners: new Set<ServerResponse>() };
  const server = createServer((request, response) => void answer(served.url, state.listeners, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await page.goto(`http://127.0.0.1:${port}/runs/${RUN()}/live`);
  await expect.poll(() => state.listeners.size).toBe(1);
  await send(state, ticks, WARM);
  const before = await heapBytes(page);
  await send(state, ticks, SECONDS);
  const after = await heapBytes(page);
  await expect(page.locator('.plot canvas').first()).toBeVisible();
  figure('heap before', [before / 1e6]);
  figure('heap after', [after / 1e6]);
  server.closeAllConnections();
  server.close();
  await served.end();
});

/** Ticks as the events of a real run had them, one a line. */
function recorded(): Tick[] {
  const lines = readFileSync(process.env['SPEED_TICKS'] ?? '', 'utf8').split('\n').filter(Boolean);
  const ticks = lines.map((line) => JSON.parse(line) as Tick).filter((tick) => tick.point !== null);
  if (ticks.length === 0) throw new Error('the recorded run has no events');
  return ticks;
}

async function send(state: { sent: number; listeners: Set<ServerResponse> }, ticks: Tick[], count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    const tick = structuredClone(ticks[state.sent % ticks.length]!);
    // They follow the hour that is shown.
    const second = 3600 + state.sent;
    tick.state.elapsedMs = second * 1000;
    if (tick.point) tick.point.t = [second];
    state.sent += 1;
    for (const listener of state.listeners) listener.write(`id: ${state.sent}\nevent: tick\ndata: ${JSON.stringify(tick)}\n\n`);
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}

/** The answers of the real server; the run goes on, and its events are those that this test sends. */
async function answer(url: string, listeners: Set<ServerResponse>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? '/';
  if (path.includes('/events')) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    listeners.add(response);
    request.on('close', () => listeners.delete(response));
    return;
  }
  const real = await fetch(`${url}${path}`);
  const body = Buffer.from(await real.arrayBuffer());
  response.writeHead(real.status, { 'Content-Type': real.headers.get('content-type') ?? '' });
  response.end(path.startsWith(`/api/v1/runs/${RUN()}?`) ? live(body.toString()) : body);
}

function live(text: string): string {
  const page = JSON.parse(text) as { status: string; ended: unknown; report: { run: { state: string }; outcome: unknown } };
  Object.assign(page, { status: 'live', ended: null });
  page.report.run.state = 'live';
  page.report.outcome = null;
  return JSON.stringify(page);
}

async function heapBytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = (await session.send('Runtime.getHeapUsage')) as { usedSize: number };
  await session.detach();
  return usedSize;
}
