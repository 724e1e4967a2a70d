//! tls: valid
// A remote module that is not there.
require(`${__ENV.TLS_BASE}/status/404`);

export default function () {}
