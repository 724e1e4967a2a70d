// How console prints values.
export default function () {
  console.log('text', 1, 1.5, -0, true, null, undefined);
  console.log({ a: 1, b: 'two', c: [1, 'x'], d: { e: null } });
  console.log([1, 2, [3, { a: 1 }]]);
  console.log([]);
  console.log({});
  console.log(function named() {});
  console.log(() => 1);
  console.log(new Date(0));
  console.log(NaN, Infinity, -Infinity);
  console.log('');
  console.log();
  console.log('a\nb');
  console.log('quote " and backslash \\');
  console.log('한국어 ✓');
  console.log(12345678901234567890, 1e21, 1e-7, 0.1 + 0.2);
}
