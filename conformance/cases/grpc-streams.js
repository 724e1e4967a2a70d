// k6/net/grpc: streams of the server, of the client, and of both: their events, and what is counted.
import grpc from 'k6/net/grpc';
import { connected, loaded, number } from './fixtures/grpc.js';

const client = loaded();

function open(label, method, params) {
  const stream = new grpc.Stream(client, `testkit.Echo/${method}`, params);
  const ended = new Promise((resolve) => {
    stream.on('data', (message, meta) => console.log(label, message.text, message.index, message.received, typeof meta.ts));
    stream.on('error', (error) => console.log(label, 'error', number(error.code), error.message, error.details.length));
    stream.on('end', () => {
      console.log(label, 'end');
      resolve();
    });
  });
  return [stream, ended];
}

async function run(label, method, requests, params) {
  const [stream, ended] = open(label, method, params);
  for (const request of requests) stream.write(request);
  stream.end();
  await ended;
}

export default async function () {
  connected(client);
  await run('server', 'ServerStream', [{ text: 's', count: 3 }]);
  await run('none', 'ServerStream', [{ count: 0 }]);
  await run('client', 'ClientStream', [{ text: 'a' }, { text: 'b' }]);
  await run('both', 'BothStreams', [{ text: 'a' }, { text: 'b' }], { metadata: { 'x-a': 'b' }, tags: { name: 'mine', more: 'yes' } });
  await run('failed', 'ServerStream', [{ text: 'f', count: 1, status: 5, statusMessage: 'gone', withDetails: true }]);
  await run('discard', 'ServerStream', [{ text: 'd', count: 2 }], { discardResponseMessage: true });
  await run('large', 'ServerStream', [{ count: 1, payloadBytes: 5000000 }]);
}
