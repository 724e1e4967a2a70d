// Names that the API uses, in the words of the page. An unknown one is shown as it is, so that nothing is hidden.

import type { Grade, StripItem } from './api/contract';
import { shownName, visible } from './format';
import { t } from './state/look.svelte';
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

/** A grade as a word. */
export function grade(of: Grade | null): string {
  return of === null ? t('grade_none') : named('grade', of);
}

const ABSENT = 'n/a: ';

/** A text of the API about a number: why there is none, in the words of the page, and everything else as it is. */
export function said(text: string): string {
  const key = `absent_${text.slice(ABSENT.length).replaceAll(' ', '_')}`;
  return text.startsWith(ABSENT) && isLabel(key) ? `${ABSENT}${t(key)}` : visible(text);
}

/** The text beside an item's value: its limit, or the reason why the value is only a bound. */
export function besideValue(item: StripItem): string {
  if (item.limit) return `${t('limit')} ${visible(item.limit.text)}`;
  const reason = item.value.censored;
  return reason && reason !== item.value.text ? said(reason) : '';
}
