// Starts at 0, 100, 200 … ms. Half a period is added so that no start races the end.
export const options = {
  scenarios: { a: { executor: 'constant-arrival-rate', rate: 10, duration: '1050ms', preAllocatedVUs: 2 } },
};

export default function () {}
