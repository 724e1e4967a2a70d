//! args: --traces-output jaeger
// A kind of traces that there is not.
export default function () {}
