// The globals k6 has, and their types.
export default function () {
  for (const name of [
    'console', '__ENV', '__VU', '__ITER', 'require', 'open', 'setTimeout', 'clearTimeout', 'setInterval',
    'clearInterval', 'TextEncoder', 'TextDecoder', 'global', 'globalThis', 'Promise', 'Map', 'Symbol', 'Proxy',
    'BigInt',
  ]) {
    console.log(name, typeof globalThis[name]);
  }
  console.log(global === globalThis);
}
