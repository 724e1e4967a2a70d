// Statuses, their texts, error codes and what counts as failed.
import http from 'k6/http';

export default function () {
  for (const status of [200, 201, 204, 304, 400, 404, 418, 429, 500, 503, 599]) {
    const res = http.get(`${__ENV.BASE}/status/${status}`, { tags: { name: 'status' } });
    console.log(res.status, res.status_text, res.error_code, JSON.stringify(res.error), JSON.stringify(res.body));
  }
}
