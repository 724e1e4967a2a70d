//! Free ports of the loopback interface.

use std::net::TcpListener;

use crate::error::LabError;

/// Returns this many different ports without a listener.
///
/// Another process can take one before it is used; then the server that was to listen there logs an error.
pub(crate) fn free(count: usize) -> Result<Vec<u16>, LabError> {
    // All are held until the last is known, or the kernel might give one twice.
    let held: Result<Vec<TcpListener>, std::io::Error> =
        (0..count).map(|_| TcpListener::bind(("127.0.0.1", 0))).collect();
    let ports = held.and_then(|held| {
        held.iter().map(|listener| listener.local_addr().map(|address| address.port())).collect()
    });
    ports.map_err(|error| LabError::Other(format!("find a free port: {error}")))
}
