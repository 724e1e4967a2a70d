//! tls: self-signed
// k6/ws to a server with an untrusted certificate.
import ws from 'k6/ws';


export default function () {
  try {
    const response = ws.connect(`${__ENV.TLS_BASE.replace('https', 'wss')}/ws/echo`, () => {});
    console.log(response.status, response.error.split(' (')[0]);
  } catch (error) {
    console.log('threw');
  }
}
