// k6/crypto: randomBytes() and hexEncode().
import { hexEncode, randomBytes } from 'k6/crypto';

export default function () {
  for (const size of [1, 16, 1000, '4', 1.9]) {
    const bytes = randomBytes(size);
    console.log(size, bytes instanceof ArrayBuffer, bytes.byteLength);
  }
  const again = hexEncode(randomBytes(16)) === hexEncode(randomBytes(16));
  console.log(again, /^[0-9a-f]{32}$/.test(hexEncode(randomBytes(16))));
  console.log(hexEncode('héllo'), hexEncode(new Uint8Array([0, 15, 255]).buffer), hexEncode(''));
  for (const size of [0, -1, undefined, null, 'x']) {
    try {
      console.log(size, randomBytes(size));
    } catch (error) {
      console.log(size, error.name, error.message);
    }
  }
}
