// The parts of a chart that uPlot does not draw: levels, moments, and names at the ends of lines.

import type uPlot from 'uplot';
import { apart, type Hole, type Level, type Line, type Mark, type Peak, type Values } from './lines';

/** Width for names at the ends of lines, pixels; equal in all charts, so that their crosshairs meet. */
export const GUTTER_RIGHT_PX = 104;
/** Width of the axis on the left, pixels. */
export const GUTTER_LEFT_PX = 56;

const LABEL_GAP_PX = 13;
const HATCH_PX = 7;
const FONT = '600 11px';

// Colours by token, of light pages and of dark ones: asking for one has the browser bring all styles up to date.
const COLOURS = { light: new Map<string, string>(), dark: new Map<string, string>() };

/** Reads tokens of the style sheet as colours that a canvas takes, on a page that is dark or not. */
export function colours(element: Element, isDark: boolean): (token: string) => string {
  const known = isDark ? COLOURS.dark : COLOURS.light;
  return (token) => {
    const cached = known.get(token);
    if (cached !== undefined) return cached;
    const probe = document.createElement('span');
    probe.hidden = true;
    probe.style.color = `var(${token})`;
    element.append(probe);
    const colour = getComputedStyle(probe).color;
    probe.remove();
    known.set(token, colour);
    return colour;
  };
}

/** A colour with an opacity. */
export function tinted(colour: string, opacity: number): string {
  const parts = /^rgba?\(([^)]+)\)$/.exec(colour);
  const [red, green, blue] = (parts?.[1] ?? '').split(/[,\s]+/);
  return parts ? `rgb(${red} ${green} ${blue} / ${opacity})` : colour;
}

/** Draws all of them into the chart, in a font of this family. */
export function drawExtras(
  chart: uPlot,
  family: string,
  colour: (token: string) => string,
  lines: Line[],
  drawn: Values[],
  levels: Level[],
  marks: Mark[],
  endText: (line: Line, index: number) => string,
): void {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = `${FONT.replace('11px', `${11 * ratio}px`)} ${family}`;
  ctx.textBaseline = 'middle';
  ctx.lineWidth = 1.25 * ratio;
  for (const level of levels) {
    const at = chart.valToPos(level.at, 'y', true);
    const ink = colour(level.kind === 'limit' ? '--fail' : '--ink');
    if (at < bbox.top) {
      // Far above everything that was measured: drawn to scale it would leave nothing to be seen below it.
      ctx.textAlign = 'left';
      text(ctx, `${level.label} ↑`, bbox.left + 6 * ratio, bbox.top + 7 * ratio, ink, colour('--surface'), ratio);
      continue;
    }
    stroke(ctx, ink, level.kind === 'limit' ? [6 * ratio, 3 * ratio] : [3 * ratio, 3 * ratio], [
      [bbox.left, at],
      [bbox.left + bbox.width, at],
    ]);
    ctx.textAlign = 'left';
    const above = at - bbox.top > LABEL_GAP_PX * ratio;
    text(ctx, level.label, bbox.left + 6 * ratio, at + (above ? -8 : 9) * ratio, ink, colour('--surface'), ratio);
  }
  for (const mark of marks) {
    const at = chart.valToPos(mark.at, 'x', true);
    if (at < bbox.left || at > bbox.left + bbox.width) continue;
    stroke(ctx, colour('--ink'), [2 * ratio, 3 * ratio], [
      [at, bbox.top],
      [at, bbox.top + bbox.height],
    ]);
    const onRight = at < bbox.left + bbox.width / 2;
    ctx.textAlign = onRight ? 'left' : 'right';
    text(ctx, mark.label, at + (onRight ? 5 : -5) * ratio, bbox.top + 7 * ratio, colour('--ink'), colour('--surface'), ratio);
  }
  const ends = lines.flatMap((line, index) => {
    const at = lastIndex(drawn[index] ?? [], chart);
    const value = at === undefined ? null : (drawn[index]?.[at] ?? null);
    if (at === undefined || value === null) return [];
    return [{ label: endText(line, at), ink: colour(line.color), at: chart.valToPos(value, 'y', true) }];
  });
  const spread = apart(
    ends.map((end) => end.at),
    LABEL_GAP_PX * ratio,
    bbox.top + 4 * ratio,
    bbox.top + bbox.height - 2 * ratio,
  );
  ctx.textAlign = 'left';
  ends.forEach((end, index) => {
    const width = GUTTER_RIGHT_PX * ratio - 8 * ratio;
    ctx.fillStyle = end.ink;
    ctx.fillText(fitting(ctx, end.label, width), bbox.left + bbox.width + 6 * ratio, spread[index] ?? end.at);
  });
  ctx.restore();
}

/** Draws times of which nothing is known, hatched and with their reasons, and then the points that have names. */
export function drawNamed(chart: uPlot, family: string, colour: (token: string) => string, holes: Hole[], peaks: Peak[]): void {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  const [left, right] = [bbox.left, bbox.left + bbox.width];
  ctx.save();
  ctx.font = `${FONT.replace('11px', `${11 * ratio}px`)} ${family}`;
  ctx.textBaseline = 'middle';
  for (const hole of holes) {
    const from = Math.max(left, chart.valToPos(hole.from, 'x', true));
    const to = Math.min(right, chart.valToPos(hole.to, 'x', true));
    if (to <= from) continue;
    ctx.save();
    ctx.beginPath();
    ctx.rect(from, bbox.top, to - from, bbox.height);
    ctx.clip();
    ctx.fillStyle = tinted(colour('--unk'), 0.08);
    ctx.fillRect(from, bbox.top, to - from, bbox.height);
    ctx.lineWidth = ratio;
    for (let x = from - bbox.height; x < to; x += HATCH_PX * ratio) {
      stroke(ctx, tinted(colour('--unk'), 0.3), [], [
        [x, bbox.top + bbox.height],
        [x + bbox.height, bbox.top],
      ]);
    }
    ctx.restore();
    const words = fitting(ctx, hole.label, Math.max(0, to - from - 8 * ratio));
    ctx.textAlign = 'left';
    if (words.length > 3) text(ctx, words, from + 4 * ratio, bbox.top + bbox.height / 2, colour('--ink-2'), colour('--surface'), ratio);
  }
  ctx.setLineDash([]);
  const taken: { x: number; y: number; half: number }[] = [];
  for (const peak of peaks) {
    const [x, y] = [chart.valToPos(peak.at, 'x', true), chart.valToPos(peak.value, 'y', true)];
    if (x < left || x > right) continue;
    ctx.beginPath();
    ctx.arc(x, y, 3 * ratio, 0, 2 * Math.PI);
    ctx.fillStyle = colour('--surface');
    ctx.fill();
    ctx.lineWidth = 1.75 * ratio;
    ctx.strokeStyle = colour(peak.color);
    ctx.stroke();
    const half = ctx.measureText(peak.label).width / 2;
    const place = { x: Math.min(right - half, Math.max(left + half, x)), y: Math.max(bbox.top - 2 * ratio, y - 10 * ratio), half };
    // The higher one stays where it is, and the other goes below its point.
    const hides = taken.some((other) => Math.abs(other.x - place.x) < other.half + half && Math.abs(other.y - place.y) < LABEL_GAP_PX * ratio);
    if (hides) place.y = y + 12 * ratio;
    taken.push(place);
    ctx.textAlign = 'center';
    text(ctx, peak.label, place.x, place.y, colour(peak.color), colour('--surface'), ratio);
  }
  ctx.restore();
}

// The last point within what is shown. A name belongs where its line ends.
function lastIndex(values: Values, chart: uPlot): number | undefined {
  const xs = chart.data[0];
  const { min, max } = chart.scales['x'] ?? {};
  for (let index = values.length - 1; index >= 0; index -= 1) {
    const x = xs[index];
    if (x === undefined || (max != null && x > max)) continue;
    if (min != null && x < min) return undefined;
    if (values[index] !== null && values[index] !== undefined) return index;
  }
  return undefined;
}

function stroke(ctx: CanvasRenderingContext2D, ink: string, dash: number[], points: [number, number][]): void {
  ctx.beginPath();
  ctx.setLineDash(dash);
  ctx.strokeStyle = ink;
  points.forEach(([x, y], index) => (index === 0 ? ctx.moveTo(x, y) : ctx.lineTo(x, y)));
  ctx.stroke();
  ctx.setLineDash([]);
}

function text(ctx: CanvasRenderingContext2D, words: string, x: number, y: number, ink: string, halo: string, ratio: number): void {
  ctx.lineJoin = 'round';
  ctx.lineWidth = 3 * ratio;
  ctx.strokeStyle = halo;
  ctx.strokeText(words, x, y);
  ctx.fillStyle = ink;
  ctx.fillText(words, x, y);
  ctx.lineWidth = 1.25 * ratio;
}

function fitting(ctx: CanvasRenderingContext2D, words: string, width: number): string {
  let shown = words;
  while (shown.length > 3 && ctx.measureText(shown).width > width) shown = `${shown.slice(0, -2)}…`;
  return shown;
}
