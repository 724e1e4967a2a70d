// k6/encoding: alphabets, padding, and what decoding returns.
import encoding, { b64encode, b64decode } from 'k6/encoding';

function bytes(buffer) {
  return Array.from(new Uint8Array(buffer)).join();
}

export default function () {
  for (const kind of ['std', 'rawstd', 'url', 'rawurl']) {
    console.log(kind, b64encode('hello?>~', kind), b64encode(new Uint8Array([251, 255, 190]).buffer, kind));
    console.log(kind, b64decode(b64encode('héllo ✓', kind), kind, 's'));
  }
  console.log(b64encode('hello'), bytes(b64decode('aGVsbG8=')));
  console.log(b64decode('aGVsbG8=') instanceof ArrayBuffer, b64decode('aGVsbG8', 'rawstd', 's'));
  console.log(encoding.b64encode(''), JSON.stringify(encoding.b64decode('', 'std', 's')));
  for (const bad of ['%%%', 'aGVsbG8']) {
    try {
      b64decode(bad);
      console.log(bad, 'accepted');
    } catch (error) {
      console.log(bad, 'refused');
    }
  }
}
