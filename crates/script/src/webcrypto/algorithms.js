// Families of algorithms. Each has what its algorithms take as parameters and what they do.

const secretKey = (algorithm, extractable, usages, material) => {
  if (usages.length === 0) fail('SyntaxError', 'a secret key needs a usage');
  return make('secret', extractable, algorithm, usages, material);
};

function secretOf(format, data) {
  if (format === 'raw') return data;
  if (format !== 'jwk') unsupported(format);
  checkJwk(data, 'oct');
  if (typeof data.k !== 'string') fail('DataError', 'the JSON Web Key has no k');
  return host.decodeBase64url(data.k);
}

function exportSecret(format, key, alg) {
  if (format === 'raw') return materialOf(key).slice(0);
  if (format !== 'jwk') unsupported(format);
  return describe({ kty: 'oct', k: host.encodeBase64url(materialOf(key)), alg }, key);
}

function aes(mode, usages, operations) {
  const size = (length) => {
    if (![128, 192, 256].includes(length)) fail('OperationError', 'a key of AES has 128, 192 or 256 bits');
    return length;
  };
  const alg = (bits) => `A${bits}${mode}`;
  return {
    ...operations,
    params: {
      ...operations.params,
      generateKey: (from) => ({ length: size(short(from, 'length')) }),
      getKeyLength: (from) => ({ length: size(short(from, 'length')) }),
      importKey: () => ({}),
      exportKey: () => ({}),
    },
    generateKey({ name, length }, extractable, wanted) {
      allow(wanted, ...usages);
      const material = host.random(length / 8);
      return secretKey({ name, length }, extractable, wanted, material);
    },
    getKeyLength: ({ length }) => length,
    importKey(format, data, { name }, extractable, wanted) {
      allow(wanted, ...usages);
      const material = secretOf(format, data);
      const length = material.byteLength * 8;
      if (![128, 192, 256].includes(length)) fail('DataError', 'a key of AES has 128, 192 or 256 bits');
      return secretKey({ name, length }, extractable, wanted, material);
    },
    exportKey: (format, key) => exportSecret(format, key, alg(key.algorithm.length)),
  };
}

const CIPHER = ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'];

const readCbc = (from) => ({ iv: bytes(from, 'iv') });
const AES_CBC = aes('CBC', CIPHER, {
  params: { encrypt: readCbc, decrypt: readCbc },
  encrypt: ({ iv }, key, data) => host.cbc(materialOf(key), iv, data),
  decrypt: ({ iv }, key, data) => host.uncbc(materialOf(key), iv, data),
});

const readCtr = (from) => ({ counter: bytes(from, 'counter'), length: octet(from, 'length') });
const applyCtr = ({ counter, length }, key, data) => host.ctr(materialOf(key), counter, length, data);
const AES_CTR = aes('CTR', CIPHER, {
  params: { encrypt: readCtr, decrypt: readCtr },
  encrypt: applyCtr,
  decrypt: applyCtr,
});

const readGcm = (from) => ({
  iv: bytes(from, 'iv'),
  added: optional(from, 'additionalData', bytes) || new ArrayBuffer(0),
  tagBits: from.tagLength === undefined ? 128 : octet(from, 'tagLength'),
});
const AES_GCM = aes('GCM', CIPHER, {
  params: { encrypt: readGcm, decrypt: readGcm },
  encrypt: ({ iv, added, tagBits }, key, data) => host.gcm(materialOf(key), iv, added, tagBits, data),
  decrypt: ({ iv, added, tagBits }, key, data) => host.ungcm(materialOf(key), iv, added, tagBits, data),
});

const AES_KW = aes('KW', ['wrapKey', 'unwrapKey'], {
  params: { wrapKey: () => ({}), unwrapKey: () => ({}) },
  wrapKey: (_, key, data) => host.wrap(materialOf(key), data),
  unwrapKey: (_, key, data) => host.unwrap(materialOf(key), data),
});

const BLOCK_BITS = { 'SHA-1': 512, 'SHA-256': 512, 'SHA-384': 1024, 'SHA-512': 1024 };

function trim(material, length) {
  const spare = material.byteLength * 8 - length;
  const view = new Uint8Array(material);
  if (spare > 0) view[view.length - 1] &= 0xff << spare;
  return material;
}

const readHmac = (from) => ({ hash: hashOf(from), length: optional(from, 'length', long) });
const hmacBits = ({ hash, length }) => (length === undefined ? BLOCK_BITS[hash.name] : length);
const hmacAlg = (hash) => `HS${hash.name.slice(4)}`;
const HMAC = {
  params: {
    generateKey: readHmac,
    importKey: readHmac,
    getKeyLength: readHmac,
    exportKey: () => ({}),
    sign: () => ({}),
    verify: () => ({}),
  },
  generateKey(algorithm, extractable, usages) {
    allow(usages, 'sign', 'verify');
    const { name, hash } = algorithm;
    const length = hmacBits(algorithm);
    if (length === 0) fail('OperationError', 'a key of HMAC cannot be empty');
    const material = trim(host.random(Math.ceil(length / 8)), length);
    return secretKey({ name, hash, length }, extractable, usages, material);
  },
  getKeyLength(algorithm) {
    const length = hmacBits(algorithm);
    if (length === 0) throw new TypeError('a key of HMAC cannot be empty');
    return length;
  },
  importKey(format, data, { name, hash, length }, extractable, usages) {
    allow(usages, 'sign', 'verify');
    const material = secretOf(format, data);
    const given = material.byteLength * 8;
    if (given === 0) fail('DataError', 'a key of HMAC cannot be empty');
    const bits = length === undefined ? given : length;
    if (bits > given || bits <= given - 8) fail('DataError', 'the length is not that of the key');
    return secretKey({ name, hash, length: bits }, extractable, usages, trim(material, bits));
  },
  exportKey: (format, key) => exportSecret(format, key, hmacAlg(key.algorithm.hash)),
  sign: (_, key, data) => host.hmac(key.algorithm.hash.name, materialOf(key), data),
  verify: (_, key, signature, data) => host.isHmac(key.algorithm.hash.name, materialOf(key), signature, data),
};

// What RSA, elliptic curves and Edwards' curves have in common: pairs, and formats of their halves.

function pair(halves, algorithm, extractable, usages, publicUsages, privateUsages) {
  allow(usages, ...publicUsages, ...privateUsages);
  const mayDo = only(usages, ...privateUsages);
  if (mayDo.length === 0) fail('SyntaxError', 'a private key needs a usage');
  return {
    publicKey: make('public', true, algorithm, only(usages, ...publicUsages), halves.publicKey),
    privateKey: make('private', extractable, algorithm, mayDo, halves.privateKey),
  };
}

// A half may be given the other half's usages: scripts for k6 import the public key of ECDH with `deriveBits`.
function half(isPrivate, algorithm, extractable, usages, material) {
  if (isPrivate && usages.length === 0) fail('SyntaxError', 'a private key needs a usage');
  return make(isPrivate ? 'private' : 'public', extractable, algorithm, usages, material);
}

function exportHalf(format, key, members, hasRaw) {
  if (format === 'jwk') return describe({ ...members, ...host.writeJwk(materialOf(key)) }, key);
  if (format === 'raw' && !hasRaw) unsupported(format);
  expect(key, format === 'pkcs8' ? 'private' : 'public');
  return host.writeKey(materialOf(key), format);
}

function exponent(bytes) {
  const digits = new Uint8Array(bytes);
  const isSmall = digits.every((digit, index) => digit === 0 || (index === digits.length - 1 && digit < 3));
  if (isSmall || digits[digits.length - 1] % 2 === 0) {
    fail('OperationError', 'the public exponent must be odd and at least 3');
  }
  return bytes;
}

function rsa(alg, publicUsages, privateUsages, operations) {
  const facts = (name, hash, material) => ({ name, ...host.rsaParameters(material), hash });
  return {
    ...operations,
    params: {
      ...operations.params,
      generateKey: (from) => ({
        modulusLength: long(from, 'modulusLength'),
        publicExponent: exponent(bytes(from, 'publicExponent')),
        hash: hashOf(from),
      }),
      importKey: (from) => ({ hash: hashOf(from) }),
      exportKey: () => ({}),
    },
    async generateKey({ name, modulusLength, publicExponent, hash }, extractable, usages) {
      allow(usages, ...publicUsages, ...privateUsages);
      if (only(usages, ...privateUsages).length === 0) fail('SyntaxError', 'a private key needs a usage');
      const halves = await host.generate('RSA', modulusLength, publicExponent);
      const algorithm = facts(name, hash, halves.publicKey);
      return pair(halves, algorithm, extractable, usages, publicUsages, privateUsages);
    },
    importKey(format, data, { name, hash }, extractable, usages) {
      if (format === 'raw') unsupported(format);
      const isPrivate = format === 'jwk' ? data.d !== undefined : format === 'pkcs8';
      allow(usages, ...publicUsages, ...privateUsages);
      if (format === 'jwk') checkJwk(data, 'RSA');
      const material = format === 'jwk' ? host.readJwk('RSA', data) : host.readKey('RSA', format, data);
      return half(isPrivate, facts(name, hash, material), extractable, usages, material);
    },
    exportKey: (format, key) => exportHalf(format, key, { kty: 'RSA', alg: alg(key.algorithm.hash) }, false),
  };
}

const digits = (hash) => hash.name.slice(4);

const readOaep = (from) => ({ label: optional(from, 'label', bytes) || new ArrayBuffer(0) });
const oaepAlg = (hash) => (hash.name === 'SHA-1' ? 'RSA-OAEP' : `RSA-OAEP-${digits(hash)}`);
const RSA_OAEP = rsa(oaepAlg, ['encrypt', 'wrapKey'], ['decrypt', 'unwrapKey'], {
  params: { encrypt: readOaep, decrypt: readOaep },
  encrypt({ label }, key, data) {
    expect(key, 'public');
    return host.encryptOaep(materialOf(key), key.algorithm.hash.name, label, data);
  },
  decrypt({ label }, key, data) {
    expect(key, 'private');
    return host.decryptOaep(materialOf(key), key.algorithm.hash.name, label, data);
  },
});

function signing(salt, hashFor) {
  return {
    sign(algorithm, key, data) {
      expect(key, 'private');
      return host.sign(materialOf(key), hashFor(algorithm, key), salt(algorithm), data);
    },
    verify(algorithm, key, signature, data) {
      expect(key, 'public');
      return host.verify(materialOf(key), hashFor(algorithm, key), salt(algorithm), signature, data);
    },
  };
}

const hashOfKey = (_, key) => key.algorithm.hash.name;
const unsalted = () => undefined;

const readPss = (from) => ({ saltLength: long(from, 'saltLength') });
const RSA_PSS = rsa((hash) => `PS${digits(hash)}`, ['verify'], ['sign'], {
  params: { sign: readPss, verify: readPss },
  ...signing(({ saltLength }) => saltLength, hashOfKey),
});

const RSASSA = rsa((hash) => `RS${digits(hash)}`, ['verify'], ['sign'], {
  params: { sign: () => ({}), verify: () => ({}) },
  ...signing(unsalted, hashOfKey),
});

const CURVES = ['P-256', 'P-384', 'P-521'];

// Keys on a curve: `family` is the host's word, `kty` and `crv` are those of JSON Web Keys.
function curve(family, kty, publicUsages, privateUsages, operations) {
  const named = family === 'EC';
  const readCurve = (from) => {
    if (!named) return {};
    const namedCurve = String(member(from, 'namedCurve'));
    if (!CURVES.includes(namedCurve)) {
      fail('NotSupportedError', `the curve ${namedCurve} is not supported`);
    }
    return { namedCurve };
  };
  return {
    ...operations,
    params: {
      ...operations.params,
      generateKey: readCurve,
      importKey: readCurve,
      exportKey: () => ({}),
    },
    generateKey(algorithm, extractable, usages) {
      allow(usages, ...publicUsages, ...privateUsages);
      const halves = host.generate(family, algorithm.namedCurve);
      return pair(halves, algorithm, extractable, usages, publicUsages, privateUsages);
    },
    importKey(format, data, algorithm, extractable, usages) {
      const isPrivate = format === 'jwk' ? data.d !== undefined : format === 'pkcs8';
      allow(usages, ...publicUsages, ...privateUsages);
      if (format !== 'jwk') {
        const material = host.readKey(family, format, data, algorithm.namedCurve);
        return half(isPrivate, algorithm, extractable, usages, material);
      }
      checkJwk(data, kty);
      const known = named ? CURVES : [family];
      if (!known.includes(data.crv)) fail('DataError', `crv of the JSON Web Key must be ${known.join(' or ')}`);
      // The key knows best which curve it is on, as in k6.
      const actual = named ? { ...algorithm, namedCurve: data.crv } : algorithm;
      return half(isPrivate, actual, extractable, usages, host.readJwk(family, data, data.crv));
    },
    exportKey: (format, key) =>
      exportHalf(format, key, { kty, crv: named ? key.algorithm.namedCurve : family }, true),
  };
}

const readEcdsa = (from) => ({ hash: hashOf(from) });
const ECDSA = curve('EC', 'EC', ['verify'], ['sign'], {
  params: { sign: readEcdsa, verify: readEcdsa },
  ...signing(unsalted, ({ hash }) => hash.name),
});

const ED25519 = curve('Ed25519', 'OKP', ['verify'], ['sign'], {
  params: { sign: () => ({}), verify: () => ({}) },
  ...signing(unsalted, () => 'SHA-512'),
});

function agreeing(family, kty) {
  return curve(family, kty, [], ['deriveKey', 'deriveBits'], {
    params: { deriveBits: (from) => ({ other: keyOf(member(from, 'public'), 'public') }) },
    deriveBits({ name, other }, key, length) {
      expect(key, 'private');
      expect(other, 'public');
      if (other.algorithm.name !== name || other.algorithm.namedCurve !== key.algorithm.namedCurve) {
        fail('InvalidAccessError', 'the keys are of two kinds');
      }
      const secret = host.agree(materialOf(key), materialOf(other));
      if (length === null) return secret;
      if (length > secret.byteLength * 8) fail('OperationError', 'the secret has fewer bits');
      return trim(secret.slice(0, Math.ceil(length / 8)), length);
    },
  });
}

function deriving(readParams, derive) {
  return {
    params: {
      importKey: () => ({}),
      getKeyLength: () => ({}),
      deriveBits: readParams,
    },
    getKeyLength: () => null,
    importKey(format, data, { name }, extractable, usages) {
      if (format !== 'raw') unsupported(format);
      allow(usages, 'deriveKey', 'deriveBits');
      if (extractable) fail('SyntaxError', `keys for ${name} cannot be extractable`);
      return secretKey({ name }, false, usages, data);
    },
    deriveBits(algorithm, key, length) {
      if (length === null || length % 8 !== 0) fail('OperationError', 'the length must be a multiple of 8 bits');
      return derive(algorithm, materialOf(key), length / 8);
    },
  };
}

const PBKDF2 = deriving(
  (from) => ({ salt: bytes(from, 'salt'), iterations: long(from, 'iterations'), hash: hashOf(from) }),
  ({ hash, salt, iterations }, password, count) => host.pbkdf2(hash.name, password, salt, iterations, count),
);

const HKDF = deriving(
  (from) => ({ hash: hashOf(from), salt: bytes(from, 'salt'), info: bytes(from, 'info') }),
  ({ hash, salt, info }, secret, count) => host.hkdf(hash.name, secret, salt, info, count),
);

const DIGEST = {
  params: { digest: () => ({}) },
  digest: ({ name }, data) => host.digest(name, data),
};
