// asyncRequest() that cannot connect resolves; a bad URL rejects.
import http from 'k6/http';

export default async function () {
  const res = await http.asyncRequest('GET', 'http://127.0.0.1:1/');
  console.log(res.status, res.error_code);
  try {
    const bad = await http.asyncRequest('GET', 'no scheme');
    console.log('resolved', bad.status, bad.error_code);
  } catch (error) {
    console.log('rejected');
  }
}
