//! unordered
// Promises of crypto.subtle run beside each other, and the iteration waits for those that are not awaited.
export default function () {
  const { subtle } = crypto;
  const data = new Uint8Array(3);
  subtle.digest('SHA-1', data).then((digest) => console.log('digest', digest.byteLength));
  const made = { name: 'RSA-PSS', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-1' };
  subtle
    .generateKey(made, true, ['sign'])
    .then((pair) => subtle.sign({ name: 'RSA-PSS', saltLength: 8 }, pair.privateKey, data))
    .then((signature) => console.log('signature', signature.byteLength));
  subtle.digest('nope', data).catch((error) => console.log('caught', error.name));
  console.log('end');
}
