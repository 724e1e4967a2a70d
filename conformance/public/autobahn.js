// A client of the Autobahn test suite's fuzzing server: each iteration runs one case and sends back what it receives.
//
//     BASE=ws://127.0.0.1:9001 API=ws CASES=301 plimsoll run conformance/public/autobahn.js
//
// API is `ws` (k6/ws) or `websockets` (k6/websockets), AGENT the name in the server's report, DEFLATE=1 offers compression.
import exec from 'k6/execution';
import ws from 'k6/ws';
import { WebSocket } from 'k6/websockets';

const { BASE, API = 'ws', AGENT = API, CASES = '1', VUS = '4', DEFLATE } = __ENV;
const CASE_LIMIT_MS = 120_000;

export const options = {
  scenarios: { cases: { executor: 'shared-iterations', vus: Number(VUS), iterations: Number(CASES), maxDuration: '2h' } },
};

const params = DEFLATE ? { compression: 'deflate' } : {};

function runLegacy(url) {
  ws.connect(url, params, (socket) => {
    socket.on('message', (text) => socket.send(text));
    socket.on('binaryMessage', (bytes) => socket.sendBinary(bytes));
    socket.setTimeout(() => socket.close(), CASE_LIMIT_MS);
  });
}

function runStandard(url) {
  const socket = new WebSocket(url, null, params);
  socket.binaryType = 'arraybuffer';
  const limit = setTimeout(() => socket.close(), CASE_LIMIT_MS);
  socket.onmessage = (event) => socket.send(event.data);
  socket.onclose = () => clearTimeout(limit);
  socket.onerror = () => {};
}

export default function () {
  const url = `${BASE}/runCase?case=${exec.scenario.iterationInTest + 1}&agent=${AGENT}`;
  (API === 'ws' ? runLegacy : runStandard)(url);
}

export function teardown() {
  ws.connect(`${BASE}/updateReports?agent=${AGENT}`, {}, () => {});
}
