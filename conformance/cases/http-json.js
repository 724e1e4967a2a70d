// json() without and with a selector (GJSON paths).
import http from 'k6/http';
import { sorted } from './fixtures/sorted.js';

export default function () {
  const res = http.get(`${__ENV.BASE}/json`);
  for (const path of [
    'title', 'count', 'ratio', 'none', 'unicode', 'list.#', 'list.0.name', 'list.#.name', 'list.1', 'nested.deep',
    'nested.deep.deeper.value', 'missing', 'list.9', 'list.#(id==2).name', 'list.#(id>1)#.name', 'list.#(name=="c").id',
    'nes*.deep.deeper.value', 'ti?le', 'list.#(id>9)#', 'list.#(id>9)', 'list|0|id', '@this.count', 'list.@reverse.0.id',
    'nested.deep.@keys', '{title,count}', '[title,count]', 'list.#.id|@reverse', 'title.x',
  ]) {
    console.log(path, sorted(res.json(path)));
  }
  const whole = res.json();
  console.log(whole.list.length, whole.nested.deep.deeper.value, res.json() === whole);
}
