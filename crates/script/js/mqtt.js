// k6/x/mqtt: clients with handlers of events, after MQTT.js.
(function (host) {
  'use strict';

  const EVENTS = ['connect', 'message', 'end', 'reconnect', 'error'];
  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

  function failure(text, method) {
    const error = new Error(text);
    error.name = 'MQTTError';
    error.method = method;
    return Object.defineProperty(error, 'toString', { value: () => `MQTT error during ${method}: ${text}` });
  }

  function topicsOf(topics) {
    const list = Array.isArray(topics) ? topics : [topics];
    for (const topic of list) {
      if (typeof topic !== 'string') host.fail('invalid type: a topic is a string, or an array of strings');
    }
    return list;
  }

  class Client {
    #id;
    #options;
    #target;
    #handlers = {};

    constructor(options = {}) {
      this.#options = options ?? {};
    }

    get connected() {
      return this.#id !== undefined && host.isConnected(this.#id);
    }

    on(event, handler) {
      if (!EVENTS.includes(event)) return host.warn(`unknown event ${event}: use ${EVENTS.join(', ')}`);
      if (typeof handler !== 'function') host.fail(`the handler of "${event}" must be a function`);
      (this.#handlers[event] ??= []).push(handler);
    }

    connect(url, options) {
      host.mayConnect();
      if (typeof url !== 'string' && (!isObject(url) || Array.isArray(url))) {
        host.fail('invalid type: expected string or object with servers');
      }
      const given = (isObject(url) ? url : options) ?? {};
      const urls = isObject(url) ? (given.servers ?? []) : [url, ...(given.servers ?? [])];
      if (urls.length === 0) host.fail('connect() needs the URL of a broker, for example mqtt://localhost:1883');
      if (this.connected) host.fail('the client is connected; call end() before connecting again');
      this.#target = { urls: urls.map(String), given };
      this.#open('connect');
    }

    reconnect() {
      if (this.#target === undefined) host.fail('reconnect() needs a connect() before it');
      if (this.connected) host.end(this.#id, this.#tags());
      this.#later('reconnect');
      this.#open('reconnect');
    }

    end(options) {
      if (this.#id === undefined) host.fail('the client is not connected');
      host.end(this.#id, this.#tags(options));
    }

    publish(topic, payload, options) {
      this.#act('publish', topic, options, () => {
        const [bytes, qos, retain] = this.#message(payload, options);
        return host.publish(this.#id, String(topic), bytes, qos, retain, this.#tags(options), this.#tags());
      });
    }

    subscribe(topics, options) {
      this.#act('subscribe', topics, options, () =>
        host.subscribe(this.#id, topicsOf(topics), Number(options?.qos ?? 0), this.#tags(options)),
      );
    }

    unsubscribe(topics, options) {
      this.#act('unsubscribe', topics, options, () =>
        host.unsubscribe(this.#id, topicsOf(topics), this.#tags(options)),
      );
    }

    async connectAsync(url, options) {
      this.connect(url, options);
    }

    async reconnectAsync() {
      this.reconnect();
    }

    async endAsync(options) {
      this.end(options);
    }

    publishAsync(topic, payload, options) {
      return this.#start('publish', () => {
        const [bytes, qos, retain] = this.#message(payload, options);
        return host.publishAsync(this.#id, String(topic), bytes, qos, retain, this.#tags(options), this.#tags());
      });
    }

    subscribeAsync(topics, options) {
      return this.#start('subscribe', () =>
        host.subscribeAsync(this.#id, topicsOf(topics), Number(options?.qos ?? 0), this.#tags(options)),
      );
    }

    unsubscribeAsync(topics, options) {
      return this.#start('unsubscribe', () =>
        host.unsubscribeAsync(this.#id, topicsOf(topics), this.#tags(options)),
      );
    }

    #message(payload, options) {
      if (typeof payload !== 'string' && !(payload instanceof ArrayBuffer) && !ArrayBuffer.isView(payload)) {
        host.fail('invalid type: a payload is a string or an ArrayBuffer');
      }
      return [payload, Number(options?.qos ?? 0), Boolean(options?.retain)];
    }

    #tags(options) {
      const { client_id: client } = this.#options;
      const own = client === undefined ? {} : { client_id: client };
      return { ...own, ...this.#options.tags, ...this.#target?.given.tags, ...options?.tags };
    }

    #open(method) {
      const { client_id, username, password, credentials_provider: provider, will } = this.#options;
      const login = typeof provider === 'function' ? provider() : { username, password };
      const { urls, given } = this.#target;
      const settings = {
        client_id,
        username: login?.username,
        password: login?.password,
        will,
        keepalive: given.keepalive,
        connect_timeout: given.connect_timeout,
        clean_session: given.clean_session,
      };
      const opened = host.connect(urls, settings, this.#tags(), method, (...event) => this.#take(...event));
      if (typeof opened === 'string') return this.#later('error', failure(opened, method));
      this.#id = opened;
    }

    // Runs a call that waits; its failure is an event, as in k6.
    #act(method, topic, options, call) {
      if (this.#id === undefined) host.fail(`${method}() needs a connection: the client is not connected`);
      const text = call();
      if (text !== undefined) this.#later('error', failure(text, method));
    }

    #start(method, call) {
      if (this.#id === undefined) {
        return Promise.reject(failure('the client is not connected', method));
      }
      return call().catch((error) => {
        throw failure(error.message, method);
      });
    }

    // Handlers run on the event loop, and never inside of the call that is their cause.
    #later(event, ...values) {
      if (event === 'error' && this.#handlers.error === undefined) host.warn(String(values[0]));
      host.later(() => this.#emit(event, ...values));
    }

    #take(event, first, second) {
      if (event === 'error') {
        if (this.#handlers.error === undefined) host.warn(String(failure(first, 'connection')));
        return this.#emit('error', failure(first, 'connection'));
      }
      if (event === 'message') host.received(this.#id, first, this.#tags());
      this.#emit(event, ...[first, second].filter((value) => value !== undefined));
    }

    #emit(event, ...values) {
      for (const handler of this.#handlers[event] ?? []) handler(...values);
    }
  }

  const QoS = Object.freeze({ AtMostOnce: 0, AtLeastOnce: 1, ExactlyOnce: 2 });
  return { Client, QoS };
})
