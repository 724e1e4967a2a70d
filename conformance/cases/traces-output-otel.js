//! args: --traces-output otel=http://127.0.0.1:1,proto=http,header.A=b
//! ignore: warned
// Spans of a test without a browser: none are sent. That it is so is told by us alone.
import http from 'k6/http';
export default function () {
  http.get(`${__ENV.BASE}/get`);
}
