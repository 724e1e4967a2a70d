//! env: HTTP_PROXY=$PROXY
//! env: NO_PROXY=direct.test
// HTTP_PROXY: the proxy gets the whole URL and who asks; loopback and NO_PROXY go without it.
import http from 'k6/http';

export const options = { hosts: { 'direct.test': __ENV.BASE.split('//')[1] } };

export default function () {
  const res = http.get('http://proxied.test/anything?a=b');
  console.log(res.status, res.proto, res.json().headers['Proxy-Authorization'], res.remote_ip, JSON.stringify(res.json().headers.Host));
  for (const base of ['http://direct.test', __ENV.BASE]) {
    console.log(http.get(`${base}/anything`).json().headers['Proxy-Authorization']);
  }
}
