//! summary
// handleSummary() gives bytes, and half a character.
export default function () {}
export function handleSummary() {
  return { stdout: new Uint8Array([66, 121, 116, 101, 115, 10]), stderr: 'half \ud800\n' };
}
