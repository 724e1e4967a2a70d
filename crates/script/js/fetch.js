// fetch, Headers, Request, Response and FormData, after the WHATWG Fetch standard as far as a program without pages has
// use for it: no CORS, no cache, no service workers. Requests go the way of http.asyncRequest() and count as its do.
(function (host) {
  'use strict';

  const events = () => host.part('globals/events');
  const blobs = () => host.part('globals/blob');
  const urls = () => host.part('globals/url');

  const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

  function nameOf(name) {
    const text = String(name);
    if (!TOKEN.test(text)) throw new TypeError(`"${text}" is no name of a header`);
    return text.toLowerCase();
  }

  function valueOf(value) {
    const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
    if (/[\0\r\n]/.test(text)) throw new TypeError('the value of a header must be one line');
    return text;
  }

  class Headers {
    #list = [];
    #immutable = false;

    static seal = (headers) => {
      headers.#immutable = true;
      return headers;
    };

    constructor(init) {
      if (init === undefined) return;
      if (init === null || typeof init !== 'object') throw new TypeError('headers are given as an object or as pairs');
      if (typeof init[Symbol.iterator] === 'function') {
        for (const pair of init) {
          const [...items] = pair;
          if (items.length !== 2) throw new TypeError('every header must be a pair of name and value');
          this.append(items[0], items[1]);
        }
        return;
      }
      for (const name of Reflect.ownKeys(init)) {
        if (Object.getOwnPropertyDescriptor(init, name)?.enumerable) this.append(name, init[name]);
      }
    }

    #guard() { if (this.#immutable) throw new TypeError('these headers cannot be changed'); }

    append(name, value) {
      const pair = [nameOf(name), valueOf(value)];
      this.#guard();
      this.#list.push(pair);
    }
    delete(name) {
      const key = nameOf(name);
      this.#guard();
      this.#list = this.#list.filter((pair) => pair[0] !== key);
    }
    get(name) {
      const key = nameOf(name);
      const values = this.#list.filter((pair) => pair[0] === key).map((pair) => pair[1]);
      return values.length === 0 ? null : values.join(', ');
    }
    getSetCookie() { return this.#list.filter((pair) => pair[0] === 'set-cookie').map((pair) => pair[1]); }
    has(name) {
      const key = nameOf(name);
      return this.#list.some((pair) => pair[0] === key);
    }
    set(name, value) {
      const pair = [nameOf(name), valueOf(value)];
      this.#guard();
      const first = this.#list.findIndex((known) => known[0] === pair[0]);
      if (first < 0) this.#list.push(pair);
      else this.#list = this.#list.filter((known, at) => known[0] !== pair[0] || at === first).map((known) => (known[0] === pair[0] ? pair : known));
    }
    forEach(callback, self) { for (const [name, value] of this) callback.call(self, value, name, this); }

    // In order of their names; cookies are never joined.
    *entries() {
      const names = [...new Set(this.#list.map((pair) => pair[0]))].sort();
      for (const name of names) {
        if (name === 'set-cookie') for (const value of this.getSetCookie()) yield [name, value];
        else yield [name, this.get(name)];
      }
    }
    *keys() { for (const [name] of this.entries()) yield name; }
    *values() { for (const [, value] of this.entries()) yield value; }
    [Symbol.iterator]() { return this.entries(); }
    get [Symbol.toStringTag]() { return 'Headers'; }
  }
  const { seal } = Headers;
  delete Headers.seal;

  class FormData {
    #entries = [];

    static #entry(name, value, filename) {
      const key = String(name).toWellFormed();
      const { Blob, File } = blobs();
      if (!(value instanceof Blob)) {
        if (filename !== undefined) throw new TypeError('only a Blob has a file name');
        return [key, String(value).toWellFormed()];
      }
      const isFile = value instanceof File && filename === undefined;
      return [key, isFile ? value : new File([value], filename === undefined ? value.name ?? 'blob' : String(filename), { type: value.type })];
    }

    constructor(form) {
      if (form !== undefined) throw new TypeError('there are no forms outside of a page');
    }
    append(name, value, filename) { this.#entries.push(FormData.#entry(name, value, filename)); }
    delete(name) { this.#entries = this.#entries.filter((entry) => entry[0] !== String(name)); }
    get(name) { return this.#entries.find((entry) => entry[0] === String(name))?.[1] ?? null; }
    getAll(name) { return this.#entries.filter((entry) => entry[0] === String(name)).map((entry) => entry[1]); }
    has(name) { return this.#entries.some((entry) => entry[0] === String(name)); }
    set(name, value, filename) {
      const entry = FormData.#entry(name, value, filename);
      const first = this.#entries.findIndex((known) => known[0] === entry[0]);
      if (first < 0) this.#entries.push(entry);
      else this.#entries = this.#entries.filter((known, at) => known[0] !== entry[0] || at === first).map((known) => (known[0] === entry[0] ? entry : known));
    }
    forEach(callback, self) { for (const [name, value] of this.#entries) callback.call(self, value, name, this); }
    *entries() { for (const [name, value] of this.#entries) yield [name, value]; }
    *keys() { for (const [name] of this.#entries) yield name; }
    *values() { for (const [, value] of this.#entries) yield value; }
    [Symbol.iterator]() { return this.entries(); }
    get [Symbol.toStringTag]() { return 'FormData'; }
  }

  const escape = (name) => name.replace(/\n/g, '%0A').replace(/\r/g, '%0D').replace(/"/g, '%22');

  // https://html.spec.whatwg.org/#multipart-form-data
  function multipart(form) {
    const boundary = `----formdata-${host.boundary()}`;
    const parts = [];
    for (const [name, value] of form) {
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escape(name)}"`;
      if (typeof value === 'string') parts.push(`${head}\r\n\r\n${value.replace(/\r\n|\r|\n/g, '\r\n')}\r\n`);
      else parts.push(`${head}; filename="${escape(value.name)}"\r\nContent-Type: ${value.type || 'application/octet-stream'}\r\n\r\n`, value, '\r\n');
    }
    parts.push(`--${boundary}--\r\n`);
    return [blobs().bytesOf(new (blobs().Blob)(parts)), `multipart/form-data; boundary=${boundary}`];
  }

  // The bytes of what may be a body, and the type that goes with them; `undefined` for anything else.
  function plainBody(value) {
    if (value instanceof FormData) return multipart(value);
    if (value instanceof urls().URLSearchParams) {
      return [host.encode(String(value)), 'application/x-www-form-urlencoded;charset=UTF-8'];
    }
    const bytes = blobs().bytesOf(value);
    if (bytes !== undefined) return [bytes, value.type || null];
    return undefined;
  }

  function extract(value) {
    if (value === null || value === undefined) return { bytes: null, type: null };
    if (typeof value === 'object') {
      const plain = plainBody(value);
      if (plain) return { bytes: plain[0], type: plain[1] };
      if (value instanceof ArrayBuffer) return { bytes: new Uint8Array(value.slice(0)), type: null };
      if (ArrayBuffer.isView(value)) {
        return { bytes: new Uint8Array(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength)), type: null };
      }
      const { ReadableStream } = host.part('globals/streams');
      if (value instanceof ReadableStream) {
        if (value.locked) throw new TypeError('the stream of a body is locked');
        return { stream: value, type: null };
      }
    }
    return { bytes: host.encode(String(value)), type: 'text/plain;charset=UTF-8' };
  }

  async function drain(stream) {
    const chunks = [];
    for await (const chunk of stream) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('the chunks of a body must be Uint8Arrays');
      chunks.push(chunk);
    }
    return blobs().bytesOf(new (blobs().Blob)(chunks));
  }

  // What Request and Response have in common.
  class Body {
    #body;
    #used = false;
    #stream = null;

    constructor(body) { this.#body = body; }

    static #take = async (self) => {
      if (self.bodyUsed || self.#stream?.locked) throw new TypeError('the body was read already');
      const { bytes, stream } = self.#body;
      if (bytes === null) return new Uint8Array(0);
      self.#used = true;
      if (self.#stream) return drain(self.#stream);
      return bytes ?? drain(stream);
    };
    static copy = (self) => {
      if (self.bodyUsed || self.#stream?.locked) throw new TypeError('the body was read already');
      if (self.#body.stream) {
        const [mine, other] = self.#body.stream.tee();
        self.#body = { ...self.#body, stream: mine };
        return { ...self.#body, stream: other };
      }
      return self.#body;
    };
    static take = (self) => Body.#take(self);

    get body() {
      if (this.#body.bytes === null) return null;
      this.#stream ??= this.#body.stream ?? new (blobs().Blob)([this.#body.bytes]).stream();
      return this.#stream;
    }
    get bodyUsed() { return this.#used; }
    async arrayBuffer() { return (await Body.#take(this)).slice().buffer; }
    async bytes() { return (await Body.#take(this)).slice(); }
    async blob() { return blobs().fromBytes((await Body.#take(this)).slice(), this.headers.get('content-type') ?? ''); }
    async text() { return host.decode(await Body.#take(this)); }
    async json() { return JSON.parse(host.decode(await Body.#take(this))); }
    async formData() {
      const type = this.headers.get('content-type') ?? '';
      const bytes = await Body.#take(this);
      if (/^application\/x-www-form-urlencoded/i.test(type)) {
        const form = new FormData();
        for (const [name, value] of new (urls().URLSearchParams)(host.decode(bytes))) form.append(name, value);
        return form;
      }
      const boundary = /^multipart\/form-data\s*;.*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type);
      if (!boundary) throw new TypeError('the body is no form');
      return parseMultipart(bytes, boundary[1] ?? boundary[2]);
    }
  }
  const { copy, take } = Body;
  delete Body.copy;
  delete Body.take;

  // One character per byte, so that text can be searched and cut where bytes are.
  const latin1 = (bytes) => {
    let text = '';
    for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
    return text;
  };
  const fromLatin1 = (text) => Uint8Array.from(text, (char) => char.charCodeAt(0));

  function parseMultipart(bytes, boundary) {
    const form = new FormData();
    const sections = `\r\n${latin1(bytes)}`.split(`\r\n--${boundary}`);
    if (sections.length < 2) throw new TypeError('the body is no multipart form');
    for (const section of sections.slice(1, -1)) {
      const split = section.indexOf('\r\n\r\n');
      const head = section.slice(0, split);
      const name = /name="([^"]*)"/i.exec(head);
      if (split < 0 || !name) throw new TypeError('a part of the form has no name');
      const unescape = (text) => host.decode(fromLatin1(text)).replace(/%22/g, '"').replace(/%0D/g, '\r').replace(/%0A/g, '\n');
      const content = fromLatin1(section.slice(split + 4));
      const filename = /filename="([^"]*)"/i.exec(head);
      const type = /content-type:\s*([^\r\n]+)/i.exec(head)?.[1];
      if (filename) form.append(unescape(name[1]), new (blobs().File)([content], unescape(filename[1]), { type: type ?? 'text/plain' }));
      else form.append(unescape(name[1]), host.decode(content));
    }
    return form;
  }

  const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'];
  function methodOf(method) {
    const text = String(method);
    if (!TOKEN.test(text)) throw new TypeError(`'${text}' is no HTTP method`);
    const upper = text.toUpperCase();
    if (['CONNECT', 'TRACE', 'TRACK'].includes(upper)) throw new TypeError(`the method '${text}' must not be fetched`);
    return METHODS.includes(upper) ? upper : text;
  }

  function choice(value, options, what) {
    if (value !== undefined && !options.includes(value)) throw new TypeError(`'${value}' is no ${what}`);
    return value;
  }

  class Request extends Body {
    #own;

    constructor(input, init = {}) {
      const from = input instanceof Request ? input : undefined;
      const given = init ?? {};
      const url = from ? from.url : new (urls().URL)(String(input));
      if (!from && (url.username || url.password)) throw new TypeError('a URL to fetch must not have a user or a password');
      const method = given.method === undefined ? from?.method ?? 'GET' : methodOf(given.method);
      const hasBody = given.body !== undefined && given.body !== null;
      if (hasBody && (method === 'GET' || method === 'HEAD')) throw new TypeError(`a request with the method ${method} cannot have a body`);
      const body = hasBody ? extract(given.body) : from ? copy(from) : { bytes: null, type: null };
      super(body);
      const headers = new Headers(given.headers ?? from?.headers);
      if (hasBody && body.type && !headers.has('content-type')) headers.set('content-type', body.type);
      const { AbortSignal } = events();
      const signal = given.signal === undefined ? from?.signal : given.signal;
      if (signal !== undefined && signal !== null && !(signal instanceof AbortSignal)) throw new TypeError('signal is no AbortSignal');
      this.#own = {
        url: String(url),
        method,
        headers,
        signal: signal ?? undefined,
        redirect: choice(given.redirect, ['follow', 'error', 'manual'], 'way to treat redirects') ?? from?.redirect ?? 'follow',
        credentials: choice(given.credentials, ['omit', 'same-origin', 'include'], 'kind of credentials') ?? from?.credentials ?? 'same-origin',
        cache: given.cache ?? from?.cache ?? 'default',
        mode: given.mode ?? from?.mode ?? 'cors',
        referrer: given.referrer ?? from?.referrer ?? 'about:client',
        params: given.params ?? from?.params,
      };
    }
    get url() { return this.#own.url; }
    get method() { return this.#own.method; }
    get headers() { return this.#own.headers; }
    get signal() { return (this.#own.signal ??= new (events().AbortController)().signal); }
    get redirect() { return this.#own.redirect; }
    get credentials() { return this.#own.credentials; }
    get cache() { return this.#own.cache; }
    get mode() { return this.#own.mode; }
    get referrer() { return this.#own.referrer; }
    get params() { return this.#own.params; }
    clone() { return new Request(this); }
    get [Symbol.toStringTag]() { return 'Request'; }
  }

  const NULL_BODY = [101, 103, 204, 205, 304];

  class Response extends Body {
    #own;

    static make = (body, own) => {
      const response = new Response(body);
      response.#own = own;
      return response;
    };

    constructor(body = null, init = {}) {
      const extracted = extract(body);
      super(extracted);
      const given = init ?? {};
      const status = given.status === undefined ? 200 : Math.trunc(Number(given.status));
      if (!(status >= 200 && status <= 599)) throw new RangeError('the status of a response is from 200 to 599');
      const statusText = given.statusText === undefined ? '' : String(given.statusText);
      if (/[^\t\x20-\x7e\x80-\xff]/.test(statusText)) throw new TypeError('the status text must be one line');
      if (extracted.bytes !== null && NULL_BODY.includes(status)) throw new TypeError(`a response with the status ${status} has no body`);
      const headers = new Headers(given.headers);
      if (extracted.type && !headers.has('content-type')) headers.set('content-type', extracted.type);
      this.#own = { status, statusText, headers, url: '', redirected: false, type: 'default' };
    }
    static error() {
      return make(null, { status: 0, statusText: '', headers: seal(new Headers()), url: '', redirected: false, type: 'error' });
    }
    static redirect(url, status = 302) {
      if (![301, 302, 303, 307, 308].includes(status)) throw new RangeError(`${status} is no status of a redirect`);
      return new Response(null, { status, headers: { location: String(new (urls().URL)(String(url))) } });
    }
    static json(data, init = {}) {
      const text = JSON.stringify(data);
      if (text === undefined) throw new TypeError('the value has no JSON');
      const headers = new Headers(init?.headers);
      if (!headers.has('content-type')) headers.set('content-type', 'application/json');
      return new Response(host.encode(text), { ...init, headers });
    }
    get status() { return this.#own.status; }
    get ok() { return this.#own.status >= 200 && this.#own.status <= 299; }
    get statusText() { return this.#own.statusText; }
    get headers() { return this.#own.headers; }
    get url() { return this.#own.url; }
    get redirected() { return this.#own.redirected; }
    get type() { return this.#own.type; }
    clone() {
      const { stream, bytes } = copy(this);
      return make(stream ?? bytes, { ...this.#own, headers: new Headers(this.#own.headers) });
    }
    get [Symbol.toStringTag]() { return 'Response'; }
  }
  const { make } = Response;
  delete Response.make;

  async function fetch(input, init) {
    const request = new Request(input, init);
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    signal?.throwIfAborted();
    const hasBody = request.body !== null;
    const body = hasBody ? await take(request) : undefined;
    signal?.throwIfAborted();
    const pairs = [...request.headers].flat();
    const options = { method: request.method, redirect: request.redirect, omitsCookies: request.credentials === 'omit' };
    const [sent, abort] = host.send(options.method, request.url, body, request.params, pairs, options);
    let unwatch;
    const aborted = new Promise((_, reject) => {
      if (signal) {
        unwatch = events().onAbort(signal, () => {
          abort();
          reject(signal.reason);
        });
      }
    });
    let answer;
    try {
      answer = await (signal ? Promise.race([sent, aborted]) : sent);
    } finally {
      unwatch?.();
    }
    if (answer.problem !== undefined) throw new TypeError('fetch failed', { cause: new Error(answer.problem) });
    const isRedirect = [301, 302, 303, 307, 308].includes(answer.status);
    if (isRedirect && request.redirect === 'error') throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') });
    const headers = new Headers();
    for (let at = 0; at < answer.headers.length; at += 2) headers.append(answer.headers[at], answer.headers[at + 1]);
    const isEmpty = NULL_BODY.includes(answer.status) || request.method === 'HEAD';
    return make(isEmpty ? null : answer.body, {
      status: answer.status, statusText: answer.statusText, headers: seal(headers), url: answer.url, redirected: answer.redirected, type: 'basic',
    });
  }

  return { fetch, Headers, Request, Response, FormData, plainBody };
})
