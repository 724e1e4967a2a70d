// Requests of setup() and teardown() count, in groups of their own.
import http from 'k6/http';

export function setup() {
  http.get(`${__ENV.BASE}/status/201`);
}

export default function () {
  http.get(`${__ENV.BASE}/status/202`);
}

export function teardown() {
  http.get(`${__ENV.BASE}/status/203`);
}
