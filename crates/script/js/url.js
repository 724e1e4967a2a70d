// URL and URLSearchParams, after the WHATWG URL standard. Parsing and the setters are the host's.
(function (host) {
  'use strict';

  // Places in what the host returns of a URL.
  const PARTS = ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash', 'origin'];
  const AT = Object.fromEntries(PARTS.map((name, index) => [name, index]));

  let attach;

  class URLSearchParams {
    #pairs = [];
    #changed = undefined;

    static {
      attach = (params, pairs, changed) => {
        params.#pairs = pairs;
        if (changed) params.#changed = changed;
      };
    }

    constructor(init = '') {
      if (init !== null && (typeof init === 'object' || typeof init === 'function')) {
        const iterator = init[Symbol.iterator];
        this.#pairs = iterator === undefined || iterator === null ? fromRecord(init) : fromPairs(init);
        return;
      }
      const text = String(init);
      this.#pairs = host.parseForm(text.startsWith('?') ? text.slice(1) : text);
    }

    #update() { this.#changed?.(this.toString()); }

    get size() { return this.#pairs.length; }

    append(name, value) {
      need(arguments, 2);
      this.#pairs.push([wellFormed(name), wellFormed(value)]);
      this.#update();
    }

    delete(name, value) {
      need(arguments, 1);
      const [key, only] = [wellFormed(name), value === undefined ? undefined : wellFormed(value)];
      this.#pairs = this.#pairs.filter((pair) => pair[0] !== key || (only !== undefined && pair[1] !== only));
      this.#update();
    }

    get(name) {
      need(arguments, 1);
      const key = wellFormed(name);
      return this.#pairs.find((pair) => pair[0] === key)?.[1] ?? null;
    }

    getAll(name) {
      need(arguments, 1);
      const key = wellFormed(name);
      return this.#pairs.filter((pair) => pair[0] === key).map((pair) => pair[1]);
    }

    has(name, value) {
      need(arguments, 1);
      const [key, only] = [wellFormed(name), value === undefined ? undefined : wellFormed(value)];
      return this.#pairs.some((pair) => pair[0] === key && (only === undefined || pair[1] === only));
    }

    set(name, value) {
      need(arguments, 2);
      const [key, text] = [wellFormed(name), wellFormed(value)];
      const first = this.#pairs.findIndex((pair) => pair[0] === key);
      if (first < 0) this.#pairs.push([key, text]);
      else this.#pairs = this.#pairs.filter((pair, at) => pair[0] !== key || at === first).map((pair) => (pair[0] === key ? [key, text] : pair));
      this.#update();
    }

    // By code units, as strings compare; equal names keep their order.
    sort() {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#update();
    }

    forEach(callback, self) {
      if (typeof callback !== 'function') throw new TypeError('forEach needs a function');
      for (const [name, value] of this) callback.call(self, value, name, this);
    }

    // By place, not over a copy: what is added or removed meanwhile is seen.
    entries() { return iterate(() => this.#pairs, (pair) => [pair[0], pair[1]]); }
    keys() { return iterate(() => this.#pairs, (pair) => pair[0]); }
    values() { return iterate(() => this.#pairs, (pair) => pair[1]); }

    toString() { return host.serializeForm(this.#pairs); }
    get [Symbol.toStringTag]() { return 'URLSearchParams'; }
  }
  define(URLSearchParams.prototype, Symbol.iterator, URLSearchParams.prototype.entries);

  const iterators = new WeakMap();
  const iteratorPrototype = Object.create(Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())), {
    next: {
      value: function next() {
        const state = iterators.get(this);
        if (state === undefined) throw new TypeError('next() was called on something that is no iterator');
        const pairs = state.read();
        return state.at < pairs.length ? { value: state.pick(pairs[state.at++]), done: false } : { value: undefined, done: true };
      },
      writable: true,
      enumerable: true,
      configurable: true,
    },
    [Symbol.toStringTag]: { value: 'URLSearchParams Iterator', configurable: true },
  });

  function iterate(read, pick) {
    const iterator = Object.create(iteratorPrototype);
    iterators.set(iterator, { read, pick, at: 0 });
    return iterator;
  }

  function define(object, key, value) {
    Object.defineProperty(object, key, { value, writable: true, enumerable: false, configurable: true });
  }

  function need(given, count) {
    if (given.length < count) throw new TypeError(`${count} argument(s) are needed, and ${given.length} were given`);
  }

  const wellFormed = (value) => String(value).toWellFormed();

  function fromPairs(init) {
    return Array.from(init, (pair) => {
      if (pair === null || typeof pair !== 'object' || typeof pair[Symbol.iterator] !== 'function') {
        throw new TypeError('every entry must be a pair of name and value');
      }
      const [...items] = pair;
      if (items.length !== 2) throw new TypeError('every entry must be a pair of name and value');
      return items.map(wellFormed);
    });
  }

  function fromRecord(init) {
    const pairs = new Map();
    for (const key of Reflect.ownKeys(init)) {
      if (!Object.getOwnPropertyDescriptor(init, key)?.enumerable) continue;
      if (typeof key === 'symbol') throw new TypeError('a symbol is no name');
      pairs.set(wellFormed(key), wellFormed(init[key]));
    }
    return [...pairs];
  }

  class URL {
    #parts;
    #params;

    constructor(url, base = undefined) {
      need(arguments, 1);
      this.#parts = host.parse(wellFormed(url), base === undefined ? undefined : wellFormed(base));
      if (this.#parts === undefined) throw new TypeError(`Invalid URL: ${url}`);
    }

    static canParse(url, base = undefined) {
      need(arguments, 1);
      return host.parse(wellFormed(url), base === undefined ? undefined : wellFormed(base)) !== undefined;
    }

    static parse(url, base = undefined) {
      need(arguments, 1);
      return URL.canParse(url, base) ? new URL(url, base) : null;
    }

    #set(name, value, tellsParams = true) {
      this.#parts = host.set(this.#parts[AT.href], name, wellFormed(value)) ?? this.#parts;
      if (tellsParams && this.#params) attach(this.#params, host.parseForm(this.search.slice(1)));
    }

    get href() { return this.#parts[AT.href]; }
    set href(value) {
      const parts = host.parse(wellFormed(value), undefined);
      if (parts === undefined) throw new TypeError(`Invalid URL: ${value}`);
      this.#parts = parts;
      if (this.#params) attach(this.#params, host.parseForm(this.search.slice(1)));
    }
    get origin() { return this.#parts[AT.origin]; }
    get protocol() { return this.#parts[AT.protocol]; }
    set protocol(value) { this.#set('protocol', value); }
    get username() { return this.#parts[AT.username]; }
    set username(value) { this.#set('username', value); }
    get password() { return this.#parts[AT.password]; }
    set password(value) { this.#set('password', value); }
    get host() { return this.#parts[AT.host]; }
    set host(value) { this.#set('host', value); }
    get hostname() { return this.#parts[AT.hostname]; }
    set hostname(value) { this.#set('hostname', value); }
    get port() { return this.#parts[AT.port]; }
    set port(value) { this.#set('port', value); }
    get pathname() { return this.#parts[AT.pathname]; }
    set pathname(value) { this.#set('pathname', value); }
    get search() { return this.#parts[AT.search]; }
    set search(value) { this.#set('search', value); }
    get hash() { return this.#parts[AT.hash]; }
    set hash(value) { this.#set('hash', value); }

    get searchParams() {
      if (!this.#params) {
        this.#params = new URLSearchParams();
        attach(this.#params, host.parseForm(this.search.slice(1)), (text) => this.#set('search', text, false));
      }
      return this.#params;
    }

    toString() { return this.href; }
    toJSON() { return this.href; }
    get [Symbol.toStringTag]() { return 'URL'; }
  }

  // Web standards make the members of their classes enumerable.
  for (const type of [URL, URLSearchParams]) {
    for (const key of Object.getOwnPropertyNames(type.prototype)) {
      if (key !== 'constructor') Object.defineProperty(type.prototype, key, { enumerable: true });
    }
  }

  return { URL, URLSearchParams };
})
