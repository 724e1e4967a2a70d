// k6/x/faker: a source of made-up data whose functions lie in categories.
(function (host) {
  'use strict';

  const categories = Object.entries(host.categories());
  categories.push(['zen', categories.flatMap(([, names]) => names).sort()]);
  const source = Symbol('source');

  // One prototype per category: its functions are made where they are asked for, so that they work without their object.
  const fields = {};
  for (const [category, names] of categories) {
    const prototype = {};
    for (const name of names) {
      Object.defineProperty(prototype, name, {
        get() {
          const of = this[source];
          return (...args) => host.call(of, name, args);
        },
        enumerable: true,
      });
    }
    fields[category] = {
      get() {
        return Object.create(prototype, { [source]: { value: this[source] } });
      },
      enumerable: true,
    };
  }

  function Faker(seed) {
    const faker = Object.create(Faker.prototype, fields);
    Object.defineProperty(faker, source, { value: host.create(seed) });
    return faker;
  }
  Object.defineProperty(Faker.prototype, 'call', {
    value(name, ...args) {
      return host.call(this[source], String(name), args);
    },
    writable: true,
    configurable: true,
  });

  return Object.defineProperties({ Faker }, { __esModule: { value: true }, default: { value: new Faker(host.seed()) } });
})
