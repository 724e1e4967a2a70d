//! args: --traces-output otel=localhost:4318
// An address without a scheme.
export default function () {}
