// The languages of the page, and its texts with their values. The texts themselves are written in crates/words/src/page.

import { TEXTS, type Values } from './texts';

export const LANGUAGES = ['en', 'ko'] as const;
export type Language = (typeof LANGUAGES)[number];

export type Key = keyof typeof TEXTS;
/** A text without values. */
export type Label = Exclude<Key, keyof Values>;
/** The values of a text; none for a label. */
export type ValuesOf<K extends Key> = K extends keyof Values ? Values[K] : [];

/** Returns whether there is a label of this name. */
export function isLabel(name: string): name is Label {
  return Object.hasOwn(TEXTS, name) && !TEXTS[name as Key][0].includes('{');
}

/** Returns a text with its values filled in. */
export function say<K extends Key>(language: Language, key: K, values: ValuesOf<K>): string {
  const text: string = TEXTS[key][language === 'ko' ? 1 : 0];
  return text.replace(/\{(\d)\}/g, (_, position: string) => String(values[Number(position)]));
}
