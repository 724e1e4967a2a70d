//! tls: client-certificate http2
// k6/net/grpc: a client certificate of the connection's own.
import grpc from 'k6/net/grpc';

const client = new grpc.Client();
client.load(['../../crates/testkit/proto'], 'testkit/echo.proto');
const tls = { cert: open(__ENV.CLIENT_CERTIFICATE), key: open(__ENV.CLIENT_KEY) };

export default function () {
  client.connect(__ENV.TLS_BASE.replace('https://', ''), { tls });
  console.log(client.invoke('testkit.Echo/Unary', { text: 'x' }).message.text);
}
