// k6/net/grpc: metadata of calls: keys, binary values, what comes back in headers and trailers.
import { attempt, connected, loaded } from './fixtures/grpc.js';
import { sorted } from './fixtures/sorted.js';

const client = loaded();

export default function () {
  const unary = connected(client);
  const res = unary(
    { withMetadata: true },
    { metadata: { 'x-one': 'a', 'X-Two': 'b c', 'x-three-bin': new Uint8Array([65, 66]) } },
  );
  console.log(sorted(res.message.metadata), sorted(res.headers), Object.keys(res.trailers).sort().join());
  attempt('number', () => unary({}, { metadata: 5 }));
  attempt('value', () => unary({}, { metadata: { 'x-a': 5 } }));
  attempt('null', () => unary({}, { metadata: null }));
}
