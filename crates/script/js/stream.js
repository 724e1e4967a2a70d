// plimsoll/stream: responses that are read while they come, and answers of language models.
(function (host) {
  'use strict';

  // One stream: pulls items until there are none, then knows how it ended.
  function start(method, url, body, params, kind) {
    const { id, isOpen, ...head } = host.open(method, url, body, params, kind ?? '');
    const core = {
      head,
      isOpen: Boolean(isOpen),
      facts: undefined,
      pull: () => (core.isOpen ? host.next(id) : undefined),
      stop: () => core.isOpen && host.close(id),
      tokens: (at, count) => host.tokens(id, at, count),
      answer: (isComplete, tokens) => host.answer(id, isComplete, tokens),
      end() {
        if (core.facts !== undefined) return;
        core.isOpen = false;
        core.facts = host.facts(id);
        if (core.facts.throws) host.fail(core.facts.throws);
      },
    };
    return core;
  }

  class Stream {
    #core;

    constructor(core) {
      this.#core = core;
      if (!core.isOpen) core.end();
    }

    // The next item; `undefined` where nothing follows.
    next() {
      const item = this.#core.pull();
      if (item === undefined) this.#core.end();
      return item;
    }

    close() {
      this.#core.stop();
      this.#core.end();
    }

    // A loop that ends early closes the stream.
    *[Symbol.iterator]() {
      try {
        for (let item = this.next(); item !== undefined; item = this.next()) yield item;
      } finally {
        this.close();
      }
    }

    // Reads to the end and keeps nothing.
    drain() {
      while (this.next() !== undefined);
      return this;
    }

    get status() { return this.#core.head.status ?? this.#core.facts?.status ?? 0; }
    get proto() { return this.#core.head.proto ?? this.#core.facts?.proto ?? ''; }
    get headers() { return this.#core.head.headers ?? this.#core.facts?.headers ?? {}; }
    get ended() { return this.#core.facts !== undefined; }
    get url() { return this.#core.facts?.url; }
    get error() { return this.#core.facts?.error ?? ''; }
    get error_code() { return this.#core.facts?.errorCode ?? 0; }
    // Of a refused request; that of a stream is its items.
    get body() { return this.#core.facts?.body ?? null; }
    get complete() { return this.ended && this.error === '' && this.status >= 200 && this.status < 300; }
    get events() { return this.#core.facts?.events; }
    get timings() {
      const { firstEvent, lastEvent, duration } = this.#core.facts ?? {};
      return { firstEvent, lastEvent, duration };
    }
    get [Symbol.toStringTag]() { return 'Stream'; }
  }

  function request(method, url, body, params) {
    return new Stream(start(String(method), url, body, params));
  }

  const isObject = (value) => typeof value === 'object' && value !== null;

  // What one event of a usual API says: a piece of the answer, its end, the server's own count of tokens, or an error.
  function read(event) {
    if (event.data === '[DONE]') return { isEnd: true };
    let message;
    try {
      message = JSON.parse(event.data);
    } catch {
      return {};
    }
    if (!isObject(message)) return {};
    const { type, choices, candidates } = message;
    const error = message.error ? String(message.error.message ?? message.error) : undefined;
    if (Array.isArray(choices)) {
      // OpenAI's chat completions and completions, and the many servers that speak like it.
      const { delta, text, finish_reason } = choices[0] ?? {};
      const call = delta?.tool_calls?.[0]?.function?.arguments;
      return {
        text: delta?.content ?? text ?? '',
        isPiece: Boolean(delta?.content || text || call || delta?.reasoning_content || delta?.reasoning),
        isEnd: Boolean(finish_reason),
        total: message.usage?.completion_tokens,
        error,
      };
    }
    if (typeof type === 'string') {
      // Anthropic's messages and OpenAI's responses.
      const { delta } = message;
      const text = typeof delta === 'string' ? delta : delta?.text;
      const isDelta = type.endsWith('_delta') || type.endsWith('.delta');
      const isPiece = isDelta && Boolean(text || delta?.thinking || delta?.partial_json);
      return {
        text: isDelta && (type === 'content_block_delta' || type.includes('output_text')) ? text ?? '' : '',
        isPiece,
        isEnd: type === 'message_stop' || type === 'response.completed',
        total: message.usage?.output_tokens ?? message.response?.usage?.output_tokens,
        error: error ?? (type === 'error' ? String(message.message ?? 'error') : undefined),
      };
    }
    if (Array.isArray(candidates)) {
      // Gemini.
      const parts = candidates[0]?.content?.parts ?? [];
      const text = parts.map((part) => part.text ?? '').join('');
      const isEnd = Boolean(candidates[0]?.finishReason);
      return { text, isPiece: text !== '', isEnd, total: message.usageMetadata?.candidatesTokenCount, error };
    }
    // Ollama's lines.
    const text = message.message?.content ?? message.response ?? '';
    return { text, isPiece: text !== '', isEnd: message.done === true, total: message.eval_count, error };
  }

  // The text of an answer that is kept, in characters.
  const TEXT_CHARS_MAX = 16 << 20;

  function chat(url, body, params) {
    if (!isObject(body)) host.fail('chat() takes a URL and the request as an object: chat(url, { model, messages })');
    const given = params ?? {};
    if (given.read !== undefined && typeof given.read !== 'function') host.fail('the parameter "read" of chat() must be a function');
    const readEvent = given.read ?? read;
    const headers = { 'Content-Type': 'application/json', Accept: 'text/event-stream', ...given.headers };
    const model = typeof body.model === 'string' ? { model: body.model } : {};
    const tags = { ...model, ...given.tags };
    const text = JSON.stringify({ stream: true, ...body });
    const core = start('POST', url, text, { ...given, headers, tags }, 'chat');

    const parts = [];
    let chars = 0;
    let isComplete = false;
    let total;
    let problem;
    try {
      for (let event = core.pull(); event !== undefined; event = core.pull()) {
        const said = readEvent(event) ?? {};
        if (said.text && chars < TEXT_CHARS_MAX) {
          parts.push(said.text);
          chars += said.text.length;
        }
        if (said.isPiece ?? Boolean(said.text)) core.tokens(event.at, said.tokens ?? 1);
        total = said.total ?? total;
        isComplete ||= Boolean(said.isEnd);
        problem ??= said.error;
      }
    } catch (error) {
      core.stop();
      core.answer(false);
      core.end();
      throw error;
    }
    const measured = core.answer(isComplete && problem === undefined, total);
    core.end();
    const { facts, head } = core;
    const status = head.status ?? facts.status ?? 0;
    const missing = status >= 200 && status < 300 && !isComplete ? 'the answer has no end: the stream ended before it' : '';
    const error = facts.error || problem || missing;
    return {
      status,
      headers: head.headers ?? facts.headers ?? {},
      error,
      error_code: facts.errorCode ?? 0,
      body: facts.body ?? null,
      complete: isComplete && error === '',
      text: parts.join(''),
      tokens: measured.tokens ?? 0,
      firstToken: measured.firstToken,
      tokensPerSecond: measured.tokensPerSecond,
      duration: facts.duration,
    };
  }

  return {
    request,
    get: (url, params) => request('GET', url, undefined, params),
    post: (url, body, params) => request('POST', url, body, params),
    chat,
  };
})
