// A list of any length may be passed by apply(), as jslib's formdata does with the bytes of a file.
export default function () {
  const bytes = new Uint8Array(200000).fill(65);
  const all = [];
  console.log(Array.prototype.push.apply(all, bytes), all.length, all[199999]);
  console.log([].push.apply(all, [1, 2]), all.length, [].push.apply(all));
  const text = String.fromCharCode.apply(null, Array.from(bytes).fill(0xd83d, 32767, 32768).fill(0xde00, 32768, 32769));
  console.log(text.length, text.codePointAt(32767), String.fromCharCode.apply(null, [72, 105]), String.fromCharCode.apply());
  for (const list of [5, 'ab', null, undefined, { length: 2, 0: 'x', 1: 'y' }]) {
    try {
      console.log([].push.apply([], list));
    } catch (error) {
      console.log(error.name);
    }
  }
}
