// k6/net/grpc: what is an exception.
import grpc from 'k6/net/grpc';
import { address, attempt, loaded } from './fixtures/grpc.js';

const client = loaded();
attempt('connect in init', () => client.connect(address, { plaintext: true }));
attempt('invoke in init', () => client.invoke('testkit.Echo/Unary', {}));

export default function () {
  const unary = (request, params) => client.invoke('testkit.Echo/Unary', request, params);
  attempt('not connected', () => unary({}));
  attempt('address', () => client.connect('127.0.0.1:1', { plaintext: true, timeout: '1s' }));
  attempt('unknown', () => client.connect(address, { nope: 1 }));
  attempt('plaintext', () => client.connect(address, { plaintext: 'yes' }));
  attempt('reflect', () => client.connect(address, { reflect: 1 }));
  attempt('reflectMetadata', () => client.connect(address, { reflectMetadata: { a: 1 } }));
  attempt('receive', () => client.connect(address, { maxReceiveSize: 'x' }));
  attempt('tls', () => client.connect(address, { tls: 5 }));
  client.connect(address, { plaintext: true });
  attempt('no request', () => client.invoke('testkit.Echo/Unary'));
  attempt('undefined', () => unary());
  attempt('null', () => unary(null));
  attempt('number', () => unary(5));
  attempt('text', () => unary('x'));
  attempt('list', () => unary([]));
  attempt('unknown field', () => unary({ nope: 1 }));
  attempt('nested field', () => unary({ all: { stringField: 'x', nope: 1 } }));
  attempt('wrong value', () => unary({ count: 'x' }));
  attempt('wrong text', () => unary({ text: 1 }));
  attempt('out of range', () => unary({ count: 2147483648 }));
  attempt('wrong enum', () => unary({ all: { color: 'BLUE' } }));
  attempt('wrong bool', () => unary({ withDetails: 'true' }));
  attempt('no method', () => client.invoke('', {}));
  attempt('unknown method', () => client.invoke('testkit.Echo/Nope', {}));
  attempt('unknown service', () => client.invoke('nope', {}));
  attempt('unknown parameter', () => unary({}, { nope: 1 }));
  attempt('load', () => client.load([], 'x.proto'));
  attempt('no client', () => new grpc.Stream());
  attempt('wrong client', () => new grpc.Stream(5, 'testkit.Echo/BothStreams'));
  attempt('stream method', () => new grpc.Stream(client, 'nope'));
  attempt('stream parameter', () => new grpc.Stream(client, 'testkit.Echo/BothStreams', { nope: 1 }));
  client.close();
  client.close();
  attempt('closed', () => unary({}));
  attempt('stream of closed', () => new grpc.Stream(client, 'testkit.Echo/BothStreams'));
}
