// Theme and language: in the address where a link says so, else as chosen last, else as the system has it.

import { reportLanguage } from '../api/source';
import { LANGUAGES, say, type Key, type Language, type ValuesOf } from '../strings';
import { parameter, setQuery } from './place.svelte';

export type Theme = 'system' | 'light' | 'dark';
const THEMES: Theme[] = ['system', 'light', 'dark'];

let chosenTheme = $state<Theme>(remembered('plimsoll.theme', THEMES) ?? 'system');
let chosenLanguage = $state<Language | undefined>(remembered('plimsoll.lang', LANGUAGES));
// Charts read colours when they draw, so they have to hear when the system changes its mind.
const system = matchMedia('(prefers-color-scheme: dark)');
let systemIsDark = $state(system.matches);
system.addEventListener('change', () => (systemIsDark = system.matches));

// Every text of the page depends on the language and every chart on the theme. They are derived, so that another address is
// news to them only where it says another language or theme.
const themeNow: Theme = $derived.by(() => {
  const named = parameter('theme');
  return THEMES.find((known) => known === named) ?? chosenTheme;
});
const isDarkNow = $derived(themeNow === 'dark' || (themeNow === 'system' && systemIsDark));
const languageNow: Language = $derived.by(() => {
  const named = parameter('lang');
  const known = LANGUAGES.find((language) => language === (named || reportLanguage())) ?? chosenLanguage;
  return known ?? (navigator.language.toLowerCase().startsWith('ko') ? 'ko' : 'en');
});

/** The theme that was chosen. */
export function theme(): Theme {
  return themeNow;
}

/** Whether the page is dark now. */
export function isDark(): boolean {
  return isDarkNow;
}

/** Chooses the next theme in the row: system, light, dark. */
export function nextTheme(): void {
  chosenTheme = THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length] ?? 'system';
  remember('plimsoll.theme', chosenTheme);
  // In the address, so that a shared link shows the same; the system's own choice is not shared.
  setQuery({ theme: chosenTheme === 'system' ? '' : chosenTheme });
}

/** The language of the page. */
export function language(): Language {
  return languageNow;
}

/** Changes to the other language. */
export function nextLanguage(): void {
  chosenLanguage = language() === 'ko' ? 'en' : 'ko';
  remember('plimsoll.lang', chosenLanguage);
  setQuery({ lang: chosenLanguage });
}

/** Returns a text of the page in its language. */
export function t<K extends Key>(key: K, ...values: ValuesOf<K>): string {
  return say(language(), key, values);
}

// A browser may forbid storage, for files above all; then a choice lasts as long as the page.
function remembered<T extends string>(key: string, allowed: readonly T[]): T | undefined {
  try {
    const value = localStorage.getItem(key);
    return allowed.find((known) => known === value);
  } catch {
    return undefined;
  }
}

function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Nothing is lost but the memory of a choice.
  }
}
