// plimsoll/shared: counters, queues and maps of all VUs. Values travel as JSON.
(function (host) {
  'use strict';

  function nameOf(kind, name) {
    if (typeof name !== 'string' || name === '') throw new TypeError(`${kind}() takes a name: ${kind}("orders")`);
    return name;
  }

  function write(value) {
    const json = JSON.stringify(value);
    if (json === undefined) throw new TypeError(`${typeof value} cannot be shared: use what JSON can hold`);
    return json;
  }

  const read = (json) => (json === undefined ? undefined : JSON.parse(json));

  function counter(name) {
    const id = host.declare('counter', nameOf('counter', name));
    return Object.freeze({
      add: (by = 1) => host.add(id, by),
      get: () => host.size(id),
      set: (value) => host.exchange(id, value),
      compareAndSet: (expected, value) => host.exchange(id, value, expected) === expected,
      clear: () => host.clear(id),
    });
  }

  function queue(name, options) {
    const id = host.declare('queue', nameOf('queue', name), options?.max);
    return Object.freeze({
      push: (value) => host.push(id, write(value)),
      pop: (wait) => read(host.pop(id, typeof wait === 'object' && wait !== null ? wait.timeout : wait)),
      get size() { return host.size(id); },
      clear: () => host.clear(id),
    });
  }

  function map(name, options) {
    const id = host.declare('map', nameOf('map', name), options?.max);
    return Object.freeze({
      get: (key) => read(host.mapGet(id, String(key))),
      has: (key) => host.mapGet(id, String(key)) !== undefined,
      // All of these return the value before.
      set: (key, value) => read(host.mapSet(id, String(key), write(value), false)),
      setIfAbsent: (key, value) => read(host.mapSet(id, String(key), write(value), true)),
      take: (key) => read(host.mapSet(id, String(key))),
      delete: (key) => host.mapSet(id, String(key)) !== undefined,
      keys: () => host.mapKeys(id),
      get size() { return host.size(id); },
      clear: () => host.clear(id),
    });
  }

  return { counter, queue, map };
})
