// batch() of nothing.
import http from 'k6/http';

function attempt(name, action) {
  try {
    console.log(name, JSON.stringify(action()));
  } catch (error) {
    console.log(name, 'refused');
  }
}

export default function () {
  attempt('empty array', () => http.batch([]));
  attempt('empty object', () => http.batch({}));
  attempt('nothing', () => http.batch());
  attempt('number', () => http.batch(1));
}
