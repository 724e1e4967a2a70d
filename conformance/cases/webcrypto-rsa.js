// RSA: pairs sign, verify, encrypt, decrypt, leave and come back.
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');

export default async function () {
  const { subtle } = crypto;
  const data = new TextEncoder().encode('some data');
  const made = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
  for (const way of [{ name: 'RSA-PSS', saltLength: 32 }, { name: 'RSASSA-PKCS1-v1_5' }]) {
    const pair = await subtle.generateKey({ ...made, name: way.name }, true, ['sign', 'verify']);
    const signature = await subtle.sign(way, pair.privateKey, data);
    console.log(way.name, signature.byteLength, await subtle.verify(way, pair.publicKey, signature, data));
    const isFalse = await subtle.verify(way, pair.publicKey, signature, data.slice(1));
    console.log(isFalse, pair.privateKey.algorithm.modulusLength);
    const target = { name: way.name, hash: 'SHA-256' };
    const spki = await subtle.exportKey('spki', pair.publicKey);
    const again = await subtle.importKey('spki', spki, target, true, ['verify']);
    console.log(again.type, await subtle.verify(way, again, signature, data));
    const jwk = await subtle.exportKey('jwk', pair.publicKey);
    console.log(jwk.kty, jwk.e, jwk.n.length, (await subtle.importKey('jwk', jwk, target, true, ['verify'])).type);
    for (const format of ['pkcs8', 'jwk']) {
      const out = await subtle.exportKey(format, pair.privateKey);
      const again = await subtle.importKey(format, out, target, true, ['sign']);
      const other = await subtle.sign(way, again, data);
      console.log(format, again.type, await subtle.verify(way, pair.publicKey, other, data));
    }
  }
  const pair = await subtle.generateKey({ ...made, name: 'RSA-OAEP' }, true, ['encrypt', 'decrypt']);
  for (const way of [{ name: 'RSA-OAEP' }, { name: 'RSA-OAEP', label: new Uint8Array([1, 2]) }]) {
    const sealed = await subtle.encrypt(way, pair.publicKey, data);
    console.log(sealed.byteLength, hex(await subtle.decrypt(way, pair.privateKey, sealed)) === hex(data));
  }
}
