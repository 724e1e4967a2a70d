// PBKDF2: bits and keys of a password.
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');

export default async function () {
  const { subtle } = crypto;
  const password = new TextEncoder().encode('a password');
  const key = await subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits', 'deriveKey']);
  console.log(key.type, key.extractable, key.algorithm.name, key.usages.slice().sort().join());
  for (const hash of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) {
    for (const iterations of [1, 5000]) {
      const way = { name: 'PBKDF2', salt: new Uint8Array([1, 2, 3]), iterations, hash: { name: hash } };
      console.log(hash, iterations, hex(await subtle.deriveBits(way, key, 320)));
      for (const length of [128, 256]) {
        const made = await subtle.deriveKey(way, key, { name: 'AES-GCM', length }, true, ['encrypt', 'decrypt']);
        console.log(made.algorithm.name, made.algorithm.length, hex(await subtle.exportKey('raw', made)));
      }
    }
  }
}
