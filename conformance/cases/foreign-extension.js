//! env: K6_AUTO_EXTENSION_RESOLUTION=false
// An extension that is not built in.
import kafka from 'k6/x/kafka';

export default function () {
  kafka.open();
}
