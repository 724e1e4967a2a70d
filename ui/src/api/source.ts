// Where answers come from: a server, or the data inside an exported report. Both are asked with the paths of the API.

import type { ApiError } from './contract';

/** The prefix of every path of the API. */
export const API = '/api/v1';

/** Something that answers a path of the API. */
export interface Source {
  /** The answer to a GET, parsed. Throws a `Refusal` where there is none. */
  get(path: string, signal?: AbortSignal): Promise<unknown>;
  /** Changes something. Throws a `Refusal` where that is not possible. */
  send(method: 'POST' | 'PUT', path: string, body?: unknown): Promise<unknown>;
  /** Hands over the token that the server asks for. */
  openSession(token: string): Promise<unknown>;
}

/** Why there is no answer, in words that a reader can act on. */
export class Refusal extends Error {
  constructor(
    /** `missing`: no such thing; `offline`: the server does not answer; `not_in_report`: not part of this file; `denied`; `failed`. */
    readonly kind: 'missing' | 'offline' | 'not_in_report' | 'denied' | 'failed',
    /** What the server said, if it said something. */
    readonly detail: string,
  ) {
    super(detail || kind);
  }
}

const DATA_ID = 'plimsoll-data';
// A report holds each answer once, in its own language and size, so what asks for another form is no part of the question.
const FORM = ['lang', 'step', 'limit'];
const inlined = readInlined();

/** Whether this page is an exported report. */
export function isReport(): boolean {
  return inlined !== undefined;
}

/** The language that a report was written in; empty for a page of a server. */
export function reportLanguage(): string {
  return inlined?.lang ?? '';
}

/** The source of this page. */
export function source(): Source {
  return inlined === undefined ? server : report(inlined.answers);
}

/** Answers that were asked for before what shows them, by their paths. */
const early = new Map<string, Promise<unknown>>();

/** Asks a server for what will be asked for soon; the next question with this path gets the answer. */
export function askEarly(path: string): void {
  if (isReport()) return;
  const answer = server.get(path);
  answer.catch(() => early.delete(path));
  early.set(path, answer);
}

const server: Source = {
  async get(path, signal) {
    const known = early.get(path);
    if (known) {
      early.delete(path);
      return known;
    }
    return answer(await reach(path, { headers: { Accept: 'application/json' }, signal: signal ?? null }));
  },
  async send(method, path, body) {
    // The header is one that no form and no page of another origin can send without asking first.
    const headers: Record<string, string> = { Accept: 'application/json', 'X-Plimsoll': '1' };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    return answer(await reach(path, { method, headers, body: body === undefined ? null : JSON.stringify(body) }));
  },
  async openSession(token) {
    const headers = { 'X-Plimsoll': '1', Authorization: `Bearer ${token}` };
    return answer(await reach(`${API}/session`, { method: 'POST', headers }));
  },
};

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, credentials: 'same-origin' });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Refusal('offline', '');
  }
}

async function answer(response: Response): Promise<unknown> {
  const text = await response.text();
  const isJson = (response.headers.get('Content-Type') ?? '').includes('json');
  if (response.ok) return text === '' ? null : isJson ? JSON.parse(text) : text;
  throw new Refusal(
    response.status === 404 ? 'missing' : response.status === 401 || response.status === 403 ? 'denied' : 'failed',
    isJson ? detailOf(text) : '',
  );
}

function detailOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as Partial<ApiError>;
    return typeof error?.detail === 'string' ? error.detail : '';
  } catch {
    return '';
  }
}

function report(answers: Map<string, unknown>): Source {
  return {
    async get(path) {
      const found = answers.get(question(path));
      if (found === undefined) throw new Refusal('not_in_report', '');
      return found;
    },
    send: () => Promise.reject(new Refusal('not_in_report', '')),
    openSession: () => Promise.reject(new Refusal('not_in_report', '')),
  };
}

/** A path with its parameters in order and without those of form, so that equal questions are equal texts. */
function question(path: string): string {
  const [route = '', query = ''] = path.split('?', 2);
  const parameters = new URLSearchParams(query);
  for (const name of FORM) parameters.delete(name);
  parameters.sort();
  return parameters.size > 0 ? `${route}?${parameters}` : route;
}

interface Inlined {
  lang: string;
  answers: Map<string, unknown>;
}

function readInlined(): Inlined | undefined {
  const block = document.getElementById(DATA_ID);
  if (!block?.textContent) return undefined;
  try {
    const { lang, answers } = JSON.parse(block.textContent) as { lang?: unknown; answers?: Record<string, unknown> };
    const asked = Object.entries(answers ?? {}).map(([path, answer]) => [question(path), answer] as const);
    return { lang: lang === 'ko' ? 'ko' : 'en', answers: new Map(asked) };
  } catch {
    return undefined;
  }
}
