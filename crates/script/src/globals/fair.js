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
  const [sort, sortTyped] = [uncurry(arrays.sort), uncurry(typed.sort)];
  const [normalize, split] = [uncurry(texts.normalize), uncurry(texts.split)];
  const lengthOfTyped = uncurry(getOwnPropertyDescriptor(typed, 'length').get);

  const own = {
    UNITS, uncurry, setPrototypeOf, arrays, sort, normalize, object: Object, string: String,
    charCodeAt: texts.charCodeAt, indexOf: texts.indexOf, slice: texts.slice,
  };
  let steps;
  const long = () => (steps ??= host.load()(own));

  const ofArrays = {
    sort(compare) {
      const isError = this === undefined || this === null || (compare !== undefined && typeof compare !== 'function');
      // A proxy of an array is asked twice for its length.
      const isShort = isError || (isArray(this) && this.length <= ELEMENTS);
      return isShort ? sort(this, compare) : long().sort(this, compare);
    },
  };
  const ofTyped = {
    sort(compare) {
      // Long ones without a comparison get one, since bytecode can be interrupted.
      const isLong = compare === undefined && lengthOfTyped(this) > ELEMENTS;
      return sortTyped(this, isLong ? long().byNumber : compare);
    },
  };
  const ofTexts = {
    normalize(...given) {
      const form = given[0];
      const isLong = typeof this === 'string' && this.length > UNITS && (form === undefined || typeof form === 'string');
      return isLong ? long().normalize(this, form) : normalize(this, form);
    },
    split(separator, limit) {
      const isLong = typeof this === 'string' && this.length > UNITS && typeof separator === 'string' && limit === undefined;
      return isLong ? long().split(this, separator) : split(this, separator, limit);
    },
  };
  const { parse, stringify } = JSON;
  // How long a text becomes is known only afterwards: a script that has made a long one is taken to make another.
  let isLongText = false;
  const ofJson = {
    parse(text, reviver) {
      const isLong = typeof text === 'string' && text.length > UNITS && typeof reviver !== 'function';
      return isLong ? host.parse(parse, text) : parse(text, reviver);
    },
    stringify(value, replacer, space) {
      const text = stringify(value, isLongText ? long().replacer(replacer) : replacer, space);
      isLongText = text !== undefined && text.length > UNITS;
      return text;
    },
  };
  for (const [target, functions] of [[arrays, ofArrays], [typed, ofTyped], [texts, ofTexts], [JSON, ofJson]]) {
    for (const name in functions) defineProperty(target, name, { value: functions[name] });
  }
})
