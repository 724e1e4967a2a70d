//! args: --out csv=/dev/null
// A summary is switched off: handleSummary() does not run.
export default function () {}

export function handleSummary() {
  console.log('handleSummary');
  return { stdout: 'summary\n' };
}
