// An aggregation the metric's type does not have.
export const options = { thresholds: { iterations: ['p(95)<1000'] } };

export default function () {}
