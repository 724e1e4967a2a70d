// Tags of requests: own ones, name, url with a query and credentials.
import http from 'k6/http';
import { group } from 'k6';

export default function () {
  http.get(`${__ENV.BASE}/status/200?q=1&r=a%20b`);
  http.get(`${__ENV.BASE}/status/200`, { tags: { mine: 'yes', name: 'named', number: 3 } });
  group('in a group', () => http.get(`${__ENV.BASE}/status/201`));
  http.get(`${__ENV.BASE.replace('//', '//user:secret@')}/status/202`);
}
