// discardResponseBodies, and its exception per request.
import http from 'k6/http';

export const options = { discardResponseBodies: true };

export default function () {
  const url = `${__ENV.BASE}/bytes/5`;
  console.log(http.get(url).body);
  console.log(http.get(url, { responseType: 'text' }).body);
}
