// What one person does: four requests with the cookie of a login, each after a second.
import http from 'k6/http';
import { check, sleep } from 'k6';

const base = __ENV.FEED;
const posts = 100;

if (!base) {
  throw new Error('FEED is not set: `plimsoll lab up feed` says what to set it to');
}

// The stages of the post, of which it gives the total length, the number and the heights, take minutes. They are
// divided by SHORTEN, and that is printed.
const factor = Number(__ENV.SHORTEN || 20);

export function shortened(stages) {
  return stages.map(([seconds, target]) => ({ duration: `${Math.round((seconds / factor) * 1000)}ms`, target }));
}

export function begin() {
  console.log(`stages are ${factor} times as short as the post's`);
  return login();
}

// One login for all, as the post's own figures show: four requests per iteration, and one more.
export function login() {
  const response = http.post(`${base}/login`, null, { tags: { name: 'login' } });
  if (response.status !== 200) {
    throw new Error(`the login is answered with ${response.status}`);
  }
  return { session: response.cookies.session[0].value };
}

export function read({ session }) {
  http.cookieJar().set(base, 'session', session);
  const post = Math.floor(Math.random() * posts);
  const answers = (response) => check(response, { 'is answered': (r) => r.status === 200 });
  answers(http.get(`${base}/feed`, { tags: { name: 'feed' } }));
  sleep(1);
  answers(http.get(`${base}/posts/${post}`, { tags: { name: 'post' } }));
  sleep(1);
  answers(http.get(`${base}/posts/${post}/comments`, { tags: { name: 'comments' } }));
  sleep(1);
  answers(http.post(`${base}/posts/${post}/likes`, null, { tags: { name: 'like' } }));
  sleep(1);
}
