//! args: --traces-output otel=http://127.0.0.1:1,proto=x
// A protocol that there is not.
export default function () {}
