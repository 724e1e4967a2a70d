// No function to run.
export const options = { iterations: 1 };

export function other() {}
