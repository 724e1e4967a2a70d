// Event, EventTarget, AbortController and AbortSignal, after the WHATWG DOM standard without its tree: an event has one
// target and no path.
(function (host) {
  'use strict';

  const now = () => host.now();

  class Event {
    #type;
    #bubbles;
    #cancelable;
    #composed;
    #timeStamp = now();
    #state = { target: null, current: null, prevented: false, stopped: false, dispatching: false, phase: 0, passive: false };

    static NONE = 0;
    static CAPTURING_PHASE = 1;
    static AT_TARGET = 2;
    static BUBBLING_PHASE = 3;
    static stateOf = (event) => event.#state;

    constructor(type, init) {
      if (arguments.length === 0) throw new TypeError('an Event needs a type');
      const given = init ?? {};
      this.#type = String(type);
      this.#bubbles = Boolean(given.bubbles);
      this.#cancelable = Boolean(given.cancelable);
      this.#composed = Boolean(given.composed);
    }

    get type() { return this.#type; }
    get bubbles() { return this.#bubbles; }
    get cancelable() { return this.#cancelable; }
    get composed() { return this.#composed; }
    get timeStamp() { return this.#timeStamp; }
    get isTrusted() { return false; }
    get target() { return this.#state.target; }
    get srcElement() { return this.#state.target; }
    get currentTarget() { return this.#state.current; }
    get eventPhase() { return this.#state.phase; }
    get defaultPrevented() { return this.#state.prevented; }
    get returnValue() { return !this.#state.prevented; }
    get cancelBubble() { return this.#state.propagationStopped === true; }
    set cancelBubble(value) { if (value) this.stopPropagation(); }

    composedPath() { return this.#state.current === null ? [] : [this.#state.current]; }
    stopPropagation() { this.#state.propagationStopped = true; }
    stopImmediatePropagation() {
      this.#state.propagationStopped = true;
      this.#state.stopped = true;
    }
    preventDefault() {
      if (this.#cancelable && !this.#state.passive) this.#state.prevented = true;
    }
    get [Symbol.toStringTag]() { return 'Event'; }
  }
  const stateOf = Event.stateOf;
  delete Event.stateOf;
  for (const name of ['NONE', 'CAPTURING_PHASE', 'AT_TARGET', 'BUBBLING_PHASE']) Event.prototype[name] = Event[name];

  class CustomEvent extends Event {
    #detail;
    constructor(type, init) {
      super(type, init);
      this.#detail = init?.detail ?? null;
    }
    get detail() { return this.#detail; }
    get [Symbol.toStringTag]() { return 'CustomEvent'; }
  }

  function optionsOf(options) {
    if (typeof options !== 'object' || options === null) return { capture: Boolean(options) };
    const { capture, once, passive, signal } = options;
    if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError('signal is no AbortSignal');
    return { capture: Boolean(capture), once: Boolean(once), passive: Boolean(passive), signal };
  }

  class EventTarget {
    #listeners = new Map();

    addEventListener(type, callback, options) {
      const { capture, once, passive, signal } = optionsOf(options);
      if (callback === null || callback === undefined || signal?.aborted) return;
      if (typeof callback !== 'function' && typeof callback !== 'object') {
        throw new TypeError('a listener is a function or an object with handleEvent()');
      }
      const name = String(type);
      const list = this.#listeners.get(name) ?? [];
      if (list.some((known) => known.callback === callback && known.capture === capture)) return;
      this.#listeners.set(name, [...list, { callback, capture, once, passive, removed: false }]);
      signal?.addEventListener('abort', () => this.removeEventListener(name, callback, { capture }));
    }

    removeEventListener(type, callback, options) {
      const { capture } = optionsOf(options);
      const name = String(type);
      const list = this.#listeners.get(name) ?? [];
      const found = list.find((known) => known.callback === callback && known.capture === capture);
      if (found) this.#drop(name, found);
    }

    #drop(name, listener) {
      listener.removed = true;
      this.#listeners.set(name, this.#listeners.get(name).filter((known) => known !== listener));
    }

    dispatchEvent(event) {
      if (!(event instanceof Event)) throw new TypeError('only an Event can be dispatched');
      const state = stateOf(event);
      if (state.dispatching) {
        throw new DOMException('the event is being dispatched already', 'InvalidStateError');
      }
      Object.assign(state, { target: this, current: this, dispatching: true, phase: Event.AT_TARGET });
      // Those who capture come first, and who is added meanwhile hears the next event only.
      const list = this.#listeners.get(event.type) ?? [];
      for (const listener of [...list.filter((known) => known.capture), ...list.filter((known) => !known.capture)]) {
        if (listener.removed) continue;
        if (listener.once) this.#drop(event.type, listener);
        this.#call(listener, event, state);
        if (state.stopped) break;
      }
      Object.assign(state, { current: null, dispatching: false, phase: 0, stopped: false, propagationStopped: false });
      return !event.defaultPrevented;
    }

    #call({ callback, passive }, event, state) {
      state.passive = passive;
      try {
        if (typeof callback === 'function') callback.call(this, event);
        else callback.handleEvent(event);
      } catch (error) {
        // A listener that fails does not keep the others from hearing; the iteration fails all the same.
        Promise.reject(error);
      }
      state.passive = false;
    }

    get [Symbol.toStringTag]() { return 'EventTarget'; }
  }

  // `target.onname = callback`: a listener that keeps its place when it is replaced.
  function handler(prototype, name) {
    const current = new WeakMap();
    Object.defineProperty(prototype, `on${name}`, {
      get() { return current.get(this)?.callback ?? null; },
      set(callback) {
        const known = current.get(this);
        const value = typeof callback === 'function' ? callback : null;
        if (known) {
          known.callback = value;
          return;
        }
        const slot = { callback: value };
        current.set(this, slot);
        this.addEventListener(name, (event) => slot.callback?.call(this, event));
      },
      enumerable: true,
      configurable: true,
    });
  }

  const internals = new WeakMap();
  const secret = Symbol('made by the host');

  class AbortSignal extends EventTarget {
    constructor(key) {
      if (key !== secret) throw new TypeError('an AbortSignal is made by an AbortController');
      super();
      internals.set(this, { aborted: false, reason: undefined, algorithms: new Set(), sources: [], dependents: [] });
    }

    static abort(reason) {
      const signal = new AbortSignal(secret);
      const own = internals.get(signal);
      own.aborted = true;
      own.reason = reason === undefined ? new DOMException('this operation was aborted', 'AbortError') : reason;
      return signal;
    }

    // The timer runs only while a listener waits for it, so that an unused deadline does not keep the
    // iteration from ending.
    static timeout(milliseconds) {
      const wait = Number(milliseconds);
      if (!(wait >= 0 && wait <= Number.MAX_SAFE_INTEGER)) throw new TypeError('the timeout is out of range');
      const signal = new AbortSignal(secret);
      internals.get(signal).deadline = now() + wait;
      return signal;
    }

    static any(signals) {
      const all = Array.from(signals);
      if (!all.every((signal) => signal instanceof AbortSignal)) throw new TypeError('every signal must be an AbortSignal');
      const aborted = all.find((signal) => signal.aborted);
      if (aborted) return AbortSignal.abort(aborted.reason);
      const signal = new AbortSignal(secret);
      internals.get(signal).sources = all;
      for (const source of all) internals.get(source).dependents.push(signal);
      return signal;
    }

    get aborted() {
      const own = internals.get(this);
      if (!own.aborted && own.deadline !== undefined && now() >= own.deadline) timeOut(this);
      if (!own.aborted) for (const source of own.sources) if (source.aborted) break;
      return own.aborted;
    }

    get reason() { return this.aborted ? internals.get(this).reason : undefined; }

    throwIfAborted() { if (this.aborted) throw this.reason; }

    addEventListener(type, callback, options) {
      super.addEventListener(type, callback, options);
      if (String(type) === 'abort') watch(this);
    }

    get [Symbol.toStringTag]() { return 'AbortSignal'; }
  }
  handler(AbortSignal.prototype, 'abort');

  function timeOut(signal) {
    abort(signal, new DOMException('the operation was aborted due to timeout', 'TimeoutError'));
  }

  function watch(signal) {
    const own = internals.get(signal);
    for (const source of own.sources) watch(source);
    if (own.aborted || own.deadline === undefined || own.timer !== undefined) return;
    own.timer = host.setTimeout(() => timeOut(signal), Math.max(0, own.deadline - now()));
  }

  function abort(signal, reason) {
    const own = internals.get(signal);
    if (own.aborted) return;
    own.aborted = true;
    own.reason = reason === undefined ? new DOMException('this operation was aborted', 'AbortError') : reason;
    if (own.timer !== undefined) host.clearTimeout(own.timer);
    const algorithms = [...own.algorithms];
    own.algorithms.clear();
    for (const algorithm of algorithms) algorithm();
    signal.dispatchEvent(new Event('abort'));
    for (const dependent of own.dependents) abort(dependent, own.reason);
  }

  // Runs `algorithm` when the signal aborts; what it returns takes that back, and lets the timer of a deadline rest.
  function onAbort(signal, algorithm) {
    const own = internals.get(signal);
    own.algorithms.add(algorithm);
    watch(signal);
    return () => {
      own.algorithms.delete(algorithm);
      rest(signal);
    };
  }

  function rest(signal) {
    const own = internals.get(signal);
    for (const source of own.sources) rest(source);
    if (own.timer === undefined || own.algorithms.size > 0) return;
    host.clearTimeout(own.timer);
    own.timer = undefined;
  }

  class AbortController {
    #signal = new AbortSignal(secret);
    get signal() { return this.#signal; }
    abort(reason) { abort(this.#signal, reason); }
    get [Symbol.toStringTag]() { return 'AbortController'; }
  }

  return { Event, CustomEvent, EventTarget, AbortController, AbortSignal, onAbort, handler };
})
