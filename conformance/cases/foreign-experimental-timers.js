// k6 has removed this module.
import 'k6/experimental/timers';

export default function () {}
