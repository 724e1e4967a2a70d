// k6/net/grpc: streams that end before they are over: by their timeout, and because the client is closed.
import grpc from 'k6/net/grpc';
import { connected, loaded, number } from './fixtures/grpc.js';

const client = loaded();

function open(label, params) {
  const stream = new grpc.Stream(client, 'testkit.Echo/BothStreams', params);
  const ended = new Promise((resolve) => {
    stream.on('data', (message) => console.log(label, message.text));
    stream.on('error', (error) => console.log(label, 'error', number(error.code), error.message));
    stream.on('end', () => {
      console.log(label, 'end');
      resolve();
    });
  });
  return [stream, ended];
}

export default async function () {
  connected(client);
  const [timed, timedOut] = open('timed', { timeout: '100ms' });
  timed.write({ text: 'a' });
  await timedOut;
  const [closed, isClosed] = open('closed');
  closed.on('data', () => client.close());
  closed.write({ text: 'b' });
  await isClosed;
}
