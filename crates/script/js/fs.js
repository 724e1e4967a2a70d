// k6/experimental/fs: files whose bytes all VUs share; each VU has places of its own in them.
(function (host) {
  'use strict';

  const SeekMode = Object.freeze({ Start: 0, Current: 1, End: 2 });

  function failure(name, message) {
    const error = new Error(message);
    error.name = name;
    return error;
  }

  let cursorOf;

  class File {
    #cursor;
    constructor(path, size) {
      this.path = path;
      this.#cursor = { path, size, at: 0 };
    }

    static {
      cursorOf = (file) => (file !== null && typeof file === 'object' && #cursor in file ? file.#cursor : undefined);
    }

    async stat() { return { name: this.path.slice(this.path.lastIndexOf('/') + 1), size: this.#cursor.size }; }

    async read(into) {
      if (into === undefined || into === null) throw new TypeError('read() failed; reason: into argument cannot be null or undefined');
      if (!(into instanceof Uint8Array)) throw new TypeError('read() failed; reason: into argument must be a Uint8Array');
      const cursor = this.#cursor;
      const left = cursor.size - cursor.at;
      if (left <= 0) return null;
      const count = Math.min(left, into.length);
      into.set(host.bytes(cursor.path, cursor.at, count));
      cursor.at += count;
      return count;
    }

    async seek(offset, whence) {
      const isMissing = (value) => value === undefined || value === null;
      if (isMissing(offset)) throw new TypeError('seek() failed; reason: the offset argument cannot be null or undefined');
      if (isMissing(whence)) throw new TypeError('seek() failed; reason: the whence argument cannot be null or undefined');
      if (!Number.isInteger(offset)) throw new TypeError('seek() failed; reason: the offset argument must be a number');
      if (!Object.values(SeekMode).includes(whence)) throw new TypeError('seek() failed; reason: the whence argument must be a SeekMode');
      const cursor = this.#cursor;
      if (whence === SeekMode.Start && offset < 0) throw new TypeError('offset cannot be negative when using SeekModeStart');
      if (whence === SeekMode.End && offset > 0) throw new TypeError('offset cannot be positive when using SeekModeEnd');
      // k6 counts from the last byte, not from behind it, and scripts rely on what they get.
      const at = offset + [0, cursor.at, cursor.size - 1][whence];
      if (at < 0) throw new TypeError('seeking before start of file');
      if (at > cursor.size) throw new TypeError('seeking beyond end of file');
      cursor.at = at;
      return at;
    }
  }

  async function open(path) {
    if (host.isRunning()) throw failure('ForbiddenError', 'open() failed; reason: opening a file is allowed only in the Init context');
    if (path === undefined || path === null) throw new TypeError('open() failed; reason: path cannot be null or undefined');
    if (String(path) === '') throw new TypeError('open() failed; reason: path cannot be empty');
    const found = host.open(String(path));
    if (found.problem !== undefined) throw failure(found.kind, found.problem);
    return new File(found.path, found.size);
  }

  return { open, SeekMode, cursorOf };
})
