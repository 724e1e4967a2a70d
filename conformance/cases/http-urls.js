// URLs that are none, and odd ones.
import http from 'k6/http';

function attempt(name, url) {
  try {
    const res = http.get(url);
    console.log(name, res.status, res.error_code);
  } catch (error) {
    console.log(name, 'threw');
  }
}

export default function () {
  attempt('fragment', `${__ENV.BASE}/status/200#part`);
  attempt('no scheme', 'localhost/path');
  attempt('empty', '');
  attempt('number', 12);
  attempt('null', null);
  attempt('object', { a: 1 });
  attempt('ftp', 'ftp://127.0.0.1/');
  attempt('bad escape', `${__ENV.BASE}/%zz`);
  attempt('bad port', 'http://127.0.0.1:99999/');
}
