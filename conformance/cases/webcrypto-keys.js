// Keys: what may be read of them, symmetric ones as JSON Web Keys, and what they refuse.
async function attempt(name, run) {
  try {
    const value = await run();
    console.log(name, 'resolved', value && value.type);
  } catch (error) {
    console.log(name, 'rejected', error.name);
  }
}

export default async function () {
  const { subtle } = crypto;
  const iv = new Uint8Array(16);
  for (const name of ['AES-CBC', 'AES-CTR', 'AES-GCM']) {
    for (const length of [128, 192, 256]) {
      const key = await subtle.generateKey({ name, length }, true, ['encrypt']);
      const jwk = await subtle.exportKey('jwk', key);
      console.log(jwk.kty, jwk.alg, jwk.ext, jwk.key_ops.join(), jwk.k.length);
      const again = await subtle.importKey('jwk', jwk, name, true, ['encrypt']);
      console.log((await subtle.exportKey('jwk', again)).k === jwk.k);
    }
  }
  const key = await subtle.generateKey({ name: 'AES-CBC', length: 128 }, true, ['encrypt']);
  const closed = await subtle.generateKey({ name: 'AES-CBC', length: 128 }, false, ['encrypt']);
  const data = new Uint8Array(3);
  await attempt('closed', () => subtle.exportKey('raw', closed));
  await attempt('usage', () => subtle.decrypt({ name: 'AES-CBC', iv }, key, new Uint8Array(16)));
  await attempt('algorithm', () => subtle.encrypt({ name: 'AES-GCM', iv }, key, data));
  await attempt('iv', () => subtle.encrypt({ name: 'AES-CBC', iv: new Uint8Array(5) }, key, data));
  await attempt('format', () => subtle.exportKey('spki', key));
  await attempt('length', () => subtle.generateKey({ name: 'AES-CBC', length: 129 }, true, ['encrypt']));
  await attempt('usages', () => subtle.generateKey({ name: 'AES-CBC', length: 128 }, true, ['sign']));
  await attempt('none', () => subtle.generateKey({ name: 'AES-CBC', length: 128 }, true, []));
  await attempt('unknown', () => subtle.generateKey({ name: 'nope' }, true, ['sign']));
  await attempt('hash', () => subtle.generateKey({ name: 'HMAC', hash: 'MD5' }, true, ['sign']));
  await attempt('empty', () => subtle.generateKey({ name: 'HMAC', hash: 'SHA-1', length: 0 }, true, ['sign']));
  await attempt('curve', () => subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-512' }, true, ['sign']));
  await attempt('raw', () => subtle.importKey('raw', new Uint8Array(5), 'AES-CBC', true, ['encrypt']));
  const hmac = { name: 'HMAC', hash: 'SHA-1' };
  await attempt('hmac', () => subtle.importKey('raw', new Uint8Array(0), hmac, true, ['sign']));
  const jwk = { kty: 'RSA', k: 'AAAAAAAAAAAAAAAAAAAAAA' };
  await attempt('kty', () => subtle.importKey('jwk', jwk, 'AES-CBC', true, ['encrypt']));
  const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' };
  await attempt('spki', () => subtle.importKey('spki', new Uint8Array(16), ecdsa, true, ['verify']));
  const own = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']);
  const other = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-384' }, true, ['deriveBits']);
  await attempt('two curves', () => subtle.deriveBits({ name: 'ECDH', public: other.publicKey }, own.privateKey, 128));
  await attempt('too long', () => subtle.deriveBits({ name: 'ECDH', public: own.publicKey }, own.privateKey, 264));
  await attempt('private', () => subtle.deriveBits({ name: 'ECDH', public: own.privateKey }, own.privateKey, 128));
}
