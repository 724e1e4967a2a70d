// An executor that does not exist.
export const options = { scenarios: { a: { executor: 'constant-users', vus: 1, duration: '1s' } } };

export default function () {}
