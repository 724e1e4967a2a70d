// ECDSA: pairs are made, sign, verify, leave and come back.
export default async function () {
  const { subtle } = crypto;
  const data = new TextEncoder().encode('some data');
  for (const namedCurve of ['P-256', 'P-384', 'P-521']) {
    const algorithm = { name: 'ECDSA', namedCurve };
    const pair = await subtle.generateKey(algorithm, true, ['sign', 'verify']);
    console.log(pair.privateKey.type, pair.privateKey.usages.join(), pair.publicKey.type, pair.publicKey.usages.join());
    for (const hash of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) {
      const way = { name: 'ECDSA', hash: { name: hash } };
      const signature = await subtle.sign(way, pair.privateKey, data);
      const isTrue = await subtle.verify(way, pair.publicKey, signature, data);
      const isFalse = await subtle.verify(way, pair.publicKey, signature, data.slice(1));
      console.log(namedCurve, hash, signature.byteLength, isTrue, isFalse);
    }
    const way = { name: 'ECDSA', hash: 'SHA-256' };
    const signature = await subtle.sign(way, pair.privateKey, data);
    for (const format of ['raw', 'spki', 'jwk']) {
      const out = await subtle.exportKey(format, pair.publicKey);
      const again = await subtle.importKey(format, out, algorithm, true, ['verify']);
      console.log(format, out.byteLength, out.kty, out.crv, await subtle.verify(way, again, signature, data));
    }
    for (const format of ['pkcs8', 'jwk']) {
      const out = await subtle.exportKey(format, pair.privateKey);
      const again = await subtle.importKey(format, out, algorithm, true, ['sign']);
      const other = await subtle.sign(way, again, data);
      console.log(format, again.type, await subtle.verify(way, pair.publicKey, other, data));
    }
  }
}
