//! args: --traces-output otel=http://127.0.0.1:1,proto=http,header.A=b
//! ignore: warned
// Spans of a test without a browser: none are sent. Only Plimsoll warns of it.
import http from 'k6/http';
export default function () {
  http.get(`${__ENV.BASE}/get`);
}
