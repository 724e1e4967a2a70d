//! args: --throw
// asyncRequest() with the option throw rejects.
import http from 'k6/http';

export default async function () {
  try {
    await http.asyncRequest('GET', 'http://127.0.0.1:1/');
    console.log('resolved');
  } catch (error) {
    console.log('rejected');
  }
}
