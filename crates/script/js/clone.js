// structuredClone, after the HTML standard's serialization of values that need no second realm.
(function (host) {
  'use strict';

  const ERRORS = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const tagOf = (value) => Object.prototype.toString.call(value).slice(8, -1);

  function refuse(value) {
    const what = typeof value === 'symbol' ? value.toString() : `${typeof value === 'function' ? 'a function' : tagOf(value)}`;
    throw new DOMException(`${what} could not be cloned`, 'DataCloneError');
  }

  function isPlain(value) {
    const prototype = Object.getPrototypeOf(value);
    return prototype === null || !['Promise', 'WeakMap', 'WeakSet', 'WeakRef', 'Generator', 'AsyncGenerator'].includes(tagOf(value));
  }

  function clone(value, known) {
    if (typeof value === 'symbol' || typeof value === 'function') refuse(value);
    if (value === null || typeof value !== 'object') return value;
    if (known.has(value)) return known.get(value);
    const keep = (copy) => {
      known.set(value, copy);
      return copy;
    };
    const { bytesOf, fromBytes, File } = host.part('globals/blob');
    const bytes = bytesOf(value);
    if (bytes !== undefined) {
      if (value instanceof File) return keep(new File([value], value.name, { type: value.type, lastModified: value.lastModified }));
      return keep(fromBytes(bytes, value.type));
    }
    if (value instanceof Date) return keep(new Date(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof Boolean || value instanceof Number || value instanceof String) return keep(Object(value.valueOf()));
    if (typeof BigInt === 'function' && value instanceof BigInt) return keep(Object(value.valueOf()));
    if (value instanceof ArrayBuffer) {
      if (value.detached) refuse(value);
      return keep(value.slice(0));
    }
    if (ArrayBuffer.isView(value)) {
      const buffer = clone(value.buffer, known);
      const length = value instanceof DataView ? value.byteLength : value.length;
      return keep(new value.constructor(buffer, value.byteOffset, length));
    }
    if (value instanceof Map) {
      const copy = keep(new Map());
      for (const [key, item] of [...value]) copy.set(clone(key, known), clone(item, known));
      return copy;
    }
    if (value instanceof Set) {
      const copy = keep(new Set());
      for (const item of [...value]) copy.add(clone(item, known));
      return copy;
    }
    if (value instanceof DOMException) return keep(new DOMException(value.message, value.name));
    if (value instanceof Error) return cloneError(value, keep, known);
    if (Array.isArray(value)) {
      const copy = keep(new Array(value.length));
      for (const key of Object.keys(value)) copy[key] = clone(value[key], known);
      return copy;
    }
    if (!isPlain(value) || (value[Symbol.toStringTag] !== undefined && tagOf(value) !== 'Object')) refuse(value);
    const copy = keep({});
    for (const key of Object.keys(value)) copy[key] = clone(value[key], known);
    return copy;
  }

  function cloneError(value, keep, known) {
    const Kind = ERRORS[value.name] ?? Error;
    const made = keep(new Kind(value.message));
    if (Object.hasOwn(value, 'cause')) made.cause = clone(value.cause, known);
    if (typeof value.stack === 'string') {
      Object.defineProperty(made, 'stack', { value: value.stack, writable: true, configurable: true });
    }
    return made;
  }

  function structuredClone(value, options) {
    if (arguments.length === 0) throw new TypeError('structuredClone needs a value');
    const transfer = Array.from(options?.transfer ?? []);
    for (const item of transfer) {
      if (!(item instanceof ArrayBuffer) || item.detached) refuse(item);
    }
    if (new Set(transfer).size !== transfer.length) {
      throw new DOMException('a value is transferred twice', 'DataCloneError');
    }
    const known = new Map();
    const copies = transfer.map((item) => [item, item.slice(0)]);
    for (const [item, copy] of copies) known.set(item, copy);
    const result = clone(value, known);
    for (const item of transfer) item.transfer();
    return result;
  }

  return { structuredClone };
})
