// WritableStream, after the WHATWG Streams standard, whose names the operations here keep.
(function (host) {
  'use strict';

  const { Queue, ignore, handled, deferred, call, methodOf, highWaterMarkOf, sizeOf, strategyOf } = host.part('globals/strategies');

  const states = new WeakMap();
  const stateOf = (object, Type) => {
    const state = object !== null && typeof object === 'object' ? states.get(object) : undefined;
    if (state === undefined || state.Type !== Type) throw new TypeError(`this is no ${Type.name}`);
    return state;
  };
  const secret = Symbol('made by the host');
  // Stands in the queue for the wish to close.
  const CLOSE = Symbol('close');

  class WritableStreamDefaultController {
    constructor(key, own) {
      if (key !== secret) throw new TypeError('Illegal constructor');
      own.Type = WritableStreamDefaultController;
      states.set(this, own);
    }
    get signal() {
      const own = stateOf(this, WritableStreamDefaultController);
      own.abortController ??= new (host.part('globals/events').AbortController)();
      return own.abortController.signal;
    }
    error(reason) {
      const own = stateOf(this, WritableStreamDefaultController);
      if (own.stream.state === 'writable') controllerError(own, reason);
    }
    get [Symbol.toStringTag]() { return 'WritableStreamDefaultController'; }
  }

  const desiredSize = (own) => own.highWaterMark - own.queue.total;
  const closing = (stream) => stream.closeRequest !== undefined || stream.inFlightClose !== undefined;

  function forgetAlgorithms(own) {
    own.write = own.close = own.abort = own.size = undefined;
  }

  function controllerError(own, reason) {
    forgetAlgorithms(own);
    startErroring(own.stream, reason);
  }

  function startErroring(stream, reason) {
    stream.state = 'erroring';
    stream.storedError = reason;
    if (stream.writer) rejectReady(stream.writer, reason);
    if (!inFlight(stream) && stream.controller.started) finishErroring(stream);
  }
  const inFlight = (stream) => stream.inFlightWrite !== undefined || stream.inFlightClose !== undefined;

  function rejectReady(writer, reason) {
    if (writer.readyState !== 'pending') writer.ready = deferred();
    writer.ready.reject(reason);
    writer.readyState = 'rejected';
    handled(writer.ready.promise);
  }

  function rejectClosed(writer, reason) {
    if (writer.closedState !== 'pending') writer.closed = deferred();
    writer.closed.reject(reason);
    writer.closedState = 'rejected';
    handled(writer.closed.promise);
  }

  function finishErroring(stream) {
    stream.state = 'errored';
    stream.controller.queue.clear();
    for (const request of stream.requests.splice(0)) request.reject(stream.storedError);
    const abort = stream.pendingAbort;
    if (!abort) return rejectClosedIfNeeded(stream);
    stream.pendingAbort = undefined;
    if (abort.wasErroring) {
      abort.reject(stream.storedError);
      return rejectClosedIfNeeded(stream);
    }
    const result = stream.controller.abort(abort.reason);
    forgetAlgorithms(stream.controller);
    result.then(
      () => {
        abort.resolve();
        rejectClosedIfNeeded(stream);
      },
      (error) => {
        abort.reject(error);
        rejectClosedIfNeeded(stream);
      },
    );
    return undefined;
  }

  function rejectClosedIfNeeded(stream) {
    if (stream.closeRequest) {
      stream.closeRequest.reject(stream.storedError);
      stream.closeRequest = undefined;
    }
    if (stream.writer) rejectClosed(stream.writer, stream.storedError);
  }

  function dealWithRejection(stream, error) {
    if (stream.state === 'writable') startErroring(stream, error);
    else finishErroring(stream);
  }

  function updateBackpressure(stream, backpressure) {
    const { writer } = stream;
    if (writer && backpressure !== stream.backpressure) {
      if (backpressure) {
        writer.ready = deferred();
        writer.readyState = 'pending';
      } else {
        writer.ready.resolve();
        writer.readyState = 'resolved';
      }
    }
    stream.backpressure = backpressure;
  }

  function advance(own) {
    const { stream } = own;
    if (!own.started || stream.inFlightWrite) return;
    if (stream.state === 'erroring') return void finishErroring(stream);
    if (own.queue.length === 0) return;
    const { value } = own.queue.items[0];
    if (value === CLOSE) processClose(own);
    else processWrite(own, value);
  }

  function processClose(own) {
    const { stream } = own;
    stream.inFlightClose = stream.closeRequest;
    stream.closeRequest = undefined;
    own.queue.shift();
    const result = own.close();
    forgetAlgorithms(own);
    result.then(
      () => {
        stream.inFlightClose.resolve();
        stream.inFlightClose = undefined;
        if (stream.state === 'erroring') {
          stream.storedError = undefined;
          stream.pendingAbort?.resolve();
          stream.pendingAbort = undefined;
        }
        stream.state = 'closed';
        if (stream.writer) {
          stream.writer.closed.resolve();
          stream.writer.closedState = 'resolved';
        }
      },
      (error) => {
        stream.inFlightClose.reject(error);
        stream.inFlightClose = undefined;
        stream.pendingAbort?.reject(error);
        stream.pendingAbort = undefined;
        dealWithRejection(stream, error);
      },
    );
  }

  function processWrite(own, chunk) {
    const { stream } = own;
    stream.inFlightWrite = stream.requests.shift();
    own.write(chunk).then(
      () => {
        stream.inFlightWrite.resolve();
        stream.inFlightWrite = undefined;
        own.queue.shift();
        if (!closing(stream) && stream.state === 'writable') updateBackpressure(stream, desiredSize(own) <= 0);
        advance(own);
      },
      (error) => {
        if (stream.state === 'writable') forgetAlgorithms(own);
        stream.inFlightWrite.reject(error);
        stream.inFlightWrite = undefined;
        dealWithRejection(stream, error);
      },
    );
  }

  function abortStream(stream, reason) {
    if (stream.state === 'closed' || stream.state === 'errored') return Promise.resolve();
    const own = stream.controller;
    own.abortController ??= new (host.part('globals/events').AbortController)();
    own.abortController.abort(reason);
    if (stream.state === 'closed' || stream.state === 'errored') return Promise.resolve();
    if (stream.pendingAbort) return stream.pendingAbort.promise;
    const wasErroring = stream.state === 'erroring';
    stream.pendingAbort = { ...deferred(), reason: wasErroring ? undefined : reason, wasErroring };
    const { promise } = stream.pendingAbort;
    if (!wasErroring) startErroring(stream, reason);
    return promise;
  }

  function closeStream(stream) {
    if (stream.state === 'closed' || stream.state === 'errored') {
      return Promise.reject(new TypeError(`the stream is ${stream.state} already`));
    }
    stream.closeRequest = deferred();
    const { promise } = stream.closeRequest;
    const { writer } = stream;
    if (writer && stream.backpressure && stream.state === 'writable') {
      writer.ready.resolve();
      writer.readyState = 'resolved';
    }
    stream.controller.queue.push(CLOSE, 0);
    advance(stream.controller);
    return promise;
  }

  function acquire(stream) {
    if (stream.writer) throw new TypeError('the stream is locked to a writer already');
    const writer = { stream, ready: deferred(), readyState: 'pending', closed: deferred(), closedState: 'pending' };
    stream.writer = writer;
    const { state } = stream;
    if (state === 'erroring' || state === 'errored') rejectReady(writer, stream.storedError);
    else if (state === 'closed' || closing(stream) || !stream.backpressure) {
      writer.ready.resolve();
      writer.readyState = 'resolved';
    }
    if (state === 'closed') {
      writer.closed.resolve();
      writer.closedState = 'resolved';
    }
    if (state === 'errored') rejectClosed(writer, stream.storedError);
    return writer;
  }

  function release(writer) {
    const error = new TypeError('the writer was released');
    rejectReady(writer, error);
    rejectClosed(writer, error);
    writer.stream.writer = undefined;
    writer.stream = undefined;
  }

  function write(writer, chunk) {
    const { stream } = writer;
    const own = stream.controller;
    let size = 1;
    if (own.size) {
      try {
        size = own.size(chunk);
      } catch (error) {
        if (stream.state === 'writable') controllerError(own, error);
      }
    }
    if (stream !== writer.stream) return Promise.reject(new TypeError('the writer was released'));
    if (stream.state === 'errored') return Promise.reject(stream.storedError);
    if (closing(stream) || stream.state === 'closed') return Promise.reject(new TypeError('the stream is closing or closed'));
    if (stream.state === 'erroring') return Promise.reject(stream.storedError);
    const request = deferred();
    stream.requests.push(request);
    try {
      own.queue.push(chunk, size);
    } catch (error) {
      if (stream.state === 'writable') controllerError(own, error);
      return request.promise;
    }
    if (!closing(stream) && stream.state === 'writable') updateBackpressure(stream, desiredSize(own) <= 0);
    advance(own);
    return request.promise;
  }

  // Rejects where the method that was called would throw.
  function promised(method) {
    try {
      return method();
    } catch (error) {
      return Promise.reject(error);
    }
  }

  class WritableStreamDefaultWriter {
    constructor(stream) {
      const writer = acquire(stateOf(stream, WritableStream));
      writer.Type = WritableStreamDefaultWriter;
      states.set(this, writer);
    }
    get closed() { return promised(() => stateOf(this, WritableStreamDefaultWriter).closed.promise); }
    get ready() { return promised(() => stateOf(this, WritableStreamDefaultWriter).ready.promise); }
    get desiredSize() {
      const { stream } = attached(this);
      if (stream.state === 'errored' || stream.state === 'erroring') return null;
      return stream.state === 'closed' ? 0 : desiredSize(stream.controller);
    }
    abort(reason) { return promised(() => abortStream(attached(this).stream, reason)); }
    close() {
      return promised(() => {
        const { stream } = attached(this);
        if (closing(stream)) throw new TypeError('the stream is closing already');
        return closeStream(stream);
      });
    }
    write(chunk) { return promised(() => write(attached(this), chunk)); }
    releaseLock() {
      const writer = stateOf(this, WritableStreamDefaultWriter);
      if (writer.stream) release(writer);
    }
    get [Symbol.toStringTag]() { return 'WritableStreamDefaultWriter'; }
  }

  function attached(object) {
    const writer = stateOf(object, WritableStreamDefaultWriter);
    if (!writer.stream) throw new TypeError('the writer was released');
    return writer;
  }

  function setUp(object, { start, write: writeChunk, close, abort, highWaterMark, size }) {
    const stream = { Type: WritableStream, object, state: 'writable', storedError: undefined, writer: undefined, requests: [], backpressure: false };
    states.set(object, stream);
    const own = { stream, queue: new Queue(), started: false, highWaterMark, size, close, abort };
    const made = new WritableStreamDefaultController(secret, own);
    own.write = (chunk) => writeChunk(chunk, made);
    stream.controller = own;
    updateBackpressure(stream, desiredSize(own) <= 0);
    Promise.resolve(start(made)).then(
      () => {
        own.started = true;
        advance(own);
      },
      (error) => {
        own.started = true;
        dealWithRejection(stream, error);
      },
    );
  }

  class WritableStream {
    // Both may be left out, which the constructor's `length` shows.
    constructor(sink = undefined, strategy = undefined) {
      if (sink === null || (sink !== undefined && typeof sink !== 'object' && typeof sink !== 'function')) {
        throw new TypeError('the sink of a stream must be an object');
      }
      if (sink?.[secret]) {
        setUp(this, sink);
        return;
      }
      const given = sink ?? {};
      const rules = strategyOf(strategy);
      const [abort, close, start] = ['abort', 'close', 'start'].map((name) => methodOf(given, name));
      if (given.type !== undefined) throw new RangeError('a sink has no type');
      const writeChunk = methodOf(given, 'write');
      setUp(this, {
        start: (controller) => (start === undefined ? undefined : Reflect.apply(start, given, [controller])),
        write: (chunk, controller) => call(writeChunk, given, chunk, controller),
        close: () => call(close, given),
        abort: (reason) => call(abort, given, reason),
        size: sizeOf(rules),
        highWaterMark: highWaterMarkOf(rules, 1),
      });
    }
    get locked() { return stateOf(this, WritableStream).writer !== undefined; }
    abort(reason) {
      return promised(() => {
        const stream = unlocked(this);
        return abortStream(stream, reason);
      });
    }
    close() {
      return promised(() => {
        const stream = unlocked(this);
        if (closing(stream)) throw new TypeError('the stream is closing already');
        return closeStream(stream);
      });
    }
    getWriter() {
      stateOf(this, WritableStream);
      return new WritableStreamDefaultWriter(this);
    }
    get [Symbol.toStringTag]() { return 'WritableStream'; }
  }

  function unlocked(object) {
    const stream = stateOf(object, WritableStream);
    if (stream.writer) throw new TypeError('a locked stream is closed or aborted through its writer');
    return stream;
  }

  const create = ({ start = ignore, write: writeChunk, close, abort, highWaterMark = 1, size = () => 1 }) =>
    new WritableStream({ [secret]: true, start, write: writeChunk, close, abort, highWaterMark, size });

  const inside = { stateOf, acquire, release, write, abortStream, closeStream, closing, create, controllerError };

  return { WritableStream, WritableStreamDefaultWriter, WritableStreamDefaultController, inside };
})
