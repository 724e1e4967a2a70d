// Scenario names are letters, digits, _ and -.
export const options = { scenarios: { 'a b': { executor: 'shared-iterations' } } };

export default function () {}
