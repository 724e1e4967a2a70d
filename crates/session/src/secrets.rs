//! Secret sources, and the HTTP client for their servers.

use std::sync::Arc;

use redact::Redactor;
use remote::{Ask, Endpoint};
use runs::{Exit, Failure};
use script::{Handover, SECRET_BYTES_MAX, SecretReply, SecretRequest, SecretServer, Secrets, SecretsError};

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
    Secrets::read(&given, env.all(), network(), redactor).map_err(failed)
}

/// Secret sources that a hub has handed over.
///
/// # Errors
/// The settings of a server are invalid.
pub(crate) fn handed_over(sources: Handover, redactor: &Redactor) -> Result<Secrets, Failure> {
    Secrets::handed_over(sources, &network(), redactor).map_err(failed)
}

fn failed(error: SecretsError) -> Failure {
    Failure::new(Exit::Other, format!("failed to {error}"))
}

fn network() -> Arc<dyn SecretServer> {
    Arc::new(Network(Endpoint::new(SECRET_BYTES_MAX)))
}

/// An HTTP client for requests outside the load.
struct Network(Endpoint);

impl SecretServer for Network {
    fn send(&self, request: &SecretRequest) -> Result<SecretReply, String> {
        let SecretRequest { method, url, headers, timeout } = request;
        self.0.send(&Ask { method, url, headers, timeout: *timeout })
    }
}
