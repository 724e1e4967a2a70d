//! args: --secret-source url=urlTemplate=http://127.0.0.1:1/secrets
// A template without a place for the key ends the run before it begins.
export default function () {}
