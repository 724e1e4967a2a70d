// A new connection, and so a full TLS handshake, for each request.

import http from 'k6/http';

export const options = {
  scenarios: {
    busy: { executor: 'constant-vus', vus: Number(__ENV.VUS), duration: `${__ENV.SECONDS}s` },
  },
  insecureSkipTLSVerify: true,
  noConnectionReuse: true,
};

export default function () {
  http.get(__ENV.URL);
}
