// No HTTP, no checks, no thresholds.
export const options = { iterations: 3 };

export default function () {}
