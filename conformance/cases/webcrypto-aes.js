// AES-CBC, AES-CTR and AES-GCM with known keys, and with keys that were made.
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
const numbered = (count) => new Uint8Array(count).map((_, index) => index);

export default async function () {
  const { subtle } = crypto;
  const text = new TextEncoder().encode('a text that is longer than one block');
  const ways = [
    { name: 'AES-CBC', iv: numbered(16) },
    { name: 'AES-CTR', counter: numbered(16), length: 64 },
    { name: 'AES-GCM', iv: numbered(12) },
    { name: 'AES-GCM', iv: numbered(12), additionalData: numbered(5), tagLength: 96 },
  ];
  for (const way of ways) {
    for (const bytes of [16, 24, 32]) {
      const key = await subtle.importKey('raw', numbered(bytes), way.name, true, ['encrypt', 'decrypt']);
      const sealed = await subtle.encrypt(way, key, text);
      const opened = await subtle.decrypt(way, key, sealed);
      console.log(way.name, bytes, hex(sealed), hex(opened) === hex(text), key.type, key.extractable);
      console.log(key.algorithm.name, key.algorithm.length, key.usages.slice().sort().join());
      const made = await subtle.generateKey({ name: way.name, length: bytes * 8 }, true, ['decrypt', 'encrypt']);
      const raw = await subtle.exportKey('raw', made);
      const again = await subtle.importKey('raw', raw, way.name, false, ['decrypt']);
      const other = await subtle.encrypt(way, made, text);
      console.log(raw.byteLength, hex(await subtle.decrypt(way, again, other)) === hex(text));
    }
  }
}
