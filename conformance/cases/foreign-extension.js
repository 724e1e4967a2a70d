//! env: K6_AUTO_EXTENSION_RESOLUTION=false
// An extension that is not built in.
import sql from 'k6/x/sql';

export default function () {
  sql.open();
}
