// The one crosshair of a page: every chart over time shows the same second.

let second = $state<number | null>(null);

/** The second under the crosshair, from the start of the run. */
export function crosshairSecond(): number | null {
  return second;
}

/** Moves the crosshair of all charts. */
export function moveCrosshair(to: number | null): void {
  second = to;
}
