// What joins the two halves of the WHATWG Streams standard: pipes and TransformStream.
(function (host) {
  'use strict';

  const { handled, deferred, call, methodOf, highWaterMarkOf, sizeOf, strategyOf, resolved } = host.part('globals/strategies');
  const W = host.part('globals/writable').inside;

  // https://streams.spec.whatwg.org/#readable-stream-pipe-to
  function pipe(source, destination, options, R) {
    const { WritableStream } = host.part('globals/writable');
    const target = W.stateOf(destination, WritableStream);
    const { preventAbort, preventCancel, preventClose, signal } = options;
    const { AbortSignal, onAbort } = host.part('globals/events');
    if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError('signal is no AbortSignal');
    if (source.reader) throw new TypeError('the stream is locked');
    if (target.writer) throw new TypeError('the destination is locked');
    const reader = R.acquire(source);
    const writer = W.acquire(target);
    source.disturbed = true;
    const done = deferred();
    let shuttingDown = false;
    let lastWrite = resolved;
    let unwatch;

    function finalize(failed, error) {
      W.release(writer);
      R.release(reader);
      unwatch?.();
      if (failed) done.reject(error);
      else done.resolve();
    }

    // What was read is written before anything ends.
    const written = () => (target.state === 'writable' && !W.closing(target) ? settled() : resolved);
    async function settled() {
      let seen;
      do {
        seen = lastWrite;
        await seen.catch(() => {});
      } while (seen !== lastWrite);
    }

    function shutdown(action, failed, error) {
      if (shuttingDown) return;
      shuttingDown = true;
      written().then(action ?? (() => resolved)).then(
        () => finalize(failed, error),
        (other) => finalize(true, other),
      );
    }

    if (signal !== undefined) {
      const stop = () => {
        const { reason } = signal;
        shutdown(() => Promise.all([
          preventAbort || target.state !== 'writable' ? resolved : W.abortStream(target, reason),
          preventCancel || source.state !== 'readable' ? resolved : R.cancelStream(source, reason),
        ]), true, reason);
      };
      if (signal.aborted) {
        stop();
        return done.promise;
      }
      unwatch = onAbort(signal, stop);
    }

    const sourceFailed = () => shutdown(preventAbort ? undefined : () => W.abortStream(target, source.storedError), true, source.storedError);
    const targetFailed = () => shutdown(preventCancel ? undefined : () => R.cancelStream(source, target.storedError), true, target.storedError);
    const sourceClosed = () => shutdown(preventClose ? undefined : () => closeGently(), false);
    function closeGently() {
      if (target.state === 'closed' || W.closing(target)) return resolved;
      return target.state === 'errored' ? Promise.reject(target.storedError) : W.closeStream(target);
    }
    if (source.state === 'errored') sourceFailed();
    else if (target.state === 'errored' || target.state === 'erroring') targetFailed();
    else if (source.state === 'closed') sourceClosed();
    if (!shuttingDown && (W.closing(target) || target.state === 'closed')) {
      const error = new TypeError('the destination is closed');
      shutdown(preventCancel ? undefined : () => R.cancelStream(source, error), true, error);
    }
    reader.closed.promise.then(sourceClosed, () => source.state === 'errored' && sourceFailed());
    writer.closed.promise.catch(() => target.state === 'errored' && targetFailed());

    function step() {
      if (shuttingDown) return;
      writer.ready.promise.then(() => {
        if (shuttingDown) return;
        R.readFrom(source, {
          chunk: (chunk) => {
            lastWrite = handled(Promise.resolve().then(() => W.write(writer, chunk)));
            step();
          },
          close: sourceClosed,
          error: sourceFailed,
        });
      }, () => {});
    }
    step();
    return done.promise;
  }

  const controllers = new WeakMap();
  const secret = Symbol('made by the host');

  class TransformStreamDefaultController {
    constructor(key) {
      if (key !== secret) throw new TypeError('Illegal constructor');
    }
    get desiredSize() { return controllers.get(this).own.stream.state === 'errored' ? null : host.part('globals/streams').inside.desiredSize(controllers.get(this).own); }
    enqueue(chunk) { controllers.get(this).enqueue(chunk); }
    error(reason) { controllers.get(this).error(reason); }
    terminate() { controllers.get(this).terminate(); }
    get [Symbol.toStringTag]() { return 'TransformStreamDefaultController'; }
  }

  // https://streams.spec.whatwg.org/#ts-model
  class TransformStream {
    #readable;
    #writable;

    // All may be left out, which the constructor's `length` shows.
    constructor(transformer = undefined, writableStrategy = undefined, readableStrategy = undefined) {
      const given = transformer ?? {};
      const [flush, start, transform, cancel] = ['flush', 'start', 'transform', 'cancel'].map((name) => methodOf(given, name));
      if (given.readableType !== undefined || given.writableType !== undefined) throw new RangeError('a transformer has no types');
      const [incoming, outgoing] = [strategyOf(writableStrategy), strategyOf(readableStrategy)];
      const R = host.part('globals/streams').inside;
      const controller = new TransformStreamDefaultController(secret);
      const started = deferred();
      let pressure = deferred();
      let pressed = true;
      let finishing;
      let own;
      let target;

      const press = (value) => {
        pressed = value;
        pressure.resolve();
        pressure = deferred();
      };
      const unblock = () => { if (pressed) press(false); };
      const errorWritable = (reason) => {
        if (target.state === 'writable') W.controllerError(target.controller, reason);
        unblock();
      };
      const error = (reason) => {
        R.fail(own, reason);
        errorWritable(reason);
      };
      const run = (chunk) => (transform === undefined
        ? promised(() => controls.enqueue(chunk))
        : call(transform, given, chunk, controller)
      ).catch((reason) => {
        error(reason);
        throw reason;
      });
      const controls = {
        error,
        enqueue(chunk) {
          if (!R.canCloseOrEnqueue(own)) throw new TypeError('the readable side is closed or failed');
          try {
            R.enqueue(own, chunk);
          } catch (reason) {
            errorWritable(reason);
            throw own.stream.storedError;
          }
          const full = R.desiredSize(own) <= 0;
          if (full !== pressed && full) press(true);
        },
        terminate() {
          if (R.canCloseOrEnqueue(own)) R.close(own);
          errorWritable(new TypeError('the transform was terminated'));
        },
      };

      this.#writable = W.create({
        start: () => started.promise,
        write: async (chunk) => {
          if (pressed) {
            await pressure.promise;
            if (target.state === 'erroring') throw target.storedError;
          }
          return run(chunk);
        },
        close: () => {
          finishing ??= call(flush, given, controller).then(
            () => {
              if (own.stream.state === 'errored') throw own.stream.storedError;
              if (R.canCloseOrEnqueue(own)) R.close(own);
            },
            (reason) => {
              R.fail(own, reason);
              throw own.stream.storedError;
            },
          );
          return finishing;
        },
        abort: (reason) => {
          finishing ??= call(cancel, given, reason).then(
            () => {
              if (own.stream.state === 'errored') throw own.stream.storedError;
              R.fail(own, reason);
            },
            (other) => {
              R.fail(own, other);
              throw other;
            },
          );
          return finishing;
        },
        highWaterMark: highWaterMarkOf(incoming, 1),
        size: sizeOf(incoming),
      });
      target = W.stateOf(this.#writable, host.part('globals/writable').WritableStream);
      this.#readable = R.create({
        start: () => started.promise,
        pull: () => {
          press(false);
          return pressure.promise;
        },
        cancel: (reason) => {
          finishing ??= call(cancel, given, reason).then(
            () => {
              if (target.state === 'errored') throw target.storedError;
              errorWritable(reason);
            },
            (other) => {
              errorWritable(other);
              throw other;
            },
          );
          return finishing;
        },
        highWaterMark: highWaterMarkOf(outgoing, 0),
        size: sizeOf(outgoing),
      });
      own = R.states.get(this.#readable).controller;
      controllers.set(controller, { ...controls, own });
      started.resolve(start === undefined ? undefined : Reflect.apply(start, given, [controller]));
    }

    get readable() { return this.#readable; }
    get writable() { return this.#writable; }
    get [Symbol.toStringTag]() { return 'TransformStream'; }
  }

  function promised(method) {
    try {
      method();
      return resolved;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  return { pipe, TransformStream, TransformStreamDefaultController };
})
