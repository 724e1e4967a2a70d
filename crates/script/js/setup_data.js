// What `setup()` returned as the text that each VU gets a copy from: as k6's host side sees a value, and not as
// `JSON.stringify()` does. Nothing is left out (`undefined` is `null`), `toJSON()` is not asked, and what JSON cannot hold is
// refused.
(host) => {
  const bytes = [Uint8Array, Uint8ClampedArray];
  const numbers = Object.getPrototypeOf(Uint8Array);

  // A response is its data; what it can do is no part of it.
  const abilities = new Set(['clickLink', 'html', 'json', 'submitForm']);
  const isResponse = (holder) => 'tls_cipher_suite' in holder && 'remote_ip' in holder;

  class Refusal {
    constructor(key, what) {
      this.text = key === '' ? what : `${JSON.stringify(key)} is ${what}`;
    }
  }

  // Of an object: what stands for it. Its own properties are looked at afterwards.
  const exported = (object) => {
    if (object instanceof Date) {
      return Number.isNaN(object.getTime()) ? null : object.toISOString().replace(/\.?0+Z$/, 'Z');
    }
    if (object instanceof Map || object instanceof Set) return Array.from(object);
    if (bytes.some((kind) => object instanceof kind)) return object.length === 0 ? null : host.base64(object);
    if (object instanceof numbers) return Array.from(object);
    if (object instanceof String) return {};
    if (object instanceof BigInt || object instanceof Symbol) return primitive('', object.valueOf());
    return host.cookie(object);
  };

  const primitive = (key, value) => {
    switch (typeof value) {
      case 'undefined':
        return null;
      case 'bigint':
        return Number(value);
      case 'symbol':
        return value.description ?? '';
      case 'string':
        return value.toWellFormed();
      case 'number':
        if (Number.isFinite(value)) return value;
        throw new Refusal(key, String(value));
      case 'function':
        throw new Refusal(key, 'a function');
      default:
        return value;
    }
  };

  // The text, and why there is none.
  return (data) => {
    try {
      const text = JSON.stringify(data, function (key) {
        const value = this[key];
        if (abilities.has(key) && isResponse(this)) return undefined;
        return typeof value === 'object' && value !== null ? exported(value) : primitive(key, value);
      });
      return [text, null];
    } catch (error) {
      if (error instanceof Refusal) return [null, error.text];
      if (error instanceof TypeError && error.message === 'circular reference') return [null, 'an object that holds itself'];
      throw error;
    }
  };
};
