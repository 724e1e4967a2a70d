// k6/net/grpc: load() and loadProtoset(): information about the methods, and the module's constants.
import grpc from 'k6/net/grpc';
import { sorted } from './fixtures/sorted.js';

const PROTOS = '../../crates/testkit/proto';
const client = new grpc.Client();
const other = new grpc.Client();
const infos = [
  client.load([PROTOS], 'testkit/echo.proto'),
  other.loadProtoset(`${PROTOS}/testkit.binpb`).filter((info) => info.service === 'Echo'),
];

export default function () {
  for (const info of infos) console.log(sorted(info));
  const names = Object.keys(grpc).filter((name) => name !== 'default').sort();
  console.log(names.map((name) => `${name} ${JSON.stringify(grpc[name])}`).join());
  for (const each of [client, other]) {
    each.connect(__ENV.BASE.replace('http://', ''), { plaintext: true });
    console.log(each.invoke('testkit.Echo/Unary', { text: 'x' }).message.text);
  }
}
