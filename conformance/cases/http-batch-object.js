// batch(): an object gives an object.
import http from 'k6/http';

export default function () {
  const responses = http.batch({
    front: `${__ENV.BASE}/status/200`,
    made: { method: 'POST', url: `${__ENV.BASE}/anything`, body: 'b' },
    gone: ['GET', `${__ENV.BASE}/status/410`, null, { tags: { kind: 'third' } }],
  });
  console.log(Object.keys(responses).sort().join());
  console.log(responses.front.status, responses.made.status, responses.gone.status);
}
