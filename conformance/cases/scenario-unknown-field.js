// A field the executor does not have.
export const options = { scenarios: { a: { executor: 'shared-iterations', rate: 3 } } };

export default function () {
  console.log('ran');
}
