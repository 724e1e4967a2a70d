// json() of what is not JSON, and of no body.
import http from 'k6/http';

function attempt(name, action) {
  try {
    console.log(name, action());
  } catch (error) {
    console.log(name, 'threw');
  }
}

export default function () {
  const page = http.get(`${__ENV.BASE}/html`);
  attempt('html', () => page.json());
  attempt('html with selector', () => page.json('title'));
  const none = http.get(`${__ENV.BASE}/json`, { responseType: 'none' });
  attempt('none', () => none.json());
  attempt('none with selector', () => none.json('title'));
  const empty = http.get(`${__ENV.BASE}/bytes/0`);
  attempt('empty', () => empty.json());
}
