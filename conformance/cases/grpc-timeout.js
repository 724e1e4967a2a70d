// k6/net/grpc: a call that takes longer than its timeout.
import { connected, loaded, number } from './fixtures/grpc.js';
import { sorted } from './fixtures/sorted.js';

const client = loaded();

export default function () {
  const unary = connected(client);
  for (const timeout of ['50ms', 50]) {
    const res = unary({ delayMs: 60000 }, { timeout });
    console.log(number(res.status), sorted(res.error), sorted(res.headers));
  }
}
