// What scripts see: `crypto` and its `subtle`.

const ALGORITHMS = {
  'SHA-1': DIGEST,
  'SHA-256': DIGEST,
  'SHA-384': DIGEST,
  'SHA-512': DIGEST,
  'AES-CBC': AES_CBC,
  'AES-CTR': AES_CTR,
  'AES-GCM': AES_GCM,
  'AES-KW': AES_KW,
  HMAC,
  'RSA-OAEP': RSA_OAEP,
  'RSA-PSS': RSA_PSS,
  'RSASSA-PKCS1-v1_5': RSASSA,
  ECDSA,
  ECDH: agreeing('EC', 'EC'),
  Ed25519: ED25519,
  X25519: agreeing('X25519', 'OKP'),
  PBKDF2,
  HKDF,
};
const NAMES = new Map(Object.keys(ALGORITHMS).map((name) => [name.toUpperCase(), name]));

function normalize(given, operation) {
  const from = typeof given === 'string' ? { name: given } : given;
  if (from === null || (typeof from !== 'object' && typeof from !== 'function')) {
    throw new TypeError('an algorithm is a name or an object with a name');
  }
  const asked = String(member(from, 'name'));
  const name = NAMES.get(asked.toUpperCase());
  const read = name && ALGORITHMS[name].params[operation];
  if (!read) fail('NotSupportedError', `${asked} does not support ${operation}`);
  return { name, ...read(from) };
}

function supports(given, operation) {
  const from = typeof given === 'string' ? { name: given } : given;
  const name = from && NAMES.get(String(from.name).toUpperCase());
  return Boolean(name && ALGORITHMS[name].params[operation]);
}

function hashOf(from) {
  return { name: normalize(member(from, 'hash'), 'digest').name };
}

function importInto(format, data, algorithm, extractable, usages) {
  return ALGORITHMS[algorithm.name].importKey(format, data, algorithm, Boolean(extractable), usages);
}

function exportFrom(format, key) {
  const { params, exportKey } = ALGORITHMS[key.algorithm.name];
  if (!params.exportKey) fail('NotSupportedError', `keys for ${key.algorithm.name} cannot be exported`);
  if (!key.extractable) fail('InvalidAccessError', 'the key is not extractable');
  return exportKey(format, key);
}

function keyDataOf(format, data) {
  if (format !== 'jwk') return bytesOf(data, 'keyData');
  if (data === null || typeof data !== 'object' || isBytes(data)) {
    throw new TypeError('a JSON Web Key must be an object');
  }
  return data;
}

function lengthOf(length) {
  return length === null || length === undefined ? null : integer(length, 'length', 0xffffffff);
}

// In each method the arguments are read at once, and `await` stands where the standard goes on "in parallel".
class SubtleCrypto {
  constructor(token) {
    if (token !== ILLEGAL) throw new TypeError('there is one SubtleCrypto: crypto.subtle');
  }

  async encrypt(algorithm, key, data) {
    need(3, arguments, 'encrypt');
    const normalized = normalize(algorithm, 'encrypt');
    const text = bytesOf(data, 'data');
    keyOf(key, 'key');
    await undefined;
    permit(key, normalized, 'encrypt');
    return ALGORITHMS[normalized.name].encrypt(normalized, key, text);
  }

  async decrypt(algorithm, key, data) {
    need(3, arguments, 'decrypt');
    const normalized = normalize(algorithm, 'decrypt');
    const text = bytesOf(data, 'data');
    keyOf(key, 'key');
    await undefined;
    permit(key, normalized, 'decrypt');
    return ALGORITHMS[normalized.name].decrypt(normalized, key, text);
  }

  async sign(algorithm, key, data) {
    need(3, arguments, 'sign');
    const normalized = normalize(algorithm, 'sign');
    const message = bytesOf(data, 'data');
    keyOf(key, 'key');
    await undefined;
    permit(key, normalized, 'sign');
    return ALGORITHMS[normalized.name].sign(normalized, key, message);
  }

  async verify(algorithm, key, signature, data) {
    need(4, arguments, 'verify');
    const normalized = normalize(algorithm, 'verify');
    const signed = bytesOf(signature, 'signature');
    const message = bytesOf(data, 'data');
    keyOf(key, 'key');
    await undefined;
    permit(key, normalized, 'verify');
    return ALGORITHMS[normalized.name].verify(normalized, key, signed, message);
  }

  async digest(algorithm, data) {
    need(2, arguments, 'digest');
    const normalized = normalize(algorithm, 'digest');
    const message = bytesOf(data, 'data');
    await undefined;
    return ALGORITHMS[normalized.name].digest(normalized, message);
  }

  async generateKey(algorithm, extractable, keyUsages) {
    need(3, arguments, 'generateKey');
    const usages = usagesOf(keyUsages);
    const normalized = normalize(algorithm, 'generateKey');
    await undefined;
    return ALGORITHMS[normalized.name].generateKey(normalized, Boolean(extractable), usages);
  }

  async deriveBits(algorithm, baseKey, length = null) {
    need(2, arguments, 'deriveBits');
    const normalized = normalize(algorithm, 'deriveBits');
    const bits = lengthOf(length);
    keyOf(baseKey, 'baseKey');
    await undefined;
    permit(baseKey, normalized, 'deriveBits');
    return ALGORITHMS[normalized.name].deriveBits(normalized, baseKey, bits);
  }

  async deriveKey(algorithm, baseKey, derivedKeyType, extractable, keyUsages) {
    need(5, arguments, 'deriveKey');
    const usages = usagesOf(keyUsages);
    const normalized = normalize(algorithm, 'deriveBits');
    const target = normalize(derivedKeyType, 'importKey');
    const sized = normalize(derivedKeyType, 'getKeyLength');
    keyOf(baseKey, 'baseKey');
    await undefined;
    permit(baseKey, normalized, 'deriveKey');
    const bits = ALGORITHMS[sized.name].getKeyLength(sized);
    const secret = await ALGORITHMS[normalized.name].deriveBits(normalized, baseKey, bits);
    return importInto('raw', secret, target, extractable, usages);
  }

  async importKey(format, keyData, algorithm, extractable, keyUsages) {
    need(5, arguments, 'importKey');
    const known = formatOf(format);
    const usages = usagesOf(keyUsages);
    const normalized = normalize(algorithm, 'importKey');
    const data = keyDataOf(known, keyData);
    await undefined;
    return importInto(known, data, normalized, extractable, usages);
  }

  async exportKey(format, key) {
    need(2, arguments, 'exportKey');
    const known = formatOf(format);
    keyOf(key, 'key');
    await undefined;
    return exportFrom(known, key);
  }

  async wrapKey(format, key, wrappingKey, wrapAlgorithm) {
    need(4, arguments, 'wrapKey');
    const known = formatOf(format);
    const operation = supports(wrapAlgorithm, 'wrapKey') ? 'wrapKey' : 'encrypt';
    const normalized = normalize(wrapAlgorithm, operation);
    keyOf(wrappingKey, 'wrappingKey');
    keyOf(key, 'key');
    await undefined;
    permit(wrappingKey, normalized, 'wrapKey');
    const exported = exportFrom(known, key);
    const data = known === 'jwk' ? host.encodeUtf8(JSON.stringify(exported)) : exported;
    return ALGORITHMS[normalized.name][operation](normalized, wrappingKey, data);
  }

  async unwrapKey(format, wrappedKey, unwrappingKey, unwrapAlgorithm, unwrappedKeyAlgorithm, extractable, keyUsages) {
    need(7, arguments, 'unwrapKey');
    const known = formatOf(format);
    const usages = usagesOf(keyUsages);
    const operation = supports(unwrapAlgorithm, 'unwrapKey') ? 'unwrapKey' : 'decrypt';
    const normalized = normalize(unwrapAlgorithm, operation);
    const target = normalize(unwrappedKeyAlgorithm, 'importKey');
    const wrapped = bytesOf(wrappedKey, 'wrappedKey');
    keyOf(unwrappingKey, 'unwrappingKey');
    await undefined;
    permit(unwrappingKey, normalized, 'unwrapKey');
    const data = await ALGORITHMS[normalized.name][operation](normalized, unwrappingKey, wrapped);
    if (known !== 'jwk') return importInto(known, data, target, extractable, usages);
    const jwk = parseJwk(data);
    // importKey() does not ask, because k6's does not.
    if (jwk.ext === false && extractable) fail('DataError', 'what was wrapped may not be extracted');
    return importInto(known, jwk, target, extractable, usages);
  }
}
Object.defineProperty(SubtleCrypto.prototype, Symbol.toStringTag, { value: 'SubtleCrypto', configurable: true });

function parseJwk(data) {
  try {
    return keyDataOf('jwk', JSON.parse(host.decodeUtf8(data)));
  } catch (error) {
    return fail('DataError', 'what was wrapped is no JSON Web Key');
  }
}

class Crypto {
  constructor(token) {
    if (token !== ILLEGAL) throw new TypeError('there is one Crypto: crypto');
    Object.defineProperty(this, 'subtle', { value: new SubtleCrypto(ILLEGAL), enumerable: true });
    // Where k6 has it.
    Object.defineProperty(this, 'CryptoKey', { value: CryptoKey, enumerable: true });
  }

  getRandomValues(array) {
    need(1, arguments, 'getRandomValues');
    if (!INTEGER_ARRAYS.some((kind) => array instanceof kind)) {
      fail('TypeMismatchError', 'only typed arrays of integers can be filled');
    }
    if (array.byteLength > RANDOM_BYTES_MAX) {
      fail('QuotaExceededError', `no more than ${RANDOM_BYTES_MAX} bytes are given at a time`);
    }
    const target = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    target.set(new Uint8Array(host.random(array.byteLength)));
    return array;
  }

  randomUUID() {
    return host.uuid();
  }
}
Object.defineProperty(Crypto.prototype, Symbol.toStringTag, { value: 'Crypto', configurable: true });

const crypto = new Crypto(ILLEGAL);
