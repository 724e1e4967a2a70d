// Blob and File, after the W3C File API. The bytes of a blob are one Uint8Array that no other code can reach, so slices and
// blobs made of blobs may share its buffer.
(function (host) {
  'use strict';

  const Bytes = Uint8Array;

  // https://w3c.github.io/FileAPI/#constructorBlob: a type with other characters than these is none.
  function typeOf(value) {
    const type = value === undefined ? '' : String(value);
    return /^[\x20-\x7e]*$/.test(type) ? type.toLowerCase() : '';
  }

  function bytesOfPart(part, endings) {
    if (part instanceof Blob) return bytesOf(part);
    if (part instanceof ArrayBuffer) return new Bytes(part.slice(0));
    if (ArrayBuffer.isView(part)) {
      return new Bytes(part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength));
    }
    const text = String(part);
    return host.encode(endings === 'native' ? text.replace(/\r\n?/g, '\n') : text);
  }

  function concatenate(chunks) {
    if (chunks.length === 1) return chunks[0];
    const whole = new Bytes(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    let at = 0;
    for (const chunk of chunks) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    return whole;
  }

  // Where a slice begins or ends: from the end when negative, within the blob always.
  function place(value, size, missing) {
    if (value === undefined) return missing;
    const at = Math.trunc(Number(value)) || 0;
    return at < 0 ? Math.max(size + at, 0) : Math.min(at, size);
  }

  let bytesOf, fromBytes;

  class Blob {
    #bytes;
    #type;

    constructor(parts = [], options = {}) {
      if (parts === null || typeof parts !== 'object' || typeof parts[Symbol.iterator] !== 'function') {
        throw new TypeError("the parts of a Blob must be an iterable object");
      }
      const given = options ?? {};
      const endings = given.endings;
      if (endings !== undefined && endings !== 'transparent' && endings !== 'native') {
        throw new TypeError(`'${endings}' is no way to end lines; use transparent or native`);
      }
      this.#bytes = concatenate(Array.from(parts, (part) => bytesOfPart(part, endings)));
      this.#type = typeOf(given.type);
    }

    static {
      bytesOf = (value) => (value !== null && typeof value === 'object' && #bytes in value ? value.#bytes : undefined);
      fromBytes = (bytes, type) => {
        const blob = new Blob();
        blob.#bytes = bytes;
        blob.#type = typeOf(type);
        return blob;
      };
    }

    get size() {
      return this.#bytes.length;
    }

    get type() {
      return this.#type;
    }

    slice(start, end, type) {
      const from = place(start, this.size, 0);
      const to = place(end, this.size, this.size);
      return fromBytes(this.#bytes.subarray(from, Math.max(from, to)), type);
    }

    async text() {
      return host.decode(this.#bytes);
    }

    async arrayBuffer() {
      return this.#bytes.slice().buffer;
    }

    async bytes() {
      return this.#bytes.slice();
    }

    stream() {
      const { ReadableStream } = host.part('globals/streams');
      const bytes = this.#bytes;
      return new ReadableStream({
        start(controller) {
          if (bytes.length > 0) controller.enqueue(bytes.slice());
          controller.close();
        },
      });
    }

    get [Symbol.toStringTag]() {
      return 'Blob';
    }
  }

  class File extends Blob {
    #name;
    #lastModified;

    constructor(parts, name, options = {}) {
      if (arguments.length < 2) throw new TypeError('a File needs its parts and a name');
      super(parts, options);
      this.#name = String(name);
      const modified = options?.lastModified;
      this.#lastModified = modified === undefined ? Date.now() : Math.trunc(Number(modified)) || 0;
    }

    get name() {
      return this.#name;
    }

    get lastModified() {
      return this.#lastModified;
    }

    get [Symbol.toStringTag]() {
      return 'File';
    }
  }

  return { Blob, File, bytesOf, fromBytes };
})
