// The response's fields and their types.
import http from 'k6/http';

export default function () {
  const res = http.get(`${__ENV.BASE}/json`, { tags: { mine: 'yes' } });
  console.log(Object.keys(res).sort().join());
  console.log(res.status, res.status_text, res.proto, res.url === `${__ENV.BASE}/json`, res.error === '', res.error_code);
  console.log(res.remote_ip, typeof res.remote_port, JSON.stringify(res.tls_version), JSON.stringify(res.tls_cipher_suite));
  console.log(Object.keys(res.timings).sort().join(), Object.values(res.timings).every((ms) => typeof ms === 'number' && ms >= 0));
  const { duration, sending, waiting, receiving, looking_up } = res.timings;
  console.log(Math.abs(duration - sending - waiting - receiving) < 0.01, looking_up);
  console.log(Object.keys(res.request).sort().join(), res.request.method, res.request.url === res.url, res.request.body);
  console.log(Array.isArray(res.request.headers['User-Agent']), JSON.stringify(res.cookies), JSON.stringify(res.ocsp));
  console.log(typeof res.json, typeof res.html, typeof res.submitForm, typeof res.clickLink);
}
