// What JSON makes of setup()'s data.
export function setup() {
  return { u: undefined, f: () => 1, s: 'kept', a: [undefined, 1] };
}

export default function (data) {
  console.log(Object.keys(data).sort().join(), data.u, data.f, data.s, JSON.stringify(data.a));
}
