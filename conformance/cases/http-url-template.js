// http.url``: the name is the template.
import http from 'k6/http';

export default function () {
  for (const id of [200, 201]) {
    const res = http.get(http.url`${__ENV.BASE}/status/${id}`);
    console.log(res.status, res.url.endsWith(`/status/${id}`));
  }
  http.get(http.url`${__ENV.BASE}/status/200`, { tags: { name: 'own name' } });
}
