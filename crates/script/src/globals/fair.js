// Built-ins that the engine runs in one piece, for long inputs in steps that it can interrupt. Short inputs go to the engine's own.
// Nothing here calls what a script can replace.
(function () {
  'use strict';
  // Elements up to which the engine's own sorts and copies take less than a slice.
  const ELEMENTS = 4096;
  // UTF-16 units up to which the same holds for texts, and of one step.
  const UNITS = 65536;
  const LENGTH_MAX = Number.MAX_SAFE_INTEGER;
  const { apply } = Reflect;
  const { isArray } = Array;
  const { isView } = ArrayBuffer;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Object;
  const { min, trunc } = Math;
  const [object, string, RangeFault] = [Object, String, RangeError];
  const [arrays, texts, typed] = [Array.prototype, String.prototype, getPrototypeOf(Uint8Array.prototype)];
  const { sort, toSorted } = arrays;
  const { charCodeAt, indexOf, normalize, slice, split } = texts;
  const { sort: sortTyped, toSorted: toSortedTyped } = typed;
  const lengthOfTyped = getOwnPropertyDescriptor(typed, 'length').get;

  const toLength = (value) => {
    const length = trunc(+value);
    return length > 0 ? min(length, LENGTH_MAX) : 0;
  };
  // An array whose elements no setter of a prototype can catch.
  const bare = () => setPrototypeOf([], null);
  const toText = (value) => (typeof value === 'string' ? value : typeof value === 'symbol' ? '' + value : string(value));
  const byText = (a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0);
  // The order of typed arrays: -0 before 0, and NaN last.
  const byNumber = (a, b) => {
    if (a < b) return -1;
    if (a > b) return 1;
    if (a === b) return a !== 0 ? 0 : 1 / a < 1 / b ? -1 : 1 / a > 1 / b ? 1 : 0;
    return a === a ? -1 : b === b ? 1 : 0;
  };

  // Sorts items, none of them undefined. A comparison is bytecode, in which the engine can be interrupted.
  const sortItems = (items, compare) => {
    if (compare !== undefined) return apply(sort, items, [compare]);
    for (let at = 0; at < items.length; at++) items[at] = { text: toText(items[at]), value: items[at] };
    apply(sort, items, [byText]);
    for (let at = 0; at < items.length; at++) items[at] = items[at].value;
    return items;
  };
  const sortInSteps = (target, length, compare) => {
    const items = bare();
    let undefineds = 0;
    for (let at = 0; at < length; at++) {
      if (!(at in target)) continue;
      const item = target[at];
      if (item === undefined) undefineds++;
      else items[items.length] = item;
    }
    sortItems(items, compare);
    let at = 0;
    for (; at < items.length; at++) target[at] = items[at];
    for (; undefineds > 0; undefineds--) target[at++] = undefined;
    for (; at < length; at++) delete target[at];
    return target;
  };
  // Whether the engine's own has to do it: an error, or short. A proxy of an array is asked twice for its length.
  const isForEngine = (target, compare) =>
    target === undefined || target === null || (compare !== undefined && typeof compare !== 'function') ||
    (isArray(target) && target.length <= ELEMENTS);
  const isLongTyped = (target, compare) =>
    compare === undefined && isView(target) && apply(lengthOfTyped, target, []) > ELEMENTS;

  // Whether nothing before this unit composes with it or changes places with it: below the combining marks, ideographs and
  // syllables of Hangul.
  const isBoundary = (unit) =>
    unit < 0x300 || (unit >= 0x4e00 && unit <= 0x9fff) || (unit >= 0xac00 && unit <= 0xd7a3);

  const ofArrays = {
    sort(compare) {
      if (isForEngine(this, compare)) return apply(sort, this, [compare]);
      const target = object(this);
      return sortInSteps(target, toLength(target.length), compare);
    },
    toSorted(compare) {
      if (isForEngine(this, compare)) return apply(toSorted, this, [compare]);
      const length = toLength(this.length);
      if (length > 0xffffffff) throw new RangeFault('Invalid array length');
      const copy = bare();
      for (let at = 0; at < length; at++) copy[at] = this[at];
      return setPrototypeOf(sortInSteps(copy, length, compare), arrays);
    },
  };
  const ofTyped = {
    sort(compare) {
      return apply(sortTyped, this, [isLongTyped(this, compare) ? byNumber : compare]);
    },
    toSorted(compare) {
      return apply(toSortedTyped, this, [isLongTyped(this, compare) ? byNumber : compare]);
    },
  };
  const ofTexts = {
    normalize(...given) {
      const form = given[0];
      const isLong = typeof this === 'string' && this.length > UNITS;
      if (!isLong || (form !== undefined && typeof form !== 'string')) return apply(normalize, this, [form]);
      let whole = '';
      for (let start = 0, end; start < this.length; start = end) {
        end = min(start + UNITS, this.length);
        while (end < this.length && !isBoundary(apply(charCodeAt, this, [end]))) end++;
        whole += apply(normalize, apply(slice, this, [start, end]), [form]);
      }
      return whole;
    },
    split(separator, limit) {
      const isLong = typeof this === 'string' && this.length > UNITS;
      if (!isLong || typeof separator !== 'string' || limit !== undefined) {
        return apply(split, this, [separator, limit]);
      }
      const parts = bare();
      if (separator === '') {
        for (let at = 0; at < this.length; at++) parts[at] = this[at];
        return setPrototypeOf(parts, arrays);
      }
      let start = 0;
      for (let end; (end = apply(indexOf, this, [separator, start])) >= 0; start = end + separator.length) {
        parts[parts.length] = apply(slice, this, [start, end]);
      }
      parts[parts.length] = apply(slice, this, [start]);
      return setPrototypeOf(parts, arrays);
    },
  };
  for (const [target, functions] of [[arrays, ofArrays], [typed, ofTyped], [texts, ofTexts]]) {
    for (const name of Object.keys(functions)) {
      defineProperty(target, name, { value: functions[name] });
    }
  }
})
