//! Servers of the lab for cases that need one.

use lab::{Alone, Server};

/// A server that runs for one case.
pub(crate) struct Service {
    pub(crate) url: String,
    pub(crate) port: u16,
    _running: Alone,
}

impl Service {
    /// Returns the name and password in the address, as they stand there.
    pub(crate) fn credentials(&self) -> String {
        let (before, _) = self.url.split_once('@').expect("servers of the lab have passwords");
        format!("{}@", before.rsplit('/').next().unwrap_or(before))
    }
}

/// Returns the server of this name.
pub(crate) fn named(name: &str) -> &'static dyn Server {
    let known = [lab::MARIADB, lab::MOSQUITTO, lab::RABBITMQ];
    known.into_iter().find(|server| server.name() == name).unwrap_or_else(|| panic!("no server is {name:?}"))
}

/// Returns whether a server is installed; in a check of everything it must be.
pub(crate) fn is_installed(server: &dyn Server) -> bool {
    let is_there = server.is_installed();
    assert!(is_there || std::env::var_os("PLIMSOLL_TESTS").is_none(), "{} is not installed", server.name());
    is_there
}

/// Starts a server. Errors continue "failed to".
pub(crate) fn start(server: &'static dyn Server) -> Result<Service, String> {
    let running = Alone::start(&[server]).map_err(|error| error.to_string())?;
    let port = running.ports(server.name()).first().copied().unwrap_or_default();
    Ok(Service { url: running.url(server.name()), port, _running: running })
}
