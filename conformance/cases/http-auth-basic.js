// Basic authentication comes from the URL's credentials.
import http from 'k6/http';

export default function () {
  const path = '/basic-auth/user/secret';
  console.log(http.get(`${__ENV.BASE}${path}`).status);
  const base = __ENV.BASE.replace('//', '//user:secret@');
  const res = http.get(`${base}${path}`);
  console.log(res.status, res.url.includes('secret@'));
  console.log(http.get(`${base}${path}`, { auth: 'basic' }).status);
  console.log(http.get(`${__ENV.BASE.replace('//', '//user:wrong@')}${path}`).status);
}
