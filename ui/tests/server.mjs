// A server with the API's shapes and made-up runs: what the page is tested against without Plimsoll.
//
// `node tests/server.mjs` serves `dist` on a free port, or on PORT. Beside the runs of fixtures/runs.json there are
// `hostile` (every text that others choose is nasty), `empty` (nothing was measured) and `closed` (no planned rate).

import { createServer } from 'node:http';
import { readFileSync, existsSync } from 'node:fs';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answersOf, LIVE, RUN } from './answers.mjs';

const DIST = fileURLToPath(new URL('../dist', import.meta.url));
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
// Set by tests through /test/…: a token that is asked for, the time between events, writes that came.
const state = { token: '', isOpen: false, tickMs: 1000, writes: [], isStopped: false, isEnded: false };

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  response.setHeader('Content-Security-Policy', POLICY);
  if (url.pathname.startsWith('/test/')) return control(url, response);
  if (!url.pathname.startsWith('/api/')) return file(url.pathname, response);
  if (request.method === 'GET') return api(url, request, response);
  let body = '';
  request.on('data', (part) => (body += part));
  request.on('end', () => write(url, request, body, response));
});

server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});

function json(response, status, value) {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(value === undefined ? '' : JSON.stringify(value));
}

function refuse(response, status, detail) {
  json(response, status, { error: { status, title: 'No', detail } });
}

function control(url, response) {
  const what = url.pathname.slice('/test/'.length);
  if (what === 'token') Object.assign(state, { token: url.searchParams.get('is') ?? '', isOpen: false });
  if (what === 'speed') state.tickMs = Number(url.searchParams.get('ms'));
  if (what === 'end') state.isEnded = true;
  if (what === 'reset') Object.assign(state, { token: '', isOpen: false, tickMs: 1000, writes: [], isStopped: false, isEnded: false });
  json(response, 200, { writes: state.writes, isStopped: state.isStopped });
}

function file(path, response) {
  const wanted = normalize(join(DIST, path));
  const found = wanted.startsWith(DIST) && extname(wanted) !== '' && existsSync(wanted) ? wanted : join(DIST, 'index.html');
  response.writeHead(200, { 'Content-Type': TYPES[extname(found)] ?? 'application/octet-stream' });
  response.end(readFileSync(found));
}

function write(url, request, body, response) {
  if (request.headers['x-plimsoll'] !== '1') return refuse(response, 403, 'the header X-Plimsoll is missing');
  if (url.pathname === '/api/v1/session') {
    state.isOpen = request.headers.authorization === `Bearer ${state.token}`;
    return state.isOpen ? json(response, 204, undefined) : refuse(response, 401, 'failed to open a session: another token');
  }
  if (url.pathname.endsWith('/stop')) {
    state.isStopped = true;
    return json(response, 202, {});
  }
  const value = JSON.parse(body || '{}');
  const shape = url.pathname.endsWith('/note') ? typeof value.note === 'string' : typeof value.isBaseline === 'boolean';
  if (!shape) return refuse(response, 400, 'missing field');
  state.writes.push({ path: url.pathname, value });
  return json(response, 200, { note: value.note ?? '', isBaseline: value.isBaseline ?? false });
}

function api(url, request, response) {
  if (state.token && !state.isOpen) return refuse(response, 401, 'failed to answer: no session');
  const path = url.pathname.replace('/api/v1', '');
  if (path === `/runs/${LIVE}/events`) return state.isEnded ? json(response, 204, undefined) : events(request, response);
  const answer = answersOf(path, url.searchParams, { isLive: !state.isEnded });
  return answer === undefined ? refuse(response, 404, `failed to find a run: no run begins with "${path}"`) : json(response, 200, answer);
}

function events(request, response) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  response.write('retry: 300\n\n');
  const template = answersOf('tick', new URLSearchParams(), { isLive: true });
  let second = Math.max(199, Number(request.headers['last-event-id'] ?? 199));
  let isOver = false;
  const say = (name, data) => response.write(`id: ${second}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  const next = () => {
    if (isOver) return;
    second += 1;
    const wave = (1 + Math.sin(second / 9)) / 2;
    const point = structuredClone(template.point);
    point.t = [second];
    point.latency.p95.values = [120 + 900 * wave];
    point.finished.values = [100 + 27 * wave];
    say('tick', { ...template, point, state: { ...template.state, elapsedMs: second * 1000, text: `${Math.floor(second / 60)}m${second % 60}s` } });
    if (second % 7 === 0) say('log', { id: second, t: second, at: new Date(1.79e12 + second * 1000).toISOString(), level: 'info', source: 'console', message: `line of second ${second}`, fields: [] });
    if (second % 5 === 0) {
      const { thresholds } = answersOf(`/runs/${RUN}/thresholds`, new URLSearchParams(), { isLive: true });
      // The longest name and text of a value: that of one which is only known to be at least something.
      const longest = { metric: 'http_req_response_time', observed: { ...thresholds[1].observed, text: '≥ 60191.62 ms (dropped)' } };
      say('thresholds', { thresholds: thresholds.map((row, index) => ({ ...row, ...(index === 1 ? longest : {}), values: [], t: [], oks: [], ok: wave < 0.5 })) });
    }
    if (state.isEnded || state.isStopped) {
      say('ended', { reopen: `plimsoll serve, then http://localhost:6568/runs/${LIVE}` });
      state.isEnded = true;
      return response.end();
    }
    setTimeout(next, state.tickMs);
  };
  request.on('close', () => (isOver = true));
  setTimeout(next, Math.min(100, state.tickMs));
}
