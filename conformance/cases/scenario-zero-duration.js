// A duration must be positive.
export const options = { vus: 1, duration: '0s' };

export default function () {}
