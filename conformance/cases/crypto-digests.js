// k6/crypto: every digest, of strings and of bytes, in one go and piece by piece.
import crypto from 'k6/crypto';
import { createHash } from 'k6/crypto';

const NAMES = ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160'];

export default function () {
  for (const name of NAMES) {
    console.log(name, crypto[name]('', 'hex'), crypto[name]('héllo ✓', 'hex'));
    console.log(name, crypto[name](new Uint8Array([0, 127, 128, 255]), 'hex'));
    console.log(name, crypto[name](new Uint8Array([0, 127, 128, 255]).buffer, 'hex'));
    const hasher = createHash(name);
    console.log(typeof hasher.update('one '), hasher.digest('hex'));
    hasher.update(new Uint8Array([1, 2, 3]).buffer);
    console.log(hasher.digest('hex'), hasher.digest('base64'));
  }
  console.log(Object.keys(createHash('md5')).sort().join(), Object.keys(crypto).sort().join());
}
