// The case that QuickJS is slow at: a global regular expression that finds little in 10 KB of text.

const TEXT = 'the quick brown fox jumps over the lazy dog, and '.repeat(205) + 'order-12345';

export const options = {
  scenarios: {
    scan: { executor: 'per-vu-iterations', vus: 1, iterations: Number(__ENV.SCANS), maxDuration: '5m' },
  },
};

export default function () {
  if (TEXT.match(/order-[0-9]+/g).length !== 1) {
    throw new Error('the scan missed the order');
  }
}
