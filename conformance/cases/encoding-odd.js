// b64encode() takes texts and bytes; half a character is replaced.
import { b64encode } from 'k6/encoding';
export default function () {
  for (const value of ['x', 'a\ud800', new Uint8Array([1]), new Uint8Array([1, 2]).buffer, 1, true, null, undefined, [1], {}, NaN, new Uint16Array([1])]) {
    try {
      console.log(b64encode(value));
    } catch (error) {
      console.log('threw', error.name);
    }
  }
}
