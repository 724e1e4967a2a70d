// k6/websockets: the class WebSocket (https://websockets.spec.whatwg.org) with the events that k6 adds.
(function (host) {
  'use strict';

  const [CONNECTING, OPEN, CLOSING, CLOSED] = [0, 1, 2, 3];
  // The host passes an event by its place in this list.
  const EVENTS = ['open', 'message', 'error', 'close', 'ping', 'pong'];
  const MESSAGE = EVENTS.indexOf('message');
  const ERROR = EVENTS.indexOf('error');
  const CLOSE = EVENTS.indexOf('close');
  const { send } = host;

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

  // Browsers silently drop what is sent to a closed socket; k6 throws.
  function failState() {
    host.fail('InvalidStateError');
  }

  class WebSocket {
    #id;
    #url;
    #state = CONNECTING;
    #binaryType = 'blob';
    #protocol = '';
    #extensions = [];
    // Both by the number of the event.
    #handlers = EVENTS.map(() => undefined);
    #listeners = EVENTS.map(() => undefined);
    #closesEarly;

    // Events that were made alike share their layout for as long as one of them lives. One specimen of each step spares the engine
    // to lay out every event anew.
    static #specimens = [
      {},
      { type: '' },
      { type: '', target: null },
      { type: '', target: null, timestamp: 0 },
      { type: '', target: null, timestamp: 0, data: '' },
      { type: '', target: null, timestamp: 0, data: '', origin: '' },
    ];

    constructor(url, protocols, params) {
      if (arguments.length === 0) host.fail('WebSocket requires a url');
      this.#url = String(url);
      check(this.#url);
      host.start(this.#url, protocolsOf(protocols), params, this.#take);
    }

    static {
      for (const [number, event] of EVENTS.entries()) {
        Object.defineProperty(this.prototype, `on${event}`, {
          get() {
            return this.#handlers[number] ?? null;
          },
          set(handler) {
            if (handler !== null && handler !== undefined && typeof handler !== 'function') {
              host.fail(`a value for 'on${event}' should be callable`);
            }
            this.#handlers[number] = handler;
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

    // Lists of listeners are replaced and never changed: a listener may add and remove others.
    addEventListener(event, listener) {
      const number = EVENTS.indexOf(event);
      if (number < 0) return host.warn(`can't add event handler: unknown event type: ${event}`);
      if (typeof listener !== 'function') return;
      this.#listeners[number] = [...(this.#listeners[number] ?? []), listener];
    }

    removeEventListener(event, listener) {
      const number = EVENTS.indexOf(event);
      if (number < 0) return;
      this.#listeners[number] = this.#listeners[number]?.filter((known) => known !== listener);
    }

    send(data) {
      if (this.#state !== OPEN) failState();
      send(this.#id, data);
    }

    ping() {
      if (this.#state !== OPEN) failState();
      host.ping(this.#id);
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

    // Takes the host's events; a field because a private method is looked up in longer time.
    #take = (number, at, first, second, third) => {
      let event;
      if (number === MESSAGE) {
        const isBinary = second;
        const data = isBinary ? this.#bytes(first) : first;
        event = { type: 'message', target: this, timestamp: at, data, origin: this.#url };
      } else {
        event = this.#change(number, at, first, second, third);
        if (event === undefined) return;
      }
      try {
        this.#handlers[number]?.call(this, event);
        const listeners = this.#listeners[number];
        if (listeners !== undefined) for (const listener of listeners) listener.call(this, event);
      } catch (error) {
        this.#fail(at, error);
        throw error;
      }
    };

    #bytes(buffer) {
      return this.#binaryType === 'arraybuffer' ? buffer : host.blob(buffer);
    }

    #change(number, at, first, second, third) {
      const event = { type: EVENTS[number], target: this, timestamp: at };
      switch (event.type) {
        case 'open':
          this.#id = first;
          if (this.#closesEarly) return host.close(this.#id, ...this.#closesEarly);
          this.#state = OPEN;
          this.#protocol = second;
          this.#extensions = third;
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
      return event;
    }

    // A handler threw: as in k6 the socket hears of it and is closed, and the iteration fails.
    #fail(at, error) {
      if (this.#state === CLOSED) return;
      this.#state = CLOSED;
      if (this.#id !== undefined) host.end(this.#id);
      this.#take(ERROR, at, String(error));
      this.#take(CLOSE, at, undefined, '');
    }

    get [Symbol.toStringTag]() {
      return 'WebSocket';
    }
  }

  return { WebSocket };
})
