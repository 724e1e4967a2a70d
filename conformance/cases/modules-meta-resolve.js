// import.meta.resolve() gives the URL of a specifier, seen from the file that asks.
import { deep } from './fixtures/folder/meta.js';

function show(specifier) {
  try {
    console.log(specifier, import.meta.resolve(specifier));
  } catch (error) {
    console.log(specifier, 'refused', error.name);
  }
}

for (const specifier of ['./x.js', './absent/../x y.js', './ü.js', '.', '/abs/x.js', 'file:///y.js']) show(specifier);
for (const specifier of ['https://x.example/a.js?b#c', 'http://x.example/a.js', 'k6', 'k6/http', 'k6/nope', '']) show(specifier);
show(undefined);
console.log(Object.keys(import.meta).join(), typeof import.meta.url, deep);

export default function () {
  console.log(import.meta.resolve('./late.js'));
}
