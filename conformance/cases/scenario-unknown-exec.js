// exec names a function that is not exported.
export const options = { scenarios: { a: { executor: 'shared-iterations', exec: 'nobody' } } };

export default function () {}
