// k6 has removed this module.
import 'k6/experimental/grpc';

export default function () {}
