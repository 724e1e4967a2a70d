// The same run, and what handleSummary() receives.
export { options, setup, browse, buy } from './shop.js';

export function handleSummary(data) {
  return { stdout: JSON.stringify(data, null, 1) };
}
