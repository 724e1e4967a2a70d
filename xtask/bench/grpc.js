// gRPC calls with one request and one response, one connection per VU: a text there and back, and a check.

import { check } from 'k6';
import grpc from 'k6/net/grpc';

export const options = {
  scenarios: {
    busy: { executor: 'constant-vus', vus: Number(__ENV.VUS), duration: `${__ENV.SECONDS}s` },
  },
};

const client = new grpc.Client();
client.load(['../../crates/testkit/proto'], 'testkit/echo.proto');
let isConnected = false;

export default function () {
  if (!isConnected) {
    client.connect(__ENV.URL, { plaintext: true });
    isConnected = true;
  }
  const res = client.invoke('testkit.Echo/Unary', { text: 'a text of thirty-two characters.' });
  check(res, { answered: (res) => res.status === grpc.StatusOK && res.message.text.length === 32 });
}
