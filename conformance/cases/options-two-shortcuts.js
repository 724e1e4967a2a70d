// Two shortcuts at one level exclude each other.
export const options = { iterations: 1, stages: [{ duration: '1s', target: 1 }] };

export default function () {}
