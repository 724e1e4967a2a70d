// Names that the API uses, in the words of the page. An unknown one is shown as it is, so that nothing is hidden.

import type { DiagnosisFinding, Grade } from './api/contract';
import { shownName, visible } from './format';
import { language, t } from './state/look.svelte';
import { isKey } from './strings';

/** The words for a name of the API: `strip` + `timer_lag`. */
export function named(group: string, name: string): string {
  const key = `${group}_${name}`;
  return isKey(key) ? t(key) : shownName(name.replaceAll('_', ' '), 48);
}

/** What a finding says: its own words in English, in other languages those of its kind and where it is. */
export function finds(finding: DiagnosisFinding): string {
  const key = `finds_${slug(finding.label)}`;
  return language() === 'en' || !isKey(key) ? finding.title : `${t(key)}: ${finding.place}`;
}

/** What helps against a finding, likewise; `own` are its own words. */
export function mends(finding: DiagnosisFinding | undefined, own: string): string {
  const key = `mends_${slug(finding?.label ?? '')}`;
  return language() === 'en' || !isKey(key) ? own : t(key);
}

function slug(label: string): string {
  return label.toLowerCase().replace(/[^a-z0-9]+/g, '_');
}

/** The name of a fact about host and environment; variables have names of their own. */
export function factName(name: string, limit: number): string {
  const key = `env_${name.replaceAll(' ', '_')}`;
  return isKey(key) ? t(key) : shownName(name, limit);
}

/** A grade as a word. */
export function grade(of: Grade | null): string {
  return of === null ? t('grade_none') : named('grade', of);
}

const ABSENT = 'n/a: ';

/** A text of the API about a number: why there is none, in the words of the page, and everything else as it is. */
export function said(text: string): string {
  const key = `absent_${text.slice(ABSENT.length).replaceAll(' ', '_')}`;
  return text.startsWith(ABSENT) && isKey(key) ? `${ABSENT}${t(key)}` : visible(text);
}
