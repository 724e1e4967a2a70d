// A negative target.
export const options = { stages: [{ duration: '1s', target: -1 }] };

export default function () {}
