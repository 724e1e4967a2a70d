// k6 has removed this module.
import 'k6/experimental/webcrypto';

export default function () {}
