// The one crosshair of a page: every chart over time shows the same second. A pinned one is in the address.

import { parameter, setQuery } from './place.svelte';

let second = $state<number | null>(null);

/** The second under the crosshair, or the pinned one, from the start of the run. */
export function crosshairSecond(): number | null {
  return second ?? pinnedSecond();
}

/** The pinned second. */
export function pinnedSecond(): number | null {
  const text = parameter('at');
  const value = Number(text);
  return text !== '' && Number.isFinite(value) && value >= 0 ? value : null;
}

/** Moves the crosshair of all charts. */
export function moveCrosshair(to: number | null): void {
  second = to;
}

/** Pins the crosshair, so that a link shows the same second; null unpins it. */
export function pinCrosshair(to: number | null): void {
  setQuery({ at: to === null ? '' : String(Math.round(to * 1000) / 1000) });
}
