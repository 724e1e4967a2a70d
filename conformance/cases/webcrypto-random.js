// crypto.getRandomValues() and crypto.randomUUID().
export default function () {
  for (const kind of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array]) {
    const array = new kind(64);
    console.log(kind.name, crypto.getRandomValues(array) === array, array.some((value) => value !== 0));
  }
  const part = new Uint8Array(new ArrayBuffer(64), 16, 32);
  crypto.getRandomValues(part);
  const whole = new Uint8Array(part.buffer);
  const isZero = (byte) => byte === 0;
  console.log(whole.slice(0, 16).every(isZero), whole.slice(48).every(isZero), part.every(isZero));
  for (const bad of [new Float32Array(2), new Float64Array(2), [1], new Uint8Array(65537)]) {
    try {
      crypto.getRandomValues(bad);
      console.log('accepted');
    } catch (error) {
      console.log('refused', error instanceof Error);
    }
  }
  const uuid = crypto.randomUUID();
  console.log(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uuid));
  console.log(uuid === crypto.randomUUID());
}
