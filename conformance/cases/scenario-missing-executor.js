// A scenario names no executor.
export const options = { scenarios: { a: { vus: 1, iterations: 1 } } };

export default function () {}
