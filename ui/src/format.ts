// How the page writes raw numbers: axes and crosshairs. The rules are those of the terminal, so that a number looks the same
// everywhere; what tables show comes as text from the API. Held to the terminal's own examples by tests/format.spec.ts.

/** What a raw number measures. `default`, `time` (milliseconds) and `data` (bytes) are what metrics contain. */
export type Unit = 'default' | 'time' | 'data' | 'share' | 'per_second' | 'data_per_second' | 'seconds';

/** From here on JavaScript prints an exponent. */
const EXPONENT_FROM = 1e21;

/** A number in its unit; a dash where there is none. */
export function shown(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined) return '–';
  switch (unit) {
    case 'time':
      return duration(value);
    case 'seconds':
      return duration(value * 1000);
    case 'data':
      return bytes(value);
    case 'data_per_second':
      return `${bytes(value)}/s`;
    case 'share':
      return percent(value);
    case 'per_second':
      return `${plain(value)}/s`;
    case 'default':
      return plain(value);
  }
}

/** From here on a number has a letter for its power of ten, as in `2.17 M`. */
const LETTERS = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M']] as const;

/** The same, short enough for an axis or the end of a line: three significant digits, thousands separated (`2,000/s`, `2.17 M/s`). */
export function brief(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined) return '–';
  if (unit === 'share') return `${plain(rounded(value * 100))}%`;
  if (unit !== 'default' && unit !== 'per_second') return shown(rounded(value), unit);
  const short = rounded(value);
  const [size, letter] = LETTERS.find(([size]) => Math.abs(short) >= size) ?? [1, ''];
  return `${grouped(plain(size === 1 ? short : rounded(short / size)))}${letter && ` ${letter}`}${unit === 'default' ? '' : '/s'}`;
}

/** A text with the thousands of the number that it begins with separated. */
function grouped(text: string): string {
  return text.replace(/^-?\d{4,}/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ','));
}

/** A number without a unit: at most six decimals, no trailing zeros. */
export function plain(value: number): string {
  return trimmed(fixed(value, 6));
}

/** A share of 1 in percent, cut to two decimals. */
export function percent(share: number): string {
  return `${fixed(Math.trunc(share * 100 * 100) / 100, 2)}%`;
}

/** Bytes in powers of 1000: one decimal below ten, none above. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'];
  if (Number.isNaN(value) || value < 10) return `${value} B`;
  let scaled = value;
  let unit = 0;
  while (scaled >= 1000 && unit + 1 < units.length) {
    scaled /= 1000;
    unit += 1;
  }
  const whole = Math.floor(scaled * 10 + 0.5) / 10;
  return `${fixed(whole, whole < 10 && unit > 0 ? 1 : 0)} ${units[unit]}`;
}

/** A duration of milliseconds in the unit that suits it, cut to two decimals. */
export function duration(ms: number): string {
  if (ms === 0) return '0s';
  if (ms < 0.001) return `${Math.trunc(ms * 1e6)}ns`;
  if (ms < 1) return `${cut(ms * 1000)}µs`;
  if (ms < 1000) return `${cut(ms)}ms`;
  const minutes = Math.trunc(ms / 60_000);
  if (minutes < 1) return `${cut(ms / 1000)}s`;
  const seconds = Math.trunc((ms % 60_000) / 1000);
  const hours = Math.trunc(minutes / 60);
  return hours < 1 ? `${minutes}m${seconds}s` : `${hours}h${minutes % 60}m${seconds}s`;
}

/** Seconds from the start as a clock: `1:02:03`, `2:03`. */
export function elapsed(seconds: number): string {
  const whole = Math.floor(Math.abs(seconds) + 1e-9);
  const tenths = Math.round((Math.abs(seconds) - whole) * 10);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const head = hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}` : String(minutes);
  const tail = tenths > 0 && tenths < 10 ? `.${tenths}` : '';
  return `${seconds < 0 ? '−' : ''}${head}:${String(whole % 60).padStart(2, '0')}${tail}`;
}

type ClockPart = 'day' | 'time' | 'both';

// Making one takes longer than all else that a text needs.
const clocks = new Map<string, Intl.DateTimeFormat>();

function clock(language: string, part: ClockPart): Intl.DateTimeFormat {
  const key = `${language} ${part}`;
  const known = clocks.get(key);
  if (known) return known;
  const day: Intl.DateTimeFormatOptions = { year: 'numeric', month: language === 'ko' ? 'numeric' : 'short', day: 'numeric' };
  const time: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZoneName: 'short' };
  const made = new Intl.DateTimeFormat(language === 'ko' ? 'ko-KR' : 'en-GB', { ...(part !== 'time' && day), ...(part !== 'day' && time) });
  clocks.set(key, made);
  return made;
}

/** A point in time by the reader's clock, with its zone. */
export function wallClock(time: string | number | null, language: string, part: ClockPart = 'both'): string {
  const date = new Date(time ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? '–' : clock(language, part).format(date);
}

/** The same in UTC, for titles. */
export function utc(time: string | number | null): string {
  const date = new Date(time ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? '–' : `${date.toISOString().replace('T', ' ').slice(0, 19)} UTC`;
}

/** At most this many characters of a name are drawn; more of it is in its title. */
export const NAME_LENGTH_MAX = 160;
/** At most this many characters of a name are in its title. */
const TITLE_LENGTH_MAX = 4000;

/** A name made fit to draw: what is invisible is made visible, and of a very long one there are beginning and end. */
export function shownName(name: string, limit = NAME_LENGTH_MAX): string {
  if (name.length <= limit) return visible(name);
  const tail = Math.min(20, Math.max(0, limit - 1));
  return visible(`${name.slice(0, Math.max(0, limit - 24))}…${name.slice(name.length - tail)}`);
}

/** What the title of a name says. */
export function titleOf(name: string): string {
  return visible(name.length > TITLE_LENGTH_MAX ? `${name.slice(0, TITLE_LENGTH_MAX)}…` : name);
}

// Escape sequences, and marks that turn the direction of writing round, would make a name look like another one.
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** At most this many characters of any text are drawn. */
const TEXT_LENGTH_MAX = 8000;

/** The text with each invisible character replaced by a picture or its number. Line breaks and tabs stay. */
export function visible(text: string): string {
  const drawn = text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}…` : text;
  return drawn.replace(INVISIBLE, (mark) => {
    const code = mark.codePointAt(0) ?? 0;
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : `⟨${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(3));
}

function cut(value: number): string {
  return trimmed(fixed(Math.trunc(value * 100) / 100, 2));
}

function fixed(value: number, decimals: number): string {
  return Math.abs(value) >= EXPONENT_FROM ? String(value) : value.toFixed(decimals);
}

function trimmed(text: string): string {
  return text.includes('.') && !text.includes('e') ? text.replace(/\.?0+$/, '') : text;
}
