// Icons, each in a box of 16 by 16: outlines in the colour of the text.

interface Shape {
  d: string;
  width?: number;
  fill?: boolean;
}

const RING = 'M8 1a7 7 0 1 0 0 14a7 7 0 1 0 0-14';

export const ICONS = {
  check: [{ d: RING }, { d: 'M4.8 8.2l2.2 2.2 4.2-4.6', width: 1.8 }],
  cross: [{ d: RING }, { d: 'M5.3 5.3l5.4 5.4M10.7 5.3l-5.4 5.4', width: 1.8 }],
  warning: [{ d: 'M8 1.6L15 14H1z' }, { d: 'M8 6v4M8 11.3v1.4', width: 1.8 }],
  question: [{ d: RING }, { d: 'M6 6.2a2 2 0 1 1 2.7 1.9c-.5.2-.7.5-.7 1.1v.3M8 11v1.4' }],
  half: [{ d: RING }, { d: 'M8 1a7 7 0 0 1 0 14z', fill: true }],
  equal: [{ d: RING }, { d: 'M5 6.4h6M5 9.6h6' }],
  note: [{ d: RING }, { d: 'M8 7v4.6M8 4.2v1.6', width: 1.8 }],
  live: [{ d: RING }, { d: 'M8 5a3 3 0 1 0 0 6a3 3 0 1 0 0-6', fill: true }],
  import: [{ d: RING }, { d: 'M8 4v6M5.4 7.6L8 10.2l2.6-2.6' }],
  runs: [{ d: 'M2 4h12M2 8h12M2 12h8' }],
  compare: [{ d: 'M5 2v12M11 2v12M2 6h6M8 10h6' }],
  theme: [{ d: 'M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13' }, { d: 'M8 1.5a6.5 6.5 0 0 0 0 13z', fill: true }],
  language: [{ d: 'M1.5 12.5L5 3.5l3.5 9M2.8 9.5h4.4M9 6h6M12 4v2M10 12.5c2-1 3.5-3.5 3.5-6.5M10.5 8c.8 2 2.3 3.8 4 4.5' }],
  keys: [{ d: 'M1.5 4h13v8h-13zM4 6.5h1M7.5 6.5h1M11 6.5h1M5 9.5h6' }],
  link: [{ d: 'M6.5 9.5l3-3M7 4.5L8.5 3a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5L7.5 13A3 3 0 0 1 3 8.5L4.5 7' }],
  copy: [{ d: 'M6.5 5h6A1.5 1.5 0 0 1 14 6.5v6a1.5 1.5 0 0 1-1.5 1.5h-6A1.5 1.5 0 0 1 5 12.5v-6A1.5 1.5 0 0 1 6.5 5M11 2.5H3.5a1 1 0 0 0-1 1V11' }],
  pin: [{ d: 'M8 1.8l1.9 4 4.4.5-3.3 3 .9 4.3L8 11.5l-3.9 2.1.9-4.3-3.3-3 4.4-.5z' }],
  pinned: [{ d: 'M8 1.8l1.9 4 4.4.5-3.3 3 .9 4.3L8 11.5l-3.9 2.1.9-4.3-3.3-3 4.4-.5z', fill: true }],
  down: [{ d: 'M4 6l4 4 4-4', width: 1.8 }],
  right: [{ d: 'M6 4l4 4-4 4', width: 1.8 }],
  stop: [{ d: 'M4 4h8v8H4z', fill: true }],
  pause: [{ d: 'M5.5 3.5v9M10.5 3.5v9', width: 2.4 }],
  play: [{ d: 'M5 3l8 5-8 5z', fill: true }],
} as const satisfies Record<string, readonly Shape[]>;

export type IconName = keyof typeof ICONS;

/** The shapes of an icon. */
export function shapesOf(name: IconName): readonly Shape[] {
  return ICONS[name];
}
