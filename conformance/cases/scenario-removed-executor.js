// An executor that k6 removed.
export const options = { scenarios: { a: { executor: 'externally-controlled', vus: 0, maxVUs: 1, duration: '1s' } } };

export default function () {}
