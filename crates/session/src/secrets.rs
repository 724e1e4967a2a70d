//! Secret sources, and the HTTP client for their servers.

use std::sync::Arc;

use redact::Redactor;
use remote::{Ask, Endpoint};
use runs::{Exit, Failure};
use script::{SECRET_BYTES_MAX, SecretReply, SecretRequest, SecretServer, Secrets};

use crate::env::Environment;

/// Reads the secret sources: `given` (the flag `--secret-source`), or else those of the variable. `redactor` learns their secrets.
///
/// # Errors
/// A source cannot be read.
pub fn read(given: &[String], env: &Environment, redactor: &Redactor) -> Result<Secrets, Failure> {
    let variable = env.setting("SECRET_SOURCE").map(str::to_owned);
    let given = match given.is_empty() {
        true => variable.into_iter().collect(),
        false => given.to_vec(),
    };
    let server = Arc::new(Network(Endpoint::new(SECRET_BYTES_MAX)));
    Secrets::read(&given, env.all(), server, redactor)
        .map_err(|error| Failure::new(Exit::Other, format!("failed to {error}")))
}

/// An HTTP client for requests outside the load.
struct Network(Endpoint);

impl SecretServer for Network {
    fn send(&self, request: &SecretRequest) -> Result<SecretReply, String> {
        let SecretRequest { method, url, headers, timeout } = request;
        self.0.send(&Ask { method, url, headers, timeout: *timeout })
    }
}
