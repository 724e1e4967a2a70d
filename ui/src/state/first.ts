// What the first screen of a run asks: on its way while the screen is still made.

import { isReport } from '../api/source';
import { askEarly } from './asked.svelte';
import { runPath } from './window';

/** Asks for a run and, where that is the first screen, for what its summary draws. */
export function askFirst(run: string, screen: string): void {
  if (isReport()) return;
  const isSummary = screen === '' || screen === 'summary';
  askEarly([runPath(run), ...(isSummary ? [runPath(run, '/series'), runPath(run, '/thresholds')] : [])]);
}
