// What carries a group across `await` and `then()`: the reaction to a promise runs in the group in which it was
// registered, as `async-metric-context` of k6 v2.3 has it.
//
// `await` takes a promise as it is when its `constructor` is the engine's own. Seen through the proxy it is not, so `await`
// asks for `then` like any other code, and gets one that knows the group.
(host) => {
  const prototype = Promise.prototype;
  const then = prototype.then;
  const define = (object, name, descriptor) => Object.defineProperty(object, name, { configurable: true, ...descriptor });

  // Derived promises are the engine's own: `Symbol.species` of the proxy would be the proxy.
  const constructor = new Proxy(Promise, { get: (target, name) => target[name] });
  define(prototype, 'constructor', { value: constructor, writable: true });

  define(prototype, 'then', {
    get() {
      const group = host.group();
      const carry = (callback) => {
        if (typeof callback !== 'function') return callback;
        return (value) => {
          host.enter(group);
          return callback(value);
        };
      };
      return function (fulfilled, rejected) {
        return then.call(this, carry(fulfilled), carry(rejected));
      };
    },
    set(value) {
      define(this, 'then', { value, writable: true, enumerable: this !== prototype });
    },
  });

  // Calls back when a promise is settled, before the reactions of the returned promise.
  return (promise, settled) =>
    then.call(
      promise,
      (value) => {
        settled();
        return value;
      },
      (error) => {
        settled();
        throw error;
      },
    );
};
