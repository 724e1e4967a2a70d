// hosts: a name is mapped to an address, with or without a port.
import http from 'k6/http';

const [address, port] = __ENV.BASE.replace('http://', '').split(':');

export const options = {
  hosts: { 'shop.test': address, 'full.test:80': `${address}:${port}`, '*.wild.test': `${address}:${port}` },
};

export default function () {
  for (const url of [`http://shop.test:${port}/status/201`, 'http://full.test/status/202', 'http://a.wild.test/status/203']) {
    const res = http.get(url, { tags: { name: url.split('/')[2].split(':')[0] } });
    console.log(res.status, res.remote_ip, res.remote_port === Number(port));
  }
}
