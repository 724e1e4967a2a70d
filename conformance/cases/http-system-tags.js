// Every system tag, on.
import http from 'k6/http';

export const options = {
  systemTags: [
    'proto', 'subproto', 'status', 'method', 'url', 'name', 'group', 'check', 'error', 'error_code', 'tls_version',
    'scenario', 'service', 'expected_response', 'ocsp_status', 'ip', 'iter', 'vu',
  ],
};

export default function () {
  http.get(`${__ENV.BASE}/status/200`);
}
