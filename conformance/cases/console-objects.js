// How console prints the less common values.
export default function () {
  const cycle = { name: 'cycle' };
  cycle.self = cycle;
  console.log(cycle);
  console.log(new Error('an error'));
  console.log({ nested: new Error('an error') });
  console.log(new Uint8Array([1, 2, 3]));
  console.log(new ArrayBuffer(2));
  console.log({ f: () => 1, u: undefined, d: new Date(0) });
  console.log([undefined, null, () => 1]);
  console.log({ 'quoted-key': 1, plain: 'it\'s' });
}
