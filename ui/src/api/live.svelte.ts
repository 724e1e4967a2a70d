// What arrives while a run goes on. Everything kept is bounded, so that a page may stay open for as long as a run takes.

import { apiPath } from '../state/window';
import { API, source } from './source';
import type { Headline, LiveState, LogRow, RunPage, Series, ThresholdOverTime, Tick } from './contract';
import { joined, LIVE_POINTS_MAX } from './series';

/** How many of the newest log lines a live page holds. */
const LIVE_LINES_MAX = 200;
/** How long after its last word a connection counts as broken, ms. */
const SILENCE_MAX_MS = 20_000;
/** Where a server sends no events, it is asked this often, ms. */
const POLL_MS = 5000;

export type Connection = 'connecting' | 'open' | 'lost' | 'polling' | 'ended';

export class LiveFeed {
  series = $state.raw<Series | undefined>(undefined);
  state = $state.raw<LiveState | undefined>(undefined);
  headline = $state.raw<Headline | undefined>(undefined);
  thresholds = $state.raw<ThresholdOverTime[] | undefined>(undefined);
  errors = $state.raw<Tick['errors']>([]);
  errorsTotal = $state(0);
  lines = $state.raw<LogRow[]>([]);
  connection = $state<Connection>('connecting');
  /** How to open the run again when its process is gone. */
  reopen = $state('');
  /** When something last arrived, by `performance.now()`. */
  lastAt = $state(performance.now());
  isPaused = $state(false);

  #run: string;
  #events: EventSource | undefined;
  #poll: ReturnType<typeof setInterval> | undefined;
  #watch: ReturnType<typeof setInterval>;
  #isAsking = false;
  #askAgain: () => void;

  /** Listens to a run until `close`. */
  constructor(run: string, askAgain: () => void) {
    this.#run = run;
    this.#askAgain = askAgain;
    void this.#refetch();
    this.#listen();
    this.#watch = setInterval(() => {
      if (this.connection === 'open' && performance.now() - this.lastAt > SILENCE_MAX_MS) this.connection = 'lost';
    }, 1000);
  }

  close(): void {
    this.#events?.close();
    clearInterval(this.#poll);
    clearInterval(this.#watch);
  }

  /** Holds what is shown, or goes on with what has come since. */
  togglePause(): void {
    this.isPaused = !this.isPaused;
    if (!this.isPaused) void this.#refetch();
  }

  /** Asks the run to stop as it would at its end. */
  async stop(): Promise<void> {
    await source().send('POST', `${API}/runs/${encodeURIComponent(this.#run)}/stop`);
  }

  #listen(): void {
    const events = new EventSource(apiPath(`/runs/${encodeURIComponent(this.#run)}/events`));
    this.#events = events;
    events.onopen = () => this.#heard('open');
    events.onerror = () => {
      if (this.connection === 'ended') return;
      if (events.readyState === EventSource.CLOSED) this.#pollInstead();
      else this.connection = 'lost';
    };
    const on = <T>(name: string, then: (data: T) => void) =>
      events.addEventListener(name, (event) => {
        this.#heard('open');
        const data = parsed<T>((event as MessageEvent<string>).data);
        if (data !== undefined) then(data);
      });
    on<Tick>('tick', (tick) => this.#tick(tick));
    on<{ thresholds: ThresholdOverTime[] }>('thresholds', (data) => {
      if (!this.isPaused) this.thresholds = data.thresholds;
    });
    on<LogRow>('log', (line) => {
      if (!this.isPaused) this.lines = [...this.lines.slice(1 - LIVE_LINES_MAX), line];
    });
    on<unknown>('reset', () => void this.#refetch());
    on<{ reopen: string }>('ended', (data) => {
      this.reopen = data.reopen;
      this.connection = 'ended';
      this.close();
      this.#askAgain();
    });
  }

  #heard(connection: Connection): void {
    this.lastAt = performance.now();
    if (this.connection !== 'ended') this.connection = connection;
  }

  #tick(tick: Tick): void {
    this.state = tick.state;
    if (this.isPaused) return;
    this.headline = tick.headline;
    this.errors = tick.errors;
    this.errorsTotal = tick.errorsTotal;
    if (!tick.point || !this.series) return;
    // Until the file has its first sample, the series is of another metric than the ticks.
    if (tick.point.latency.metric !== this.series.latency.metric) return void this.#refetch();
    const next = joined(this.series, tick.point);
    if (next.t.length > LIVE_POINTS_MAX) void this.#refetch();
    else this.series = next;
  }

  async #refetch(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const series = (await source().get(apiPath(`/runs/${encodeURIComponent(this.#run)}/series`))) as Series;
      // Ticks count no status codes, and a chart that ends in the past would look like the present.
      this.series = { ...series, statuses: [] };
    } catch {
      // The connection itself shows that the server does not answer.
    }
    this.#isAsking = false;
  }

  // The run goes on in another process: its file grows, and that is all there is to see. Or it ended before anybody listened.
  #pollInstead(): void {
    this.connection = 'polling';
    this.#askAgain();
    clearInterval(this.#poll);
    this.#poll = setInterval(() => {
      if (this.isPaused || document.visibilityState === 'hidden') return;
      void this.#refetch().then(() => (this.lastAt = performance.now()));
    }, POLL_MS);
  }
}

/** The page of a run with what has come since it was asked for. Messages to all viewers are in one language. */
export function withLive(page: RunPage, live: LiveFeed | undefined): RunPage {
  return live?.headline ? { ...page, headline: { ...live.headline, sentence: page.headline.sentence } } : page;
}

function parsed<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}
