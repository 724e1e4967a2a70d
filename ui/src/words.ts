// Names that the API uses, in the words of the page. An unknown one is shown as it is, so that nothing is hidden.

import type { Grade, StripItem } from './api/contract';
import { shownName, visible } from './format';
import { language, t } from './state/look.svelte';
import { isLabel } from './strings';

/** The words for a name of the API: `strip` + `timer_lag`. */
export function named(group: string, name: string): string {
  const key = `${group}_${name}`;
  return isLabel(key) ? t(key) : shownName(name.replaceAll('_', ' '), 48);
}

/** The name of a fact about host and environment; variables have names of their own. */
export function factName(name: string, limit: number): string {
  const key = `env_${name.replaceAll(' ', '_')}`;
  return isLabel(key) ? t(key) : shownName(name, limit);
}

/** How a run ended, in a word; without thresholds it has passed nothing. */
export function statusText(status: string, isJudged: boolean): string {
  return status === 'passed' && !isJudged ? t('status_ended') : named('status', status);
}

/** A grade as a word. */
export function grade(of: Grade | null): string {
  return of === null ? t('grade_none') : named('grade', of);
}

const ABSENT = 'n/a: ';

/** Why a value is only a lower bound, as the API writes it behind the bound. */
const BOUND = /^(≥ .+) \((timeout|cut|dropped|failed)\)$/;
const BOUNDS = { timeout: 'mark_timeout', cut: 'mark_cut', dropped: 'dropped', failed: 'failed_some' } as const;

/** A text of the API about a number: why there is none or only a bound, in the words of the page; all else as it is. */
export function said(text: string): string {
  if (text.startsWith(ABSENT)) return `${ABSENT}${absent(text.slice(ABSENT.length))}`;
  const [, bound, why] = BOUND.exec(text) ?? [];
  // In English the word is that of the terminal.
  return bound && language() !== 'en' ? `${visible(bound)} (${t(BOUNDS[why as keyof typeof BOUNDS])})` : visible(text);
}

/** Why there is no number, in the words of the page. */
export function absent(why: string): string {
  const key = `absent_${why.replaceAll(' ', '_')}`;
  return isLabel(key) ? t(key) : visible(why);
}

/** The text beside an item's value: its limit, or the reason why the value is only a bound. */
export function besideValue(item: StripItem): string {
  if (item.limit) return `${t('limit')} ${visible(item.limit.text)}`;
  const reason = item.value.censored;
  return reason && reason !== item.value.text ? said(reason) : '';
}
