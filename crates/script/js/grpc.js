// k6/net/grpc: the class Stream. The host delivers events one by one; handlers are called in the order of their registration.
(function (host) {
  'use strict';

  const EVENTS = ['data', 'error', 'end'];

  class Stream {
    #id;
    #handlers = { data: [], error: [], end: [] };

    constructor(client, method, params) {
      this.#id = host.start(client, method, params, (...event) => this.#take(...event));
    }

    on(event, handler) {
      if (!EVENTS.includes(event)) {
        return host.warn(`can't register ${event} event handler: unknown GRPC stream's event type: ${event}`);
      }
      if (typeof handler !== 'function') host.notCallable(event);
      this.#handlers[event].push(handler);
    }

    write(message) {
      if (message === null || message === undefined) return host.warn("can't send empty message");
      host.write(this.#id, message);
    }

    end() {
      host.end(this.#id);
    }

    #take(type, value, ts) {
      if (type === 'error' && this.#handlers.error.length === 0) {
        host.warn(`no handlers for error registered, but an error happened: ${value.message}`);
      }
      try {
        for (const handler of [...this.#handlers[type]]) handler.call(this, value, { ts });
      } catch (error) {
        this.#fail(type, error, ts);
        throw error;
      }
    }

    // A handler threw: the stream ends, its other handlers hear of it, and the iteration fails.
    #fail(type, error, ts) {
      host.fail(this.#id);
      const UNKNOWN = 2;
      if (type !== 'error') {
        const value = { code: UNKNOWN, details: [], message: String(error) };
        for (const handler of [...this.#handlers.error]) handler.call(this, value, { ts });
      }
      if (type !== 'end') for (const handler of [...this.#handlers.end]) handler.call(this, {}, { ts });
    }

    get [Symbol.toStringTag]() {
      return 'Stream';
    }
  }

  return { Stream };
})
