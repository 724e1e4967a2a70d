// A missing URL and too many arguments.
import http from 'k6/http';

function attempt(name, action) {
  try {
    const res = action();
    console.log(name, res.status, res.error_code);
  } catch (error) {
    console.log(name, 'threw');
  }
}

export default function () {
  attempt('no url', () => http.get());
  attempt('no url for request', () => http.request('GET'));
  attempt('null params', () => http.get(`${__ENV.BASE}/status/200`, null));
  attempt('further arguments', () => http.get(`${__ENV.BASE}/status/200`, {}, 'more'));
  attempt('unknown param', () => http.get(`${__ENV.BASE}/status/200`, { nonsense: true }));
  attempt('bad timeout', () => http.get(`${__ENV.BASE}/status/200`, { timeout: 'soon' }));
  attempt('headers not a map', () => http.get(`${__ENV.BASE}/status/200`, { headers: 'x' }));
  attempt('unknown auth', () => http.get(`${__ENV.BASE}/status/200`, { auth: 'magic' }));
}
