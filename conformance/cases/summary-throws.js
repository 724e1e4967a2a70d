//! summary
//! says: summary is broken
//! ignore: stdout
// An exception in handleSummary() is logged; the usual summary is printed and the run's result stands.
export default function () {}

export function handleSummary() {
  throw new Error('summary is broken');
}
