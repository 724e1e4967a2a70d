//! args: --iterations 2
//! ignore: warned
//! ignore: samples
// k6/net/grpc: a handler that throws fails its iteration.
import grpc from 'k6/net/grpc';
import { connected, loaded } from './fixtures/grpc.js';

const client = loaded();

export default function () {
  connected(client);
  const stream = new grpc.Stream(client, 'testkit.Echo/ServerStream');
  stream.on('error', (error) => console.log(error.message.split(' at ')[0]));
  stream.on('end', () => console.log('end'));
  stream.on('data', () => {
    if (__ITER === 0) throw new Error('boom');
  });
  stream.write({ count: 1 });
}
