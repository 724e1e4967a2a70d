/** Keys that act on the whole screen. */

/**
 * Whether the screen has to leave a key alone: it has a modifier, or goes to a field or an open dialog.
 * A dialog that was just closed keeps the focus until the next frame, so only an open one counts.
 */
export function isTaken(event: KeyboardEvent, also = ''): boolean {
  if (event.metaKey || event.ctrlKey || event.altKey) return true;
  const takers = `input, textarea, select, dialog[open]${also && `, ${also}`}`;
  return event.target instanceof Element && event.target.closest(takers) !== null;
}
