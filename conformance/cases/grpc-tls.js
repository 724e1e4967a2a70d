//! tls: valid http2
// k6/net/grpc: TLS, with the authorities of the system and with the client's own.
import grpc from 'k6/net/grpc';

const client = new grpc.Client();
client.load(['../../crates/testkit/proto'], 'testkit/echo.proto');

export default function () {
  const address = __ENV.TLS_BASE.replace('https://', '');
  client.connect(address);
  console.log(client.invoke('testkit.Echo/Unary', { text: 'x' }).message.text);
  client.connect(address, { tls: {} });
  console.log(client.invoke('testkit.Echo/Unary', { text: 'y' }).message.text);
}
