// crypto.subtle.digest(): every digest, spelt in every way, of every kind of bytes.
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');

export default async function () {
  const data = new TextEncoder().encode('héllo ✓');
  for (const name of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) {
    for (const algorithm of [name, name.toLowerCase(), { name }]) {
      console.log(name, hex(await crypto.subtle.digest(algorithm, data)));
    }
    console.log(name, hex(await crypto.subtle.digest(name, data.buffer)));
    console.log(name, hex(await crypto.subtle.digest(name, new ArrayBuffer(0))));
  }
  for (const name of ['MD5', '', 'SHA256']) {
    try {
      await crypto.subtle.digest(name, data);
      console.log('accepted');
    } catch (error) {
      console.log(name, error.name);
    }
  }
}
