// Arguments and keys. The names and the order of steps, here and in the files beside it, are those of
// https://w3c.github.io/webcrypto/. The three files are one function's body, in which `host` is what natives.rs has.

const USAGES = ['encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'];
const FORMATS = ['raw', 'spki', 'pkcs8', 'jwk'];
const RANDOM_BYTES_MAX = 65536;
const INTEGER_ARRAYS = [
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array,
  BigUint64Array,
];
const ILLEGAL = {};

function fail(name, message) {
  throw new DOMException(message, name);
}

// Conversions of arguments (Web IDL).

function need(count, given, name) {
  if (given.length < count) {
    throw new TypeError(`${name}() needs ${count} arguments; it was given ${given.length}`);
  }
}

function isBytes(value) {
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}

function bytesOf(value, name) {
  if (!isBytes(value)) throw new TypeError(`${name} must be an ArrayBuffer, a typed array or a DataView`);
  if (value instanceof ArrayBuffer) return value.slice(0);
  return value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength);
}

function member(from, name) {
  const value = from[name];
  if (value === undefined) throw new TypeError(`the algorithm needs the member ${name}`);
  return value;
}

function integer(value, name, max) {
  const number = Math.trunc(Number(value));
  if (!Number.isFinite(number) || number < 0 || number > max) {
    throw new TypeError(`${name} must be an integer from 0 to ${max}`);
  }
  return number;
}

const octet = (from, name) => integer(member(from, name), name, 0xff);
const short = (from, name) => integer(member(from, name), name, 0xffff);
const long = (from, name) => integer(member(from, name), name, 0xffffffff);
const optional = (from, name, read) => (from[name] === undefined ? undefined : read(from, name));
const bytes = (from, name) => bytesOf(member(from, name), name);

function usagesOf(list) {
  if (list === null || typeof list !== 'object' || typeof list[Symbol.iterator] !== 'function') {
    throw new TypeError('the usages of a key must be an array');
  }
  const given = new Set();
  for (const item of list) {
    if (!USAGES.includes(String(item))) throw new TypeError(`${String(item)} is no usage of a key`);
    given.add(String(item));
  }
  return USAGES.filter((usage) => given.has(usage));
}

function formatOf(format) {
  if (!FORMATS.includes(String(format))) throw new TypeError(`${String(format)} is no format of a key`);
  return String(format);
}

// Keys.

let make;
let materialOf;
let isKey;

class CryptoKey {
  #material;

  constructor(token, type, extractable, algorithm, usages, material) {
    if (token !== ILLEGAL) throw new TypeError('a CryptoKey is made by crypto.subtle only');
    this.#material = material;
    // Of its own, as k6 has them, so that a key can be printed.
    const fields = { type, extractable, algorithm, usages };
    for (const name in fields) Object.defineProperty(this, name, { value: fields[name], enumerable: true });
  }

  static {
    make = (...facts) => new CryptoKey(ILLEGAL, ...facts);
    materialOf = (key) => key.#material;
    isKey = (value) => value !== null && typeof value === 'object' && #material in value;
  }
}
Object.defineProperty(CryptoKey.prototype, Symbol.toStringTag, { value: 'CryptoKey', configurable: true });

function keyOf(value, name) {
  if (!isKey(value)) throw new TypeError(`${name} must be a CryptoKey`);
  return value;
}

function allow(usages, ...allowed) {
  for (const usage of usages) {
    if (!allowed.includes(usage)) fail('SyntaxError', `a key of this kind cannot ${usage}`);
  }
}

const only = (usages, ...wanted) => usages.filter((usage) => wanted.includes(usage));

function permit(key, algorithm, usage) {
  if (key.algorithm.name !== algorithm.name) {
    fail('InvalidAccessError', `the key is for ${key.algorithm.name}, not for ${algorithm.name}`);
  }
  if (!key.usages.includes(usage)) fail('InvalidAccessError', `the key cannot ${usage}`);
}

function expect(key, type) {
  if (key.type !== type) fail('InvalidAccessError', `the key is ${key.type}; this needs a ${type} one`);
}

// JSON Web Keys (RFC 7517).

// Only what the key needs is asked for. `alg`, `use`, `key_ops` and `ext` may contradict the call, because k6 lets them, and
// scripts for k6 have such keys.
function checkJwk(jwk, kty) {
  if (jwk.kty !== kty) fail('DataError', `kty of the JSON Web Key must be ${kty}`);
}

function describe(jwk, key) {
  jwk.key_ops = [...key.usages];
  jwk.ext = key.extractable;
  return jwk;
}

const unsupported = (format) => fail('NotSupportedError', `keys of this kind have no format ${format}`);
