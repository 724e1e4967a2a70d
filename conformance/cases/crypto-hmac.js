// k6/crypto: authentication codes with every digest, keys of all lengths, and names that are none.
import crypto from 'k6/crypto';

const NAMES = ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160'];

export default function () {
  for (const name of NAMES) {
    for (const key of ['', 'key', 'k'.repeat(64), 'k'.repeat(200), new Uint8Array([0, 255]).buffer]) {
      const hasher = crypto.createHMAC(name, key);
      hasher.update('some ');
      hasher.update(new Uint8Array([100, 97, 116, 97]));
      console.log(name, crypto.hmac(name, key, 'some data', 'hex'), hasher.digest('hex'));
    }
  }
  for (const name of ['SHA256', 'sha-256', 'nope', '']) {
    try {
      console.log(crypto.hmac(name, 'key', 'data', 'hex'));
    } catch (error) {
      console.log(name, error.name, error.message);
    }
  }
}
