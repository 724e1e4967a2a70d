// Places for the labels of a chart, so that none hides another.

/** A rectangle in pixels: its left, upper, right and lower edge. */
export type Box = [number, number, number, number];

/** What a label belongs to: a dot with its radius, or the end of a line with none, pixels. */
export interface Anchor {
  x: number;
  y: number;
  radius: number;
  label: string;
  /** Whether the label stands out. */
  isMark?: boolean;
}

/** Where a label stands: the start of its base line. */
export interface Placed {
  x: number;
  y: number;
  label: string;
  isMark: boolean;
}

/** The height of a line of text, of which this much is below the base line; a letter takes up to so many pixels across, one of Korean more. */
const [TEXT_HIGH, DESCENT, LETTER_WIDE, SYLLABLE_WIDE] = [14, 3, 6.6, 11];
/** Between a label and its dot. */
const GAP = 4;

const HANGUL_FROM = '\u1100';

/** About how wide a label is, pixels; rather too wide. */
export function widthOf(label: string): number {
  return [...label].reduce((sum, letter) => sum + (letter >= HANGUL_FROM ? SYLLABLE_WIDE : LETTER_WIDE), 0);
}

/** The rectangle of a text that starts at a base line. */
export function boxOf(x: number, y: number, label: string): Box {
  return [x, y - TEXT_HIGH + DESCENT, x + widthOf(label), y + DESCENT];
}

/** Small rectangles along a line through points, pixels. */
export function along(points: [number, number][], apart = 4): Box[] {
  return points.slice(1).flatMap(([x, y], index) => {
    const [fromX, fromY] = points[index] ?? [x, y];
    const count = Math.min(1_000, Math.max(1, Math.ceil(Math.hypot(x - fromX, y - fromY) / apart)));
    return Array.from({ length: count + 1 }, (_, at): Box => {
      const [px, py] = [fromX + ((x - fromX) * at) / count, fromY + ((y - fromY) * at) / count];
      return [px - 1, py - 1, px + 1, py + 1];
    });
  });
}

/**
 * Finds a place for each label beside what it belongs to, the first labels first. None covers another, a dot, or one of `taken`, and
 * none leaves `within`; one that cannot be placed is left out. A place that does not cover `curves` is preferred.
 */
export function placed(anchors: Anchor[], dots: Box[], taken: Box[], curves: Box[], within: Box): Placed[] {
  const kept: Box[] = [...dots, ...taken];
  return anchors.flatMap((anchor) => {
    const places = placesOf(anchor).map((place) => ({ place, box: boxOf(place.x, place.y, anchor.label) }));
    const free = places.filter(({ box }) => isWithin(box, within) && !covers(box, kept));
    const best = free.find(({ box }) => !covers(box, curves)) ?? free[0];
    if (!best) return [];
    kept.push(best.box);
    return [best.place];
  });
}

/** Whether a rectangle covers any of others. */
export function covers(box: Box, others: Box[]): boolean {
  return others.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
}

/** The places around an anchor, the best first: below and right of a curve that rises there is mostly space. */
function placesOf({ x, y, radius, label, isMark = false }: Anchor): Placed[] {
  const far = radius + GAP;
  const [right, left, middle] = [x + far, x - far - widthOf(label), x - widthOf(label) / 2];
  const [below, level, above] = [y + far + TEXT_HIGH / 2, y + TEXT_HIGH / 2 - DESCENT, y - far];
  return ([[right, below], [right, level], [right, above], [left, above], [left, level], [left, below], [middle, above - GAP], [middle, below + GAP]] as const).map(
    ([px, py]) => ({ x: px, y: py, label, isMark }),
  );
}

function isWithin(box: Box, within: Box): boolean {
  return box[0] >= within[0] && box[1] >= within[1] && box[2] <= within[2] && box[3] <= within[3];
}
