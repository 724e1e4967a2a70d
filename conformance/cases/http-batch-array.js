// batch(): an array of the three forms of a request.
import http from 'k6/http';

export default function () {
  const url = `${__ENV.BASE}/anything`;
  const responses = http.batch([
    url,
    ['GET', `${__ENV.BASE}/status/201`],
    ['POST', url, 'body', { tags: { kind: 'array' } }],
    { method: 'PUT', url, body: { form: 'yes' }, params: { tags: { kind: 'object' } } },
    { method: 'GET', url: `${__ENV.BASE}/status/404` },
    { url },
  ]);
  console.log(Array.isArray(responses), responses.length);
  responses.forEach((res) => console.log(res.status, res.request.method));
}
