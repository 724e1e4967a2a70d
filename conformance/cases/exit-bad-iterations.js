//! args: --iterations many
// A flag's value of the wrong kind.
export default function () {}
