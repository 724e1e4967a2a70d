// k6/net/grpc: calls that fail: statuses with details, resets, pages of HTTP, messages that are too large, wrong methods.
import { address, connected, loaded, number } from './fixtures/grpc.js';
import { sorted } from './fixtures/sorted.js';

const client = loaded();

export default function () {
  const unary = connected(client);
  const show = (label, res) => console.log(label, number(res.status), sorted(res.error), sorted(res.message), sorted(res.headers));
  show('status', unary({ status: 5, statusMessage: 'no such 파일 100%', withDetails: true }));
  show('no text', unary({ status: 3 }));
  show('unknown status', unary({ status: 99, statusMessage: 'x' }));
  show('cancel', unary({ reset: 9 }));
  show('internal', unary({ reset: 3 }));
  show('calm', unary({ reset: 12 }));
  show('503', unary({ httpStatus: 503 }));
  show('404', unary({ httpStatus: 404 }));
  show('large', unary({ payloadBytes: 5000000 }));
  show('stream', client.invoke('testkit.Echo/ServerStream', { count: 2 }));
  show('no answer', client.invoke('testkit.Echo/ServerStream', { count: 0 }));
  show('client stream', client.invoke('testkit.Echo/ClientStream', { text: 'x' }));
  client.connect(address, { plaintext: true, maxReceiveSize: 100, maxSendSize: 50 });
  show('receive', unary({ payloadBytes: 200 }));
  show('send', unary({ text: 'x'.repeat(100) }));
}
