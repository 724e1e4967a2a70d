// ReadableStream and the queuing strategies, after the WHATWG Streams standard, whose names the operations here keep.
// Byte streams are not made.
(function (host) {
  'use strict';

  const basis = host.part('globals/strategies');
  const { Queue, resolved, ignore, handled, deferred, call, methodOf, highWaterMarkOf, sizeOf, strategyOf } = basis;

  // What the classes keep, by the object they made.
  const states = new WeakMap();
  const stateOf = (object, Type) => {
    const state = object !== null && typeof object === 'object' ? states.get(object) : undefined;
    if (state === undefined || state.Type !== Type) throw new TypeError(`this is no ${Type.name}`);
    return state;
  };
  const secret = Symbol('made by the host');

  class ReadableStreamDefaultController {
    constructor(key, state) {
      if (key !== secret) throw new TypeError('Illegal constructor');
      states.set(this, { ...state, Type: ReadableStreamDefaultController });
    }
    get desiredSize() { return desiredSize(stateOf(this, ReadableStreamDefaultController)); }
    close() {
      const own = stateOf(this, ReadableStreamDefaultController);
      if (!canCloseOrEnqueue(own)) throw new TypeError('the stream is closed or failed already');
      close(own);
    }
    enqueue(chunk) {
      const own = stateOf(this, ReadableStreamDefaultController);
      if (!canCloseOrEnqueue(own)) throw new TypeError('the stream is closed or failed already');
      enqueue(own, chunk);
    }
    error(reason) { fail(stateOf(this, ReadableStreamDefaultController), reason); }
    get [Symbol.toStringTag]() { return 'ReadableStreamDefaultController'; }
  }

  function desiredSize(own) {
    if (own.stream.state === 'errored') return null;
    return own.stream.state === 'closed' ? 0 : own.highWaterMark - own.queue.total;
  }
  const canCloseOrEnqueue = (own) => !own.closeRequested && own.stream.state === 'readable';

  function shouldPull(own) {
    if (!canCloseOrEnqueue(own) || !own.started) return false;
    return (own.stream.reader?.requests.length ?? 0) > 0 || desiredSize(own) > 0;
  }

  function pullIfNeeded(own) {
    if (!shouldPull(own)) return;
    if (own.pulling) {
      own.pullAgain = true;
      return;
    }
    own.pulling = true;
    own.pull().then(
      () => {
        own.pulling = false;
        if (own.pullAgain) {
          own.pullAgain = false;
          pullIfNeeded(own);
        }
      },
      (error) => fail(own, error),
    );
  }

  function forgetAlgorithms(own) {
    own.pull = undefined;
    own.cancel = undefined;
    own.size = undefined;
  }

  function close(own) {
    own.closeRequested = true;
    if (own.queue.length === 0) {
      forgetAlgorithms(own);
      closeStream(own.stream);
    }
  }

  function enqueue(own, chunk) {
    const { reader } = own.stream;
    if (reader?.requests.length > 0) {
      reader.requests.shift().chunk(chunk);
    } else {
      try {
        own.queue.push(chunk, own.size(chunk));
      } catch (error) {
        fail(own, error);
        throw error;
      }
    }
    pullIfNeeded(own);
  }

  function fail(own, reason) {
    if (own.stream.state !== 'readable') return;
    own.queue.clear();
    forgetAlgorithms(own);
    errorStream(own.stream, reason);
  }

  function closeStream(stream) {
    stream.state = 'closed';
    const { reader } = stream;
    if (!reader) return;
    reader.closed.resolve();
    for (const request of reader.requests.splice(0)) request.close();
  }

  function errorStream(stream, reason) {
    stream.state = 'errored';
    stream.storedError = reason;
    const { reader } = stream;
    if (!reader) return;
    reader.closed.reject(reason);
    handled(reader.closed.promise);
    for (const request of reader.requests.splice(0)) request.error(reason);
  }

  async function cancelSteps(own, reason) {
    own.queue.clear();
    const result = own.cancel(reason);
    forgetAlgorithms(own);
    return result;
  }

  function cancelStream(stream, reason) {
    stream.disturbed = true;
    if (stream.state === 'closed') return Promise.resolve();
    if (stream.state === 'errored') return Promise.reject(stream.storedError);
    closeStream(stream);
    return cancelSteps(stream.controller, reason).then(ignore);
  }

  function readFrom(stream, request) {
    stream.disturbed = true;
    if (stream.state === 'closed') return request.close();
    if (stream.state === 'errored') return request.error(stream.storedError);
    const own = stream.controller;
    if (own.queue.length === 0) {
      stream.reader.requests.push(request);
      pullIfNeeded(own);
      return undefined;
    }
    const chunk = own.queue.shift();
    if (own.closeRequested && own.queue.length === 0) {
      forgetAlgorithms(own);
      closeStream(stream);
    } else {
      pullIfNeeded(own);
    }
    return request.chunk(chunk);
  }

  function acquire(stream) {
    if (stream.reader) throw new TypeError('the stream is locked to a reader already');
    const reader = { stream, requests: [], closed: deferred() };
    stream.reader = reader;
    if (stream.state === 'closed') reader.closed.resolve();
    if (stream.state === 'errored') reader.closed.reject(stream.storedError);
    handled(reader.closed.promise);
    return reader;
  }

  function release(reader) {
    const { stream } = reader;
    const error = new TypeError('the reader was released');
    if (stream.state !== 'readable') reader.closed = deferred();
    reader.closed.reject(error);
    handled(reader.closed.promise);
    stream.reader = undefined;
    reader.stream = undefined;
    for (const request of reader.requests.splice(0)) request.error(error);
  }

  function read(reader) {
    return new Promise((resolve, reject) => {
      readFrom(reader.stream, {
        chunk: (value) => resolve({ value, done: false }),
        close: () => resolve({ value: undefined, done: true }),
        error: reject,
      });
    });
  }

  class ReadableStreamDefaultReader {
    constructor(stream) {
      const reader = acquire(stateOf(stream, ReadableStream));
      reader.Type = ReadableStreamDefaultReader;
      states.set(this, reader);
    }
    get closed() {
      try {
        return stateOf(this, ReadableStreamDefaultReader).closed.promise;
      } catch (error) {
        return Promise.reject(error);
      }
    }
    async cancel(reason) { return cancelStream(attached(this), reason); }
    read() {
      try {
        attached(this);
        return read(states.get(this));
      } catch (error) {
        return Promise.reject(error);
      }
    }
    releaseLock() {
      const reader = stateOf(this, ReadableStreamDefaultReader);
      if (reader.stream) release(reader);
    }
    get [Symbol.toStringTag]() { return 'ReadableStreamDefaultReader'; }
  }

  function attached(object) {
    const reader = stateOf(object, ReadableStreamDefaultReader);
    if (!reader.stream) throw new TypeError('the reader was released');
    return reader.stream;
  }

  // Makes a stream of algorithms, which a script's source is too.
  function setUp(object, { start, pull, cancel, highWaterMark, size }) {
    const stream = { Type: ReadableStream, object, state: 'readable', reader: undefined, storedError: undefined, disturbed: false };
    states.set(object, stream);
    const made = new ReadableStreamDefaultController(secret, {
      stream, queue: new Queue(), highWaterMark, size, pull: () => pull(made), cancel,
      started: false, closeRequested: false, pulling: false, pullAgain: false,
    });
    const own = states.get(made);
    stream.controller = own;
    Promise.resolve(start(made)).then(
      () => {
        own.started = true;
        pullIfNeeded(own);
      },
      (error) => fail(own, error),
    );
    return own;
  }

  class ReadableStream {
    // Both may be left out, which the constructor's `length` shows.
    constructor(source = undefined, strategy = undefined) {
      if (source === null || (source !== undefined && typeof source !== 'object' && typeof source !== 'function')) {
        throw new TypeError('the source of a stream must be an object');
      }
      if (source?.[secret]) {
        setUp(this, source);
        return;
      }
      const given = source ?? {};
      const rules = strategyOf(strategy);
      const [cancel, pull, start] = ['cancel', 'pull', 'start'].map((name) => methodOf(given, name));
      const { type } = given;
      if (type !== undefined) {
        const kind = String(type);
        throw kind === 'bytes' ? new RangeError('byte streams are not supported') : new TypeError(`'${kind}' is no type of stream`);
      }
      setUp(this, {
        start: (controller) => (start === undefined ? undefined : Reflect.apply(start, given, [controller])),
        pull: (controller) => call(pull, given, controller),
        cancel: (reason) => call(cancel, given, reason),
        size: sizeOf(rules),
        highWaterMark: highWaterMarkOf(rules, 1),
      });
    }

    static from(iterable) {
      const make = iterable[Symbol.asyncIterator] ?? iterable[Symbol.iterator];
      if (typeof make !== 'function') throw new TypeError('only what can be iterated can be made a stream');
      const iterator = Reflect.apply(make, iterable, []);
      if (iterator === null || typeof iterator !== 'object') throw new TypeError('an iterator must be an object');
      const isSync = iterable[Symbol.asyncIterator] === undefined || iterable[Symbol.asyncIterator] === null;
      return create({
        highWaterMark: 0,
        pull: async (controller) => {
          const result = await iterator.next();
          if (result === null || typeof result !== 'object') throw new TypeError('an iterator must return objects');
          if (result.done) controller.close();
          else controller.enqueue(isSync ? await result.value : result.value);
        },
        cancel: async (reason) => {
          const { return: end } = iterator;
          if (end === undefined || end === null) return;
          const result = await Reflect.apply(end, iterator, [reason]);
          if (result === null || typeof result !== 'object') throw new TypeError('an iterator must return objects');
        },
      });
    }

    get locked() { return stateOf(this, ReadableStream).reader !== undefined; }

    async cancel(reason) {
      const stream = stateOf(this, ReadableStream);
      if (stream.reader) throw new TypeError('a locked stream is cancelled through its reader');
      return cancelStream(stream, reason);
    }

    getReader(options) {
      stateOf(this, ReadableStream);
      const mode = options?.mode;
      if (mode !== undefined) throw String(mode) === 'byob' ? new TypeError('this is no byte stream') : new TypeError(`'${mode}' is no mode of a reader`);
      return new ReadableStreamDefaultReader(this);
    }

    pipeTo(destination, options) {
      try {
        const source = stateOf(this, ReadableStream);
        return host.part('globals/pipe').pipe(source, destination, options ?? {}, inside);
      } catch (error) {
        return Promise.reject(error);
      }
    }

    pipeThrough(transform, options) {
      const { readable, writable } = transform ?? {};
      const source = stateOf(this, ReadableStream);
      if (!(readable instanceof ReadableStream)) throw new TypeError('readable must be a ReadableStream');
      handled(host.part('globals/pipe').pipe(source, writable, options ?? {}, inside));
      return readable;
    }

    tee() { return tee(stateOf(this, ReadableStream)); }

    values(options) { return iterate(stateOf(this, ReadableStream), Boolean(options?.preventCancel)); }

    get [Symbol.toStringTag]() { return 'ReadableStream'; }
  }
  Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, {
    value: ReadableStream.prototype.values, writable: true, enumerable: false, configurable: true,
  });

  const create = ({ start = ignore, pull = () => resolved, cancel = () => resolved, highWaterMark = 1, size = () => 1 }) =>
    new ReadableStream({ __proto__: null, [secret]: true, start, pull, cancel, highWaterMark, size });

  // What the other half of the standard needs of this one.
  const inside = { acquire, release, read, readFrom, cancelStream, create, states, stateOf, fail, close, enqueue, canCloseOrEnqueue, desiredSize };

  function tee(stream) {
    const reader = acquire(stream);
    const branches = [];
    const canceled = [false, false];
    const reasons = [];
    const cancelled = deferred();
    let reading = false;
    let readAgain = false;

    const pull = () => {
      if (reading) {
        readAgain = true;
        return resolved;
      }
      reading = true;
      readFrom(stream, {
        // In a task of its own, so that both branches get the chunk before either of them reacts.
        chunk: (chunk) => queueMicrotask(() => {
          readAgain = false;
          branches.forEach((own, index) => { if (!canceled[index]) enqueue(own, chunk); });
          reading = false;
          if (readAgain) pull();
        }),
        close: () => {
          reading = false;
          branches.forEach((own, index) => { if (!canceled[index] && canCloseOrEnqueue(own)) close(own); });
          if (!canceled[0] || !canceled[1]) cancelled.resolve();
        },
        error: () => { reading = false; },
      });
      return resolved;
    };
    const cancel = (index) => (reason) => {
      canceled[index] = true;
      reasons[index] = reason;
      if (canceled[1 - index]) cancelled.resolve(cancelStream(stream, [...reasons]));
      return cancelled.promise;
    };
    // Without a prototype, so that a script's own `Object.prototype` is not asked.
    const made = [0, 1].map((index) => create({ __proto__: null, pull, cancel: cancel(index) }));
    for (const branch of made) branches.push(states.get(branch).controller);
    reader.closed.promise.catch((error) => {
      for (const own of branches) fail(own, error);
      if (!canceled[0] || !canceled[1]) cancelled.resolve();
    });
    return made;
  }

  const iterators = new WeakMap();
  const iteratorPrototype = Object.create(Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype));

  function iterate(stream, preventCancel) {
    const iterator = Object.create(iteratorPrototype);
    iterators.set(iterator, { reader: acquire(stream), stream, preventCancel, ongoing: undefined, finished: false });
    return iterator;
  }

  // One after the other, whichever way the one before ended.
  function queued(iterator, step) {
    const state = iterators.get(iterator);
    if (!state) return Promise.reject(new TypeError('this is no iterator of a stream'));
    const run = () => step(state);
    state.ongoing = state.ongoing ? state.ongoing.then(run, run) : run();
    return state.ongoing;
  }

  function next(state) {
    if (state.finished) return Promise.resolve({ value: undefined, done: true });
    return read(state.reader).then(
      (result) => {
        if (result.done) finish(state);
        return result;
      },
      (error) => {
        finish(state);
        throw error;
      },
    );
  }

  function finish(state) {
    if (!state.finished) release(state.reader);
    state.finished = true;
  }

  async function end(state, value) {
    if (!state.finished) {
      const cancelled = state.preventCancel ? resolved : cancelStream(state.stream, value);
      finish(state);
      await cancelled;
    }
    return { value, done: true };
  }

  for (const [name, method] of Object.entries({
    next() { return queued(this, next); },
    return(value) { return queued(this, (state) => end(state, value)); },
  })) {
    Object.defineProperty(iteratorPrototype, name, { value: method, writable: true, enumerable: true, configurable: true });
  }

  return { ReadableStream, ReadableStreamDefaultReader, ReadableStreamDefaultController, inside };
})
