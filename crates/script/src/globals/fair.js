// Built-ins that the engine runs in one piece: short inputs go to the engine's own, long ones to steps that it can interrupt
// (`fair_steps.js`), which are loaded for the first long input. Nothing here or there calls what a script can replace.
(function (host) {
  'use strict';
  // Elements up to which the engine's own sorts take less than a slice.
  const ELEMENTS = 4096;
  // UTF-16 units up to which the same holds for texts, and of one step.
  const UNITS = 65536;
  // `uncurry(f)(self, …)` is `f.call(self, …)`, whatever a script makes of `call`.
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const { isArray } = Array;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Object;
  const [arrays, texts, typed] = [Array.prototype, String.prototype, getPrototypeOf(Uint8Array.prototype)];
  const [sort, toSorted] = [uncurry(arrays.sort), uncurry(arrays.toSorted)];
  const [normalize, split] = [uncurry(texts.normalize), uncurry(texts.split)];
  const [sortTyped, toSortedTyped] = [uncurry(typed.sort), uncurry(typed.toSorted)];
  const lengthOfTyped = uncurry(getOwnPropertyDescriptor(typed, 'length').get);

  const own = {
    UNITS, uncurry, setPrototypeOf, arrays, sort, normalize, object: Object, string: String, RangeFault: RangeError,
    charCodeAt: texts.charCodeAt, indexOf: texts.indexOf, slice: texts.slice,
  };
  let steps;
  const long = () => (steps ??= host.load()(own));

  // Whether the engine's own has to do it: an error, or short. A proxy of an array is asked twice for its length.
  const isForEngine = (target, compare) =>
    target === undefined || target === null || (compare !== undefined && typeof compare !== 'function') ||
    (isArray(target) && target.length <= ELEMENTS);
  // Long typed arrays without a comparison get one, since bytecode can be interrupted.
  const orderOf = (target, compare) =>
    compare === undefined && lengthOfTyped(target) > ELEMENTS ? long().byNumber : compare;

  const replace = (target, functions) => {
    for (const name in functions) defineProperty(target, name, { value: functions[name] });
  };
  replace(arrays, {
    sort(compare) {
      return isForEngine(this, compare) ? sort(this, compare) : long().sort(this, compare);
    },
    toSorted(compare) {
      return isForEngine(this, compare) ? toSorted(this, compare) : long().toSorted(this, compare);
    },
  });
  replace(typed, {
    sort(compare) {
      return sortTyped(this, orderOf(this, compare));
    },
    toSorted(compare) {
      return toSortedTyped(this, orderOf(this, compare));
    },
  });
  replace(texts, {
    normalize(...given) {
      const form = given[0];
      const isLong = typeof this === 'string' && this.length > UNITS && (form === undefined || typeof form === 'string');
      return isLong ? long().normalize(this, form) : normalize(this, form);
    },
    split(separator, limit) {
      const isLong = typeof this === 'string' && this.length > UNITS && typeof separator === 'string' && limit === undefined;
      return isLong ? long().split(this, separator) : split(this, separator, limit);
    },
  });
})
