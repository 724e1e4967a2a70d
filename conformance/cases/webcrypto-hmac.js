// HMAC: sign, verify, and keys in and out.
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');

export default async function () {
  const { subtle } = crypto;
  const data = new TextEncoder().encode('some data');
  for (const hash of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) {
    const algorithm = { name: 'HMAC', hash };
    const key = await subtle.importKey('raw', new Uint8Array([1, 2, 3, 4]), algorithm, true, ['sign', 'verify']);
    const code = await subtle.sign('HMAC', key, data);
    console.log(hash, hex(code), await subtle.verify({ name: 'hmac' }, key, code, data));
    console.log(await subtle.verify('HMAC', key, code, data.slice(1)), key.algorithm.hash.name, key.algorithm.length);
    const jwk = await subtle.exportKey('jwk', key);
    console.log(jwk.kty, jwk.k, jwk.alg, jwk.ext, jwk.key_ops.slice().sort().join());
    const again = await subtle.importKey('jwk', jwk, { name: 'HMAC', hash: { name: hash } }, false, ['verify']);
    console.log(await subtle.verify('HMAC', again, code, data), again.extractable, again.usages.join());
    const made = await subtle.generateKey({ name: 'HMAC', hash }, true, ['sign']);
    console.log(made.algorithm.length, (await subtle.exportKey('raw', made)).byteLength, made.type);
  }
}
