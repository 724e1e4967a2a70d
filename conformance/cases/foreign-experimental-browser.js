// k6 has removed this module.
import 'k6/experimental/browser';

export default function () {}
