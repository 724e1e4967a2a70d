// k6/x/sse: a stream of server-sent events with handlers, driven by a loop inside of open().
(function (host) {
  'use strict';

  // The extension's streams have no limit of their own; the iteration's ends them.
  const FOREVER_MS = 1e12;

  function open(url, ...rest) {
    if (rest.length === 0) host.fail('sse.open() takes a URL, parameters and a function: sse.open(url, params, (client) => {})');
    const [params, setup] = rest.length === 1 ? [undefined, rest[0]] : rest;
    if (typeof setup !== 'function') host.fail('the last argument of sse.open() must be a function');
    const given = params ?? {};
    const timeout = given.timeout ?? FOREVER_MS;
    const opened = host.open(given.method ?? 'GET', url, given.body, { ...given, timeout }, 'sse');
    const { id, isOpen } = opened;

    const handlers = new Map();
    let over = false;
    const emit = (name, ...values) => {
      for (const handler of handlers.get(name) ?? []) handler(...values);
    };
    const client = {
      on(name, handler) {
        if (typeof handler !== 'function') host.fail(`the handler of "${name}" must be a function`);
        if (!handlers.has(name)) handlers.set(name, []);
        handlers.get(name).push(handler);
      },
      close() {
        over = true;
      },
    };
    const fail = (text) => emit('error', { error: () => text, toString: () => text });

    let facts;
    try {
      setup(client);
      if (isOpen && !over) emit('open');
      while (isOpen && !over) {
        const event = host.next(id);
        if (event === undefined) break;
        host.handedOver(id);
        emit('event', event);
      }
      if (over) host.close(id);
      facts = host.facts(id);
      if (facts.error) fail(facts.error);
      else if (!isOpen) fail(`unexpected status ${facts.status}`);
    } catch (error) {
      if (facts === undefined) {
        host.close(id);
        host.facts(id);
      }
      throw error;
    }
    if (facts.throws) host.fail(facts.throws);
    return {
      url: String(facts.url ?? url),
      status: opened.status ?? facts.status ?? 0,
      headers: opened.headers ?? facts.headers ?? {},
      body: facts.body ?? '',
      error: facts.error ?? '',
    };
  }

  return { open };
})
