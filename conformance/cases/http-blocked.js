// blockHostnames and blacklistIPs.
import http from 'k6/http';

export const options = { blockHostnames: ['*.blocked.test', 'exact.test'], blacklistIPs: ['127.1.0.0/16'], hosts: { 'free.test': '127.0.0.1' } };

export default function () {
  for (const url of ['http://www.blocked.test/', 'http://exact.test/', 'http://127.1.2.3/']) {
    const res = http.get(url);
    console.log(res.status, res.error_code);
  }
}
