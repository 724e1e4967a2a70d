// k6/crypto: the encodings of what it returns, and those it does not know.
import crypto from 'k6/crypto';

function attempt(name, run) {
  try {
    console.log(name, run());
  } catch (error) {
    console.log(name, 'threw', error.name, error.message);
  }
}

export default function () {
  for (const encoding of ['hex', 'base64', 'base64url', 'base64rawurl']) {
    console.log(encoding, crypto.md5('hello9', encoding), crypto.createHash('md5').digest(encoding));
    console.log(encoding, crypto.hmac('sha1', 'key', 'data', encoding));
  }
  const binary = crypto.sha256('hello', 'binary');
  console.log(binary instanceof ArrayBuffer, Array.from(new Uint8Array(binary)).join());
  for (const encoding of ['HEX', '', 'x', 5, null, undefined]) {
    attempt(`md5 ${encoding}`, () => crypto.md5('a', encoding));
    attempt(`digest ${encoding}`, () => crypto.createHash('sha1').digest(encoding));
  }
}
