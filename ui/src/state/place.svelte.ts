// Where the reader is: the path and the query of the page's address, and nothing else.
//
// A page of a server has it in the address itself (`/runs/ID/requests?from=10`); a report opened from a file has it after
// the `#`, since a file has no other paths. Everything that a link must bring back is in here.

import { isReport } from '../api/source';

/** Parameters that links within the page keep. */
const KEPT_EVERYWHERE = ['lang', 'theme'];
const KEPT_WITHIN_RUN = ['from', 'to', 'at'];

export interface Place {
  /** Parts of the path: `['runs', 'ID', 'summary']`. */
  path: string[];
  /** The parameters. */
  query: URLSearchParams;
}

let current = $state.raw<Place>(read());

/** Where the reader is. Reading it in markup or an effect follows changes. */
export function place(): Place {
  return current;
}

/** One parameter, or an empty text. */
export function parameter(name: string): string {
  return current.query.get(name) ?? '';
}

/** The address of a place, with the parameters that every link keeps. */
export function link(path: string, query: Record<string, string | number | undefined> = {}): string {
  const kept = new URLSearchParams();
  const target = path.split('/').filter(Boolean).map(decode);
  const sameRun = target[0] === 'runs' && target[1] !== undefined && target[1] === current.path[1];
  for (const name of sameRun ? [...KEPT_EVERYWHERE, ...KEPT_WITHIN_RUN] : KEPT_EVERYWHERE) {
    const value = current.query.get(name);
    if (value !== null) kept.set(name, value);
  }
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') kept.delete(name);
    else kept.set(name, String(value));
  }
  const tail = kept.size > 0 ? `?${kept}` : '';
  return `${isReport() ? '#' : ''}${path}${tail}`;
}

/** Goes to an address made by `link`. */
export function go(address: string): void {
  history.pushState(null, '', address);
  current = read();
  document.getElementById('main')?.focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** Sets parameters of this place; an empty one goes away. Small steps replace the entry in the browser's history. */
export function setQuery(values: Record<string, string | number | undefined>, how: 'push' | 'replace' = 'replace'): void {
  const query = new URLSearchParams(current.query);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, String(value));
  }
  const path = `/${current.path.map(encodeURIComponent).join('/')}`;
  const tail = query.size > 0 ? `?${query}` : '';
  const address = `${isReport() ? '#' : ''}${path}${tail}`;
  if (how === 'push') history.pushState(null, '', address);
  else history.replaceState(null, '', address);
  current = read();
}

/** Follows the browser's own buttons, and takes over clicks on links within the page. Returns how to stop. */
export function follow(): () => void {
  const moved = () => {
    current = read();
  };
  const clicked = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) {
      return;
    }
    const anchor = event.target instanceof Element ? event.target.closest('a') : null;
    const address = anchor?.getAttribute('href');
    if (!anchor || !address || anchor.target || anchor.hasAttribute('download')) return;
    const isOurs = isReport() ? address.startsWith('#/') : address.startsWith('/') && !address.startsWith('/api/');
    if (!isOurs) return;
    event.preventDefault();
    go(address);
  };
  addEventListener('popstate', moved);
  addEventListener('hashchange', moved);
  document.addEventListener('click', clicked);
  return () => {
    removeEventListener('popstate', moved);
    removeEventListener('hashchange', moved);
    document.removeEventListener('click', clicked);
  };
}

function read(): Place {
  const address = isReport() ? location.hash.slice(1) : location.pathname + location.search;
  const [path = '', query = ''] = address.split('?', 2);
  return { path: path.split('/').filter(Boolean).map(decode), query: new URLSearchParams(query) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
