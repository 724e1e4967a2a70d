// What both halves of the WHATWG Streams standard stand on: queues with sizes, the queuing strategies, promises.
(function () {
  'use strict';

  const resolved = Promise.resolve();
  const ignore = () => {};
  const handled = (promise) => {
    promise.then(ignore, ignore);
    return promise;
  };

  function deferred() {
    const made = {};
    made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
    return made;
  }

  // Calls a method of a script's object and makes a promise of what comes of it.
  function call(method, self, ...args) {
    if (method === undefined) return resolved;
    try {
      return Promise.resolve(Reflect.apply(method, self, args));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  function methodOf(object, name) {
    const method = object[name];
    if (method !== undefined && typeof method !== 'function') throw new TypeError(`${name} must be a function`);
    return method;
  }

  // A queue with sizes: https://streams.spec.whatwg.org/#queue-with-sizes
  class Queue {
    items = [];
    total = 0;
    push(value, size) {
      const weight = Number(size);
      if (Number.isNaN(weight) || weight < 0 || weight === Infinity) throw new RangeError('the size of a chunk must be a finite number that is not negative');
      this.items.push({ value, weight });
      this.total += weight;
    }
    shift() {
      const { value, weight } = this.items.shift();
      // Rounding must not leave less than nothing.
      this.total = Math.max(0, this.total - weight);
      return value;
    }
    get length() { return this.items.length; }
    clear() {
      this.items = [];
      this.total = 0;
    }
  }

  function highWaterMarkOf(strategy, missing) {
    if (strategy.highWaterMark === undefined) return missing;
    const mark = Number(strategy.highWaterMark);
    if (Number.isNaN(mark) || mark < 0) throw new RangeError('highWaterMark must be a number that is not negative');
    return mark;
  }

  function sizeOf(strategy) {
    const { size } = strategy;
    if (size === undefined) return () => 1;
    if (typeof size !== 'function') throw new TypeError('size must be a function');
    return (chunk) => size(chunk);
  }

  function strategyOf(value) {
    if (value === undefined || value === null) return {};
    if (typeof value !== 'object' && typeof value !== 'function') throw new TypeError('a strategy must be an object');
    return value;
  }

  class CountQueuingStrategy {
    #mark;
    constructor(init) { this.#mark = markOf(init); }
    get highWaterMark() { return this.#mark; }
    get size() { return countSize; }
    get [Symbol.toStringTag]() { return 'CountQueuingStrategy'; }
  }
  const countSize = { size: () => 1 }.size;

  class ByteLengthQueuingStrategy {
    #mark;
    constructor(init) { this.#mark = markOf(init); }
    get highWaterMark() { return this.#mark; }
    get size() { return byteSize; }
    get [Symbol.toStringTag]() { return 'ByteLengthQueuingStrategy'; }
  }
  const byteSize = { size: (chunk) => chunk.byteLength }.size;

  function markOf(init) {
    if (init === null || typeof init !== 'object' || init.highWaterMark === undefined) throw new TypeError('highWaterMark is missing');
    return Number(init.highWaterMark);
  }

  return { CountQueuingStrategy, ByteLengthQueuingStrategy, Queue, resolved, ignore, handled, deferred, call, methodOf, highWaterMarkOf, sizeOf, strategyOf };
})
