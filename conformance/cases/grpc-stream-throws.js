// k6/net/grpc: a handler that throws fails the iteration.
import grpc from 'k6/net/grpc';
import { connected, loaded } from './fixtures/echo.js';

const client = loaded();

export default function () {
  connected(client);
  const stream = new grpc.Stream(client, 'testkit.Echo/ServerStream');
  stream.on('data', () => {
    throw new Error('boom');
  });
  stream.write({ count: 1 });
}
