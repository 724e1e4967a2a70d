// Sockets that send a message as soon as the echo of the last one is there: two of them per VU, 64 bytes of text.

import { WebSocket } from 'k6/websockets';

export const options = {
  scenarios: {
    busy: { executor: 'per-vu-iterations', vus: Number(__ENV.VUS), iterations: 1, maxDuration: '10m' },
  },
};

const text = 'x'.repeat(64);

export default function () {
  const end = Date.now() + Number(__ENV.SECONDS) * 1000;
  for (let number = 0; number < 2; number++) {
    const socket = new WebSocket(__ENV.URL);
    socket.onopen = () => socket.send(text);
    socket.onmessage = (event) => {
      if (event.data.length !== text.length) throw new Error('the echo differs');
      if (Date.now() < end) socket.send(text);
      else socket.close();
    };
  }
}
