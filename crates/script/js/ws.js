// k6/ws: a socket with handlers, driven by a loop inside connect().
(function (host) {
  'use strict';

  function delayOf(name, ms) {
    const delay = Number(ms);
    if (!(delay > 0)) host.fail(`${name} requires a >0 timeout parameter, received ${delay.toFixed(2)}`);
    return delay;
  }

  function connect(url, ...rest) {
    if (rest.length === 0) host.fail('invalid number of arguments to ws.connect');
    const [params, callback] = rest.length === 1 ? [undefined, rest[0]] : rest;
    if (typeof callback !== 'function') host.fail('last argument to ws.connect must be a function');
    const { id, ...response } = host.open(url, params);
    if (id === undefined) return response;

    const handlers = new Map();
    let timers = [];
    let over = false;

    function emit(name, ...values) {
      for (const handler of handlers.get(name) ?? []) {
        // k6 passes over what is no function.
        if (typeof handler === 'function') handler(...values);
      }
    }

    function close(code = 1001) {
      if (over) return;
      over = true;
      host.close(id, code);
      emit('close', code);
    }

    function start(name, callback, ms, repeats) {
      const delay = delayOf(name, ms);
      timers.push({ at: host.now() + delay, callback, every: repeats ? delay : undefined });
    }

    const socket = {
      close: (code) => close(code === undefined ? 1001 : Number(code)),
      on(name, handler) {
        if (!handlers.has(name)) handlers.set(name, []);
        handlers.get(name).push(handler);
      },
      ping: () => host.ping(id),
      send: (text) => host.send(id, String(text)),
      sendBinary: (bytes) => {
        if (typeof bytes === 'string') host.fail('sendBinary expects an ArrayBuffer; send() is for texts');
        host.send(id, bytes);
      },
      setInterval: (callback, ms) => start('setInterval', callback, ms, true),
      setTimeout: (callback, ms) => start('setTimeout', callback, ms, false),
    };

    // As Go's ticker: the beat is kept whatever a callback takes, and of ticks that were missed one is made up for.
    function runTimers() {
      const now = host.now();
      for (const timer of timers.filter((timer) => timer.at <= now).sort((a, b) => a.at - b.at)) {
        if (over) return;
        if (timer.every === undefined) timers = timers.filter((other) => other !== timer);
        else timer.at += timer.every * Math.max(1, Math.floor((now - timer.at) / timer.every));
        timer.callback();
      }
    }

    function take([name, value, error]) {
      if (name !== 'close') return value === undefined ? emit(name) : emit(name, value);
      if (error) emit('error', { error: () => error });
      close(value ?? 1001);
    }

    try {
      callback(socket);
      if (!over) emit('open');
      while (!over) {
        const next = timers.reduce((first, timer) => Math.min(first, timer.at), Infinity);
        const event = host.next(id, next - host.now());
        if (event) take(event);
        if (!over) runTimers();
      }
    } catch (error) {
      close(1001);
      throw error;
    }
    return response;
  }

  return { connect };
})
