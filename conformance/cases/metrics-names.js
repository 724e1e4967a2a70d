// Which names and redeclarations are accepted.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const said = [];

function attempt(name, action) {
  try {
    action();
    said.push(`${name} accepted`);
  } catch (error) {
    said.push(`${name} refused`);
  }
}

attempt('letters', () => new Counter('abc'));
attempt('underscore', () => new Counter('_abc'));
attempt('digit first', () => new Counter('1abc'));
attempt('space', () => new Counter('a b'));
attempt('dash', () => new Counter('a-b'));
attempt('dot', () => new Counter('a.b'));
attempt('hangul', () => new Counter('한글'));
attempt('one letter', () => new Counter('a'));
attempt('two letters', () => new Counter('ab'));
attempt('128 letters', () => new Counter('x'.repeat(128)));
attempt('129 letters', () => new Counter('x'.repeat(129)));
attempt('130 letters', () => new Counter('x'.repeat(130)));
attempt('empty', () => new Counter(''));
attempt('no name', () => new Counter());
attempt('same type', () => new Counter('abc'));
attempt('other type', () => new Gauge('abc'));
attempt('other contents', () => {
  new Trend('time', true);
  new Trend('time');
});
attempt('built-in, same type', () => new Counter('http_reqs'));
attempt('built-in, other type', () => new Rate('http_reqs'));
attempt('without new', () => Counter('bare'));

export default function () {
  said.forEach((line) => console.log(line));
}
