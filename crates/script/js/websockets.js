// k6/websockets: the class WebSocket (https://websockets.spec.whatwg.org) with the events that k6 adds.
(function (host) {
  'use strict';

  const [CONNECTING, OPEN, CLOSING, CLOSED] = [0, 1, 2, 3];
  const EVENTS = ['open', 'message', 'error', 'close', 'ping', 'pong'];

  // k6's checks and words; our host is asked only for what has passed them.
  function check(url) {
    const [, scheme] = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(url) ?? [];
    const lower = (scheme ?? '').toLowerCase();
    if (lower !== 'ws' && lower !== 'wss') {
      host.fail(`WebSocket requires url with scheme ws or wss, but got "${lower}"`);
    }
    const [, fragment] = /#(.*)$/s.exec(url) ?? [];
    if (fragment !== undefined) host.fail(`WebSocket requires no url fragment, but got "${fragment}"`);
  }

  function protocolsOf(protocols) {
    if (protocols === undefined || protocols === null) return undefined;
    const list = Array.isArray(protocols) ? protocols.map(String) : [String(protocols)];
    return list.length === 0 ? undefined : list.join(', ');
  }

  class WebSocket {
    #id;
    #url;
    #state = CONNECTING;
    #binaryType = 'blob';
    #protocol = '';
    #extensions = [];
    #handlers = {};
    #listeners = {};
    #closesEarly;

    constructor(url, protocols, params) {
      if (arguments.length === 0) host.fail('WebSocket requires a url');
      this.#url = String(url);
      check(this.#url);
      host.start(this.#url, protocolsOf(protocols), params, (...event) => this.#take(...event));
    }

    static {
      for (const event of EVENTS) {
        Object.defineProperty(this.prototype, `on${event}`, {
          get() {
            return this.#handlers[event] ?? null;
          },
          set(handler) {
            if (handler !== null && handler !== undefined && typeof handler !== 'function') {
              host.fail(`a value for 'on${event}' should be callable`);
            }
            this.#handlers[event] = handler;
          },
          enumerable: true,
          configurable: true,
        });
      }
      for (const [name, value] of Object.entries({ CONNECTING, OPEN, CLOSING, CLOSED })) {
        Object.defineProperty(this, name, { value, enumerable: true });
        Object.defineProperty(this.prototype, name, { value, enumerable: true });
      }
    }

    get url() {
      return this.#url;
    }
    get readyState() {
      return this.#state;
    }
    get bufferedAmount() {
      return this.#id === undefined ? 0 : host.buffered(this.#id);
    }
    get extensions() {
      return this.#extensions;
    }
    get protocol() {
      return this.#protocol;
    }
    get binaryType() {
      return this.#binaryType;
    }
    set binaryType(type) {
      if (type !== 'blob' && type !== 'arraybuffer') {
        host.fail(`unknown binaryType ${type}, the supported ones are "blob" and "arraybuffer"`);
      }
      this.#binaryType = type;
    }

    addEventListener(event, listener) {
      if (!EVENTS.includes(event)) return host.warn(`can't add event handler: unknown event type: ${event}`);
      if (typeof listener !== 'function') return;
      (this.#listeners[event] ??= []).push(listener);
    }

    removeEventListener(event, listener) {
      this.#listeners[event] = this.#listeners[event]?.filter((known) => known !== listener);
    }

    send(data) {
      this.#needOpen();
      host.send(this.#id, data);
    }

    ping() {
      this.#needOpen();
      host.ping(this.#id);
    }

    // Browsers silently drop what is sent to a closed socket; k6 throws.
    #needOpen() {
      if (this.#state !== OPEN) host.fail('InvalidStateError');
    }

    close(code, reason = '') {
      let number = Math.trunc(Number(code)) || 1000;
      if (number !== 1000 && !(number >= 3000 && number <= 5000)) {
        host.fail(
          "InvalidAccessError: Failed to execute 'close' on 'WebSocket': " +
            `The close code must be either 1000, or between 3000 and 4999. ${number} is neither`,
        );
      }
      if (this.#state >= CLOSING) return;
      const isOpen = this.#state === OPEN;
      this.#state = CLOSING;
      if (isOpen) host.close(this.#id, number, String(reason));
      else this.#closesEarly = [number, String(reason)];
    }

    #take(type, at, first, second, third) {
      const event = { type, target: this, timestamp: at };
      switch (type) {
        case 'open':
          this.#id = first;
          if (this.#closesEarly) return host.close(this.#id, ...this.#closesEarly);
          this.#state = OPEN;
          this.#protocol = second;
          this.#extensions = third;
          break;
        case 'message':
          event.data = typeof first === 'string' || this.#binaryType === 'arraybuffer' ? first : host.blob(first);
          event.origin = this.#url;
          break;
        case 'error':
          this.#state = CLOSED;
          event.error = first;
          break;
        case 'close':
          this.#state = CLOSED;
          event.code = first ?? undefined;
          event.reason = second;
          break;
      }
      try {
        this.#emit(event);
      } catch (error) {
        this.#fail(at, error);
        throw error;
      }
    }

    #emit(event) {
      this.#handlers[event.type]?.call(this, event);
      for (const listener of [...(this.#listeners[event.type] ?? [])]) listener.call(this, event);
    }

    // A handler threw: as in k6 the socket hears of it and is closed, and the iteration fails.
    #fail(at, error) {
      if (this.#state === CLOSED) return;
      this.#state = CLOSED;
      if (this.#id !== undefined) host.end(this.#id);
      this.#emit({ type: 'error', target: this, timestamp: at, error: String(error) });
      this.#emit({ type: 'close', target: this, timestamp: at, code: undefined, reason: '' });
    }

    get [Symbol.toStringTag]() {
      return 'WebSocket';
    }
  }

  return { WebSocket };
})
