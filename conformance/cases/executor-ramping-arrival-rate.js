// The area under the curve: 0 to 20/s in 1 s, 20/s for 0.525 s, is 10 + 10.5.
export const options = {
  scenarios: {
    a: {
      executor: 'ramping-arrival-rate',
      startRate: 0,
      stages: [{ duration: '1s', target: 20 }, { duration: '525ms', target: 20 }],
      preAllocatedVUs: 4,
    },
  },
};

export default function () {}
