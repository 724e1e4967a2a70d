// What setup() returns arrives as k6's host side sees it: nothing is left out, and toJSON() is not asked.
class Shape {
  constructor() {
    this.side = 2;
    this.name = undefined;
  }
  get area() {
    return 4;
  }
  toJSON() {
    return 'never';
  }
}

export function setup() {
  return {
    undefined: undefined,
    inside: { nothing: undefined, list: [undefined, , 1] },
    zero: 0,
    bigint: 10n,
    large: 123456789012345678901234567890n,
    symbol: Symbol('word'),
    symbols: [Symbol(), Symbol.iterator],
    date: new Date(0),
    dates: [new Date(1234567890123), new Date(1234567890120), new Date(NaN)],
    map: new Map([[1, 2], ['x', undefined]]),
    set: new Set([1, { deep: new Set([2]) }]),
    weak: new WeakMap(),
    regexp: /x/g,
    error: new Error('boom'),
    bytes: new Uint8Array([1, 2, 255]),
    clamped: new Uint8ClampedArray([1, 2]),
    part: new Uint8Array([1, 2, 3]).subarray(1),
    none: new Uint8Array(0),
    words: new Uint16Array([1, 2]),
    floats: new Float64Array([1.5, -2]),
    bigs: new BigInt64Array([5n]),
    buffer: new Uint8Array([1, 2]).buffer,
    view: new DataView(new ArrayBuffer(2)),
    shape: new Shape(),
    boxed: [new String('s'), new Number(3), new Boolean(false), Object(5n), Object(Symbol('q'))],
    getter: { get a() { return 5; }, get b() { return undefined; } },
    own: Object.create({ inherited: 1 }, { mine: { value: 1, enumerable: true }, hidden: { value: 2 } }),
    text: '<&>"\\ \ud800',
    promise: Promise.resolve(1),
  };
}

const show = (value) => {
  if (Array.isArray(value)) return `[${Array.from(value, show).join(', ')}]`;
  if (value === null || typeof value !== 'object') return `${typeof value} ${value}`;
  return `{${Object.keys(value).sort().map((key) => `${key}: ${show(value[key])}`).join(', ')}}`;
};

export default function (data) {
  for (const key of Object.keys(data).sort()) console.log(key, show(data[key]));
}
