// k6/crypto: what is no string and no bytes.
import crypto from 'k6/crypto';

const INPUTS = [undefined, null, 5, true, {}, [1, 2], new Uint16Array([1]), new DataView(new ArrayBuffer(2))];

function attempt(name, run) {
  try {
    console.log(name, run());
  } catch (error) {
    console.log(name, 'threw', error.name, error.message.replace(/type .*, expected/, 'type …, expected'));
  }
}

export default function () {
  for (const input of INPUTS) {
    attempt('sha1', () => crypto.sha1(input, 'hex'));
    attempt('update', () => crypto.createHash('sha1').update(input));
    attempt('key', () => crypto.hmac('sha1', input, 'data', 'hex'));
    attempt('data', () => crypto.hmac('sha1', 'key', input, 'hex'));
    attempt('hexEncode', () => crypto.hexEncode(input));
  }
}
