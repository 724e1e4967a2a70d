// Sorting, splitting and normalizing long inputs in bytecode, in which the engine can be interrupted.
(function () {
  'use strict';
  return (own) => {
    const { UNITS, uncurry, setPrototypeOf, arrays, sort, normalize, object, string } = own;
    const [codeAt, indexOf, slice] = [uncurry(own.charCodeAt), uncurry(own.indexOf), uncurry(own.slice)];
    const LENGTH_MAX = 2 ** 53 - 1;

    const toLength = (value) => {
      const length = +value;
      if (!(length >= 1)) return 0;
      return length > LENGTH_MAX ? LENGTH_MAX : length - (length % 1);
    };
    // An array whose elements no setter of a prototype can catch.
    const bare = () => setPrototypeOf([], null);
    const toText = (value) => (typeof value === 'string' ? value : typeof value === 'symbol' ? '' + value : string(value));
    const byText = (a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0);

    // Sorts items, none of them undefined.
    const sortItems = (items, compare) => {
      if (compare !== undefined) return sort(items, compare);
      for (let at = 0; at < items.length; at++) items[at] = { text: toText(items[at]), value: items[at] };
      sort(items, byText);
      for (let at = 0; at < items.length; at++) items[at] = items[at].value;
      return items;
    };
    // Whether nothing before this unit composes with it or changes places with it: below the combining marks, ideographs and
    // syllables of Hangul.
    const isBoundary = (unit) =>
      unit < 0x300 || (unit >= 0x4e00 && unit <= 0x9fff) || (unit >= 0xac00 && unit <= 0xd7a3);

    // Changes nothing, but the engine can be interrupted whenever it calls it.
    const same = (key, value) => value;

    return {
      replacer: (given) => (given === undefined || given === null ? same : given),
      // The order of typed arrays: -0 before 0, and NaN last.
      byNumber(a, b) {
        if (a < b) return -1;
        if (a > b) return 1;
        if (a === b) return a !== 0 ? 0 : 1 / a < 1 / b ? -1 : 1 / a > 1 / b ? 1 : 0;
        return a === a ? -1 : b === b ? 1 : 0;
      },
      sort(self, compare) {
        const target = object(self);
        const length = toLength(target.length);
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
      },
      normalize(text, form) {
        let whole = '';
        for (let start = 0, end; start < text.length; start = end) {
          end = start + UNITS;
          while (end < text.length && !isBoundary(codeAt(text, end))) end++;
          whole += normalize(slice(text, start, end), form);
        }
        return whole;
      },
      split(text, separator) {
        const parts = bare();
        if (separator === '') {
          for (let at = 0; at < text.length; at++) parts[at] = text[at];
          return setPrototypeOf(parts, arrays);
        }
        let start = 0;
        for (let end; (end = indexOf(text, separator, start)) >= 0; start = end + separator.length) {
          parts[parts.length] = slice(text, start, end);
        }
        parts[parts.length] = slice(text, start);
        return setPrototypeOf(parts, arrays);
      },
    };
  };
})
