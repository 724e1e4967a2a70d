// asyncRequest() returns a promise and runs beside others.
import http from 'k6/http';

export default async function () {
  const promise = http.asyncRequest('GET', `${__ENV.BASE}/json`);
  console.log(promise instanceof Promise);
  const res = await promise;
  console.log(res.status, res.json('title'), typeof res.timings.duration);
  const started = Date.now();
  const all = await Promise.all([1, 2, 3].map(() => http.asyncRequest('GET', `${__ENV.BASE}/delay/200`)));
  console.log(all.map((r) => r.status).join(), Date.now() - started < 390);
  const order = [];
  const slow = http.asyncRequest('GET', `${__ENV.BASE}/delay/100`).then(() => order.push('slow'));
  const quick = http.asyncRequest('POST', `${__ENV.BASE}/anything`, 'body').then(() => order.push('quick'));
  order.push('sync');
  await Promise.all([slow, quick]);
  console.log(order.join());
}
