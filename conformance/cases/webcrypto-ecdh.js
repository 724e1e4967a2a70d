// ECDH: both sides derive the same bits, from keys that were made and from known ones.
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');

export default async function () {
  const { subtle } = crypto;
  for (const [namedCurve, bits] of [['P-256', 256], ['P-384', 384], ['P-521', 528]]) {
    const algorithm = { name: 'ECDH', namedCurve };
    const own = await subtle.generateKey(algorithm, true, ['deriveKey', 'deriveBits']);
    const other = await subtle.generateKey(algorithm, true, ['deriveBits']);
    const here = await subtle.deriveBits({ name: 'ECDH', public: other.publicKey }, own.privateKey, bits);
    const there = await subtle.deriveBits({ name: 'ECDH', public: own.publicKey }, other.privateKey, bits);
    console.log(namedCurve, here.byteLength, hex(here) === hex(there));
    const less = await subtle.deriveBits({ name: 'ECDH', public: other.publicKey }, own.privateKey, 128);
    console.log(less.byteLength, hex(here).startsWith(hex(less)), own.privateKey.usages.slice().sort().join());
    const raw = await subtle.exportKey('raw', other.publicKey);
    const publicKey = await subtle.importKey('raw', raw, algorithm, true, []);
    const pkcs8 = await subtle.exportKey('pkcs8', own.privateKey);
    const privateKey = await subtle.importKey('pkcs8', pkcs8, algorithm, true, ['deriveBits']);
    const again = await subtle.deriveBits({ name: 'ECDH', public: publicKey }, privateKey, bits);
    console.log(raw.byteLength, hex(again) === hex(here));
  }
}
