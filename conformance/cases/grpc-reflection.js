// k6/net/grpc: types from the server's reflection, with metadata.
import grpc from 'k6/net/grpc';
import { address, number } from './fixtures/grpc.js';
import { sorted } from './fixtures/sorted.js';

const client = new grpc.Client();

export default function () {
  client.connect(address, { plaintext: true, reflect: true });
  console.log(sorted(client.invoke('testkit.Echo/Unary', { text: 'x', all: { color: 1 } }).message));
  client.connect(address, { plaintext: true, reflect: true, reflectMetadata: { 'x-a': 'b' } });
  console.log(number(client.invoke('testkit.Echo/Unary', { text: 'y' }).status));
  client.close();
}
