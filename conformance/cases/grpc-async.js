// k6/net/grpc: asyncInvoke(): the same as a promise.
import { connected, loaded, number, text } from './fixtures/grpc.js';
import { sorted } from './fixtures/sorted.js';

const client = loaded();

export default async function () {
  connected(client);
  const method = 'testkit.Echo/Unary';
  const all = await Promise.all([client.asyncInvoke(method, { text: 'a', delayMs: 50 }), client.asyncInvoke(method, { text: 'b' })]);
  console.log(all.map((res) => res.message.text).join());
  const failed = await client.asyncInvoke(method, { status: 5, statusMessage: 'none' });
  console.log(number(failed.status), sorted(failed.error));
  for (const wrong of [['testkit.Echo/Nope', {}], [method, { nope: 1 }], [method, {}, { nope: 1 }]]) {
    await client.asyncInvoke(...wrong).then(
      () => console.log('resolved'),
      // k6 rejects with an error of the language it is written in.
      (error) => console.log(text(error).replace('GoError: ', '')),
    );
  }
}
