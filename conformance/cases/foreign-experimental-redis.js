// k6 has removed this module.
import 'k6/experimental/redis';

export default function () {}
