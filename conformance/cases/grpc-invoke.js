// k6/net/grpc: invoke(): the response's fields, tags of its samples, and what becomes of groups and checks.
import grpc from 'k6/net/grpc';
import { check, group } from 'k6';
import { connected, loaded, number } from './fixtures/grpc.js';
import { sorted } from './fixtures/sorted.js';

const client = loaded();

export default function () {
  const unary = connected(client);
  const show = (res) => console.log(number(res.status), sorted({ ...res, status: 0 }));
  show(unary({ text: 'hi' }));
  console.log(client.invoke('/testkit.Echo/Unary', { text: 'slash' }).message.text);
  show(unary({ text: 'x' }, { discardResponseMessage: true }));
  group('grouped', () => {
    const res = unary({ text: 'x' }, { tags: { name: 'mine', url: 'mine', method: 'mine', service: 'mine', more: 'yes' } });
    check(res, { ok: (r) => r && r.status === grpc.StatusOK });
  });
  client.close();
}
