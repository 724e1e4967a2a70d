// The language level scripts count on.
class Counter {
  #n = 0;
  static made = 0;
  static {
    Counter.made = 1;
  }
  next() {
    return ++this.#n;
  }
  get value() {
    return this.#n;
  }
}

async function twice(n) {
  return n * 2;
}

export default async function () {
  const c = new Counter();
  c.next();
  console.log(c.value, Counter.made);
  console.log(null ?? 'default', undefined?.x, 0 || 'or');
  let x = null;
  x ??= 5;
  console.log(x, 1_000, 2n ** 64n > 1n);
  console.log('aXbX'.replaceAll('X', '-'), [1, 2, 3].at(-1), [3, 1, 2].toSorted().join());
  console.log([1, 2, 3].findLast((n) => n < 3), Object.hasOwn({ a: 1 }, 'a'));
  console.log('a1b22'.match(/(?<=b)\d+/)[0]);
  console.log(await twice(21), await Promise.any([Promise.reject(1), Promise.resolve(2)]));
  const { a, ...rest } = { a: 1, b: 2, c: 3 };
  console.log(a, JSON.stringify(rest), [...'한글'].length);
  function* numbers() {
    yield 1;
    yield 2;
  }
  console.log([...numbers()].join(), new Date(86400000).toISOString());
  label: for (const i of [1, 2]) {
    for (const j of [1, 2]) {
      if (j === 2) continue label;
      console.log(i, j);
    }
  }
}
