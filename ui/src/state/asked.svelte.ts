// A question to the API that asks itself again when its path changes.

import { Refusal, source } from '../api/source';

export interface Asked<T> {
  /** The latest answer. It stays while the next one is on its way, so that a page does not flicker. */
  readonly data: T | undefined;
  /** Why there is no answer. */
  readonly refusal: Refusal | undefined;
  /** Whether a question is on its way, and since when by `performance.now()`. */
  readonly pendingSince: number | undefined;
  /** Asks again. */
  again(): void;
}

/** How often the screens of a run that goes on ask again, ms. */
const AGAIN_MS = 5000;
/**
 * How many times as long as an answer took nothing is asked after it. The process that answers has a load to make: with a few
 * questions on each screen, a page that is left open takes less than a hundredth of a core.
 */
const REST = 300;

/**
 * Asks for the path that `path` returns, whenever it changes; an empty path asks nothing. While `goesOn` says so, it asks
 * again every few seconds, unless the page is hidden.
 */
export function asked<T>(path: () => string, goesOn: () => boolean = () => false): Asked<T> {
  let data = $state.raw<T | undefined>(undefined);
  let refusal = $state.raw<Refusal | undefined>(undefined);
  let pendingSince = $state<number | undefined>(undefined);
  let turn = $state(0);
  let pathOfData = '';
  let restsUntil = 0;
  // The address has more in it than questions: a text that is typed into a filter asks nothing anew.
  const wantedNow = $derived(path());

  // Before the page is drawn anew, so that the answer is worked on meanwhile.
  $effect.pre(() => {
    void turn;
    const wanted = wantedNow;
    if (wanted === '') return;
    // An answer about another thing is no stand-in; one about another window of the same thing is.
    if (routeOf(wanted) !== routeOf(pathOfData)) data = undefined;
    const stop = new AbortController();
    const since = performance.now();
    pendingSince = since;
    source()
      .get(wanted, stop.signal)
      .then((value) => {
        if (stop.signal.aborted) return;
        restsUntil = performance.now() + REST * (performance.now() - since);
        data = value as T;
        pathOfData = wanted;
        refusal = undefined;
        pendingSince = undefined;
      })
      .catch((error: unknown) => {
        if (stop.signal.aborted) return;
        // What was there for another window would be taken for an answer about this one.
        if (wanted !== pathOfData) data = undefined;
        refusal = error instanceof Refusal ? error : new Refusal('failed', String(error));
        pendingSince = undefined;
      });
    return () => stop.abort();
  });

  $effect(() => {
    if (!goesOn()) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && pendingSince === undefined && performance.now() >= restsUntil) turn += 1;
    }, AGAIN_MS);
    return () => clearInterval(timer);
  });

  return {
    get data() {
      return data;
    },
    get refusal() {
      return refusal;
    },
    get pendingSince() {
      return pendingSince;
    },
    again() {
      turn += 1;
    },
  };
}

function routeOf(path: string): string {
  return path.split('?')[0] ?? '';
}
