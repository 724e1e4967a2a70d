// How odd URLs are sent, tagged and shown: k6 encodes a path that needs it as a whole, and a query not at all in names.
import http from 'k6/http';

const PATHS = ['', '?a=1', '/', '/#', '/?', '/echo/[object Object]', '/echo/[1]', '/a b%2Fc!(d)', '/é%C3%A9|^', '/echo#frag ment'];
const NONE = ['undefined/x', '/relative', 'http://', 'ftp://host/x', 'a b/c'];

export default function () {
  for (const path of PATHS) {
    const res = http.get(`${__ENV.BASE}${path}`, { responseCallback: null });
    console.log(JSON.stringify(path), res.url, res.request.url);
  }
  for (const url of NONE) {
    const res = http.get(url);
    console.log(JSON.stringify(url), res.status, res.error_code, res.error);
  }
  const twice = http.get(`http://${__ENV.BASE}/`);
  console.log(twice.url.replace(__ENV.BASE, 'BASE'), twice.status);
  const res = http.get('http://host/%zz');
  console.log(res.request, res.status, res.error_code);
}
