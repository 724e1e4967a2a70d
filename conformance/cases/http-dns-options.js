// The dns option's spellings.
import http from 'k6/http';

export const options = { dns: { ttl: '1m', select: 'first', policy: 'onlyIPv4' } };

export default function () {
  const res = http.get(`${__ENV.BASE.replace('127.0.0.1', 'localhost')}/status/200`, { tags: { name: 'x' } });
  console.log(res.status, res.remote_ip);
}
