// Batches of twenty over HTTP/2: one connection per VU carries them at the same time.

import http from 'k6/http';

export const options = {
  scenarios: {
    busy: { executor: 'constant-vus', vus: Number(__ENV.VUS), duration: `${__ENV.SECONDS}s` },
  },
  insecureSkipTLSVerify: true,
  batch: 20,
  batchPerHost: 20,
};

const requests = Array.from({ length: 20 }, () => ['GET', __ENV.URL]);

export default function () {
  const responses = http.batch(requests);
  if (responses.some((response) => response.proto !== 'HTTP/2.0')) {
    throw new Error(`expected HTTP/2.0 and got ${responses[0].proto}`);
  }
}
