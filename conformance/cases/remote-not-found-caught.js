//! tls: valid
// require() of a remote module that is not there throws.
let outcome = 'loaded';
try {
  require(`${__ENV.TLS_BASE}/status/404`);
} catch (error) {
  outcome = 'threw';
}
console.log(outcome);
exports.default = function () {};
