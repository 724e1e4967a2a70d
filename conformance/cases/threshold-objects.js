// Thresholds as objects.
export const options = {
  thresholds: { iterations: [{ threshold: 'count>0', abortOnFail: true, delayAbortEval: '1s' }, 'count<2'] },
};

export default function () {}
