// An expression that is none.
export const options = { thresholds: { iterations: ['count is fine'] } };

export default function () {}
