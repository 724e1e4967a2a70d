// Language model: time to first token, gaps between tokens, tokens per second, and answers that are cut.
//
// Questions arrive at a fixed rate, independent of the answers, so that a slow server does not get less load.
//
//   plimsoll run -e API=https://api.example/v1/chat/completions -e API_KEY=... -e MODEL=... examples/llm/chat.js

import { check } from 'k6';
import { chat } from 'plimsoll/stream';

const API = __ENV.API || 'http://127.0.0.1:8080/v1/chat/completions';
const MODEL = __ENV.MODEL || 'small';

export const options = {
  scenarios: {
    questions: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE || 5),
      timeUnit: '1s',
      duration: __ENV.DURATION || '30s',
      preAllocatedVUs: 20,
      maxVUs: 200,
      gracefulStop: '60s',
    },
  },
  thresholds: {
    llm_first_token: ['p(95)<1000'],
    llm_token_gap: ['p(99)<200'],
    llm_complete: ['rate>0.99'],
    dropped_iterations: ['count<1'],
  },
};

const QUESTIONS = [
  'How high may a ship be loaded?',
  'Who was Samuel Plimsoll?',
  'What is a load line?',
];

export default function () {
  const content = QUESTIONS[__ITER % QUESTIONS.length];
  const reply = chat(
    API,
    {
      model: MODEL,
      messages: [{ role: 'user', content }],
      stream_options: { include_usage: true },
      max_tokens: 200,
    },
    { headers: { Authorization: `Bearer ${__ENV.API_KEY || ''}` }, timeout: '60s' },
  );
  check(reply, {
    'status is 200': (it) => it.status === 200,
    'the answer is complete': (it) => it.complete,
  });
}
