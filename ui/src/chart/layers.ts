// Places in layers from left to right, so that most calls go to the right.

import type { ServicesEdge, ServicesPlace } from '../api/contract';

export interface Laid {
  place: ServicesPlace;
  layer: number;
  row: number;
}

/** Where a place is drawn, when layers are folded into lines as the words of a text are. */
export interface Folded extends Laid {
  /** Which line, from above. */
  line: number;
  /** Where in the line, from the left. */
  column: number;
  /** From the top of all lines, in rows. */
  top: number;
}

/** Passes that improve the order within layers. */
const SWEEPS = 4;

/** Puts places into layers; `limit` of them, those that are called by or call many first. */
export function layered(places: ServicesPlace[], edges: ServicesEdge[], limit: number): Laid[] {
  const degree = new Map<string, number>();
  for (const edge of edges) for (const end of [edge.from, edge.to]) degree.set(end, (degree.get(end) ?? 0) + 1);
  const chosen = [...places].sort((a, b) => rank(b, degree) - rank(a, degree)).slice(0, limit);
  const known = new Map(chosen.map((place) => [place.key, place]));
  const next = new Map<string, string[]>(chosen.map((place) => [place.key, []]));
  for (const edge of edges) if (known.has(edge.to) && edge.from !== edge.to) next.get(edge.from)?.push(edge.to);
  const layers = layersOf(chosen, next);
  const columns: string[][] = [];
  for (const place of chosen) (columns[layers.get(place.key) ?? 0] ??= []).push(place.key);
  const rows = new Map<string, number>();
  const number = (column: string[] | undefined) => column?.forEach((key, row) => rows.set(key, row - Math.floor((column.length - 1) / 2)));
  // Whole rows: all columns have the same ones, so that ways find free channels between them.
  columns.forEach(number);
  const before = new Map<string, string[]>();
  for (const [from, all] of next) for (const to of all) before.set(to, [...(before.get(to) ?? []), from]);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const beside = sweep % 2 === 0 ? before : next;
    const middle = (key: string) => {
      const all = beside.get(key) ?? [];
      return all.length === 0 ? (rows.get(key) ?? 0) : all.reduce((sum, other) => sum + (rows.get(other) ?? 0), 0) / all.length;
    };
    for (const column of columns) {
      column?.sort((a, b) => middle(a) - middle(b));
      number(column);
    }
  }
  return chosen.map((place) => ({ place, layer: layers.get(place.key) ?? 0, row: rows.get(place.key) ?? 0 }));
}

/**
 * Folds layers into lines of at most `columnsMax`. Every other line goes from right to left, so that the last place of a line
 * stands above the first of the next, and a chain of queues and workers stays as wide as the card.
 */
export function folded(laid: Laid[], columnsMax: number): { places: Folded[]; rows: number; lines: number } {
  const lineOf = (one: Laid) => Math.floor(one.layer / columnsMax);
  const lines = Math.max(0, ...laid.map(lineOf)) + 1;
  const places: Folded[] = [];
  let rows = 0;
  for (let line = 0; line < lines; line += 1) {
    const inLine = laid.filter((one) => lineOf(one) === line);
    const lowest = Math.min(0, ...inLine.map((one) => one.row));
    const highest = Math.max(0, ...inLine.map((one) => one.row));
    for (const one of inLine) {
      const at = one.layer % columnsMax;
      places.push({ ...one, line, column: line % 2 === 0 ? at : columnsMax - 1 - at, top: rows + one.row - lowest });
    }
    rows += highest - lowest + 1;
  }
  return { places, rows, lines };
}

// What is outside stays, however many ways there are.
function rank(place: ServicesPlace, degree: Map<string, number>): number {
  return place.kind === 'outside' ? Infinity : (degree.get(place.key) ?? 0);
}

/** One more than the farthest of those before; ways that lead back to where one came from do not count. */
function layersOf(places: ServicesPlace[], next: Map<string, string[]>): Map<string, number> {
  const called = new Set([...next.values()].flat());
  const starts = [...places].sort((a, b) => Number(called.has(a.key)) - Number(called.has(b.key)));
  const state = new Map<string, 'open' | 'done'>();
  const order: string[] = [];
  const forward = new Map<string, string[]>();
  for (const start of starts) {
    const stack: { key: string; at: number }[] = [{ key: start.key, at: 0 }];
    if (state.has(start.key)) continue;
    state.set(start.key, 'open');
    while (stack.length > 0) {
      const top = stack[stack.length - 1]!;
      const to = next.get(top.key)?.[top.at];
      top.at += 1;
      if (to === undefined) {
        state.set(top.key, 'done');
        order.push(top.key);
        stack.pop();
      } else if (state.get(to) !== 'open') {
        forward.set(top.key, [...(forward.get(top.key) ?? []), to]);
        if (!state.has(to)) {
          state.set(to, 'open');
          stack.push({ key: to, at: 0 });
        }
      }
    }
  }
  const layers = new Map<string, number>(places.map((place) => [place.key, 0]));
  for (const key of order.reverse()) {
    for (const to of forward.get(key) ?? []) layers.set(to, Math.max(layers.get(to) ?? 0, (layers.get(key) ?? 0) + 1));
  }
  return layers;
}
