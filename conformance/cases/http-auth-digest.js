// Digest authentication: both legs count.
import http from 'k6/http';

export default function () {
  const path = '/digest-auth/auth/user/secret';
  console.log(http.get(`${__ENV.BASE}${path}`, { tags: { name: 'without' } }).status);
  const base = __ENV.BASE.replace('//', '//user:secret@');
  console.log(http.get(`${base}${path}`, { auth: 'digest', tags: { name: 'right' } }).status);
  const wrong = __ENV.BASE.replace('//', '//user:wrong@');
  console.log(http.get(`${wrong}${path}`, { auth: 'digest', tags: { name: 'wrong' } }).status);
}
