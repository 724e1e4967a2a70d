// k6/net/grpc: a method that takes one message has it whole once it is written, without end(); a second message is an error.
import grpc from 'k6/net/grpc';
import { connected, loaded, number } from './fixtures/grpc.js';

const client = loaded();

function open(label) {
  const stream = new grpc.Stream(client, 'testkit.Echo/ServerStream');
  const ended = new Promise((resolve) => {
    stream.on('data', (message) => console.log(label, message.text, message.index));
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
  const [one, oneEnded] = open('one');
  one.write({ text: 'a', count: 2 });
  await oneEnded;
  const [two, twoEnded] = open('two');
  two.write({ text: 'b', count: 1, delayMs: 300 });
  two.write({ text: 'c', count: 1 });
  await twoEnded;
  const [twice, twiceEnded] = open('ended');
  twice.write({ text: 'd', count: 1 });
  twice.end();
  twice.write({ text: 'e', count: 1 });
  await twiceEnded;
}
