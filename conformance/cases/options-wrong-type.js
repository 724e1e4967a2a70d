// A wrong type ends the run before it starts.
export const options = { vus: 'many' };

export default function () {}
