// What an option of each type looks like after it was read.
import exec from 'k6/execution';
import { sorted } from './fixtures/sorted.js';

export const options = {
  stages: [{ duration: '100ms', target: 1 }],
  rps: 1000,
  dns: { ttl: '0', select: 'roundRobin', policy: 'any' },
  hosts: { 'a.test': '127.0.0.1', 'b.test:80': '127.0.0.1:8080' },
  blacklistIPs: ['10.0.0.0/8'],
  blockHostnames: ['*.c.test'],
  tlsVersion: 'tls1.2',
  tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
  thresholds: { iterations: [{ threshold: 'count>=0', abortOnFail: true, delayAbortEval: '10s' }] },
  summaryTrendStats: ['med'],
  summaryTimeUnit: 's',
  systemTags: ['url', 'vu'],
  tags: { x: 'y' },
  httpDebug: '',
  minIterationDuration: 50,
  setupTimeout: '1m',
  cloud: { name: 'kept' },
};

let said = false;

export default function () {
  if (said) {
    return;
  }
  said = true;
  const all = exec.test.options;
  for (const name of Object.keys(all).sort()) {
    if (all[name] !== null && all[name] !== undefined) {
      console.log(name, sorted(all[name]));
    }
  }
}
