// k6 has removed this module.
import 'k6/experimental/tracing';

export default function () {}
