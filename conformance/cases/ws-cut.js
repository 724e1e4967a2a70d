// A WebSocket session that ends with its iteration has no duration; one that an exception in a k6/ws handler ends has one.
//! unordered
import { sleep } from 'k6';
import ws from 'k6/ws';
import { WebSocket } from 'k6/websockets';

const URL = `${__ENV.BASE.replace('http', 'ws')}/ws/echo`;

function once(exec) {
  return { executor: 'per-vu-iterations', vus: 1, iterations: 1, maxDuration: '1s', gracefulStop: '0s', exec };
}

export const options = {
  scenarios: {
    ending: once('ending'),
    waiting: once('waiting'),
    sleeping: once('sleeping'),
    throwing: once('throwing'),
    open: once('open'),
    openThrowing: once('openThrowing'),
  },
};

export function ending() {
  ws.connect(URL, {}, (socket) => socket.on('open', () => socket.close()));
}

export function waiting() {
  ws.connect(URL, {}, () => {});
}

export function sleeping() {
  ws.connect(URL, {}, (socket) => socket.on('open', () => sleep(60)));
}

export function throwing() {
  ws.connect(URL, {}, (socket) => {
    socket.on('open', () => {
      throw new Error('in a handler');
    });
  });
}

export function open() {
  const socket = new WebSocket(URL);
  socket.onopen = () => console.log('open');
}

export function openThrowing() {
  const socket = new WebSocket(URL);
  socket.onopen = () =>
    setTimeout(() => {
      throw new Error('in a timer');
    }, 5);
}
