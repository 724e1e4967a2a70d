// The case that QuickJS is slow at: a global regular expression over 10 KB of text.

const TEXT = 'the quick brown fox jumps over the lazy dog 12345 '.repeat(205);

export const options = {
  scenarios: {
    scan: { executor: 'per-vu-iterations', vus: 1, iterations: Number(__ENV.SCANS), maxDuration: '5m' },
  },
};

export default function () {
  if (TEXT.match(/[0-9]+/g).length !== 205) {
    throw new Error('the scan missed a number');
  }
}
