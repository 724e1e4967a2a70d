//! The sources of secrets that were named, and how requests reach their servers.

use std::sync::Arc;

use remote::{Ask, Endpoint};
use runs::{Exit, Failure};
use script::{SECRET_BYTES_MAX, SecretReply, SecretRequest, SecretServer, Secrets};

use crate::env::Environment;
use crate::flags::GlobalFlags;

/// What `--secret-source` names, or else the variable.
///
/// # Errors
/// A source cannot be read.
pub(crate) fn read(flags: &GlobalFlags, env: &Environment) -> Result<Secrets, Failure> {
    let variable = env.setting("SECRET_SOURCE").map(str::to_owned);
    let given = match flags.secret_source.is_empty() {
        true => variable.into_iter().collect(),
        false => flags.secret_source.clone(),
    };
    let server = Arc::new(Network(Endpoint::new(SECRET_BYTES_MAX)));
    Secrets::read(&given, env.all(), server)
        .map_err(|error| Failure::new(Exit::Other, format!("failed to {error}")))
}

/// Requests that are no part of the load.
struct Network(Endpoint);

impl SecretServer for Network {
    fn send(&self, request: &SecretRequest) -> Result<SecretReply, String> {
        let SecretRequest { method, url, headers, timeout } = request;
        self.0.send(&Ask { method, url, headers, timeout: *timeout })
    }
}
