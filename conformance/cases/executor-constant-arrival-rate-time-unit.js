// timeUnit: 90 a minute are 3 in 2 s.
export const options = {
  scenarios: {
    a: { executor: 'constant-arrival-rate', rate: 90, timeUnit: '1m', duration: '1900ms', preAllocatedVUs: 1 },
  },
};

export default function () {}
