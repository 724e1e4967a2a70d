//! Servers without a system, for tests that need nothing else: they end with what started them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use model::SystemClock;

use crate::error::LabError;
use crate::running::{self, Running};
use crate::servers::{self, Around, Offer, Place, Server};
use crate::{ports, state, supervisor};

/// Servers that do not answer by then do not work.
const START_LIMIT: Duration = Duration::from_secs(60);

/// How often they are asked.
const PERIOD: Duration = Duration::from_millis(20);

/// Servers of one's own. They are ended, and all they stored removed, when this is dropped or the thread that started them
/// ends.
#[derive(Debug)]
pub struct Alone {
    servers: Vec<(&'static dyn Server, Place)>,
    children: Vec<Running>,
    directory: PathBuf,
}

impl Alone {
    /// Starts them and waits until each answers.
    ///
    /// # Errors
    /// One does not.
    pub fn start(servers: &[&'static dyn Server]) -> Result<Alone, LabError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("plimsoll-alone-{}-{number}", std::process::id()));
        state::make_enterable(&directory)?;
        let mut alone = Alone { servers: Vec::new(), children: Vec::new(), directory };
        for server in servers {
            alone.add(*server)?;
        }
        let asked = SystemClock::now();
        while !alone.servers.iter().all(|(server, place)| server.is_ready(place)) {
            let ended =
                alone.children.iter_mut().find_map(|child| child.ended().map(|_| child.name().to_owned()));
            let is_late = SystemClock::now().since(asked) > START_LIMIT;
            let stuck = alone.servers.iter().find(|(server, place)| is_late && !server.is_ready(place));
            if let Some(name) = ended.or(stuck.map(|(server, _)| server.name().to_owned())) {
                let log = supervisor::end_of(&alone.directory.join(format!("{name}.log")));
                return Err(LabError::start(&name, format!("it does not answer{log}")));
            }
            std::thread::sleep(PERIOD);
        }
        Ok(alone)
    }

    /// How to reach a server; empty for one that was not started.
    pub fn url(&self, server: &str) -> String {
        let found = self.servers.iter().find(|(known, _)| known.name() == server);
        found.map(|(server, place)| server.url(place)).unwrap_or_default()
    }

    /// The ports that a server listens on, in its own order; none for one that was not started.
    pub fn ports(&self, server: &str) -> &[u16] {
        let found = self.servers.iter().find(|(known, _)| known.name() == server);
        found.map(|(_, place)| &place.ports[..]).unwrap_or_default()
    }

    /// The metrics endpoint of a server; `None` for one without, or one that was not started.
    pub fn offer(&self, server: &str) -> Option<Offer> {
        let (server, place) = self.servers.iter().find(|(known, _)| known.name() == server)?;
        server.offer(place)
    }

    /// Ends one of them before the others.
    pub fn end(&mut self, server: &str) {
        let children = std::mem::take(&mut self.children);
        let (mut ended, others) = children.into_iter().partition::<Vec<_>, _>(|child| child.name() == server);
        self.children = others;
        running::stop(&mut ended);
    }

    /// Where all they store is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn add(&mut self, server: &'static dyn Server) -> Result<(), LabError> {
        let place = Place {
            directory: self.directory.join(server.name()),
            ports: ports::free_ports(server.port_count())?,
            password: servers::password()?,
            service_control_port: 0,
            around: Around::default(),
        };
        state::make_enterable(&place.directory)?;
        for launch in server.prepare(&place)? {
            let log = self.directory.join(format!("{}.log", launch.name));
            self.children.push(Running::start(launch, &place.directory, &log)?);
        }
        self.servers.push((server, place));
        Ok(())
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        running::stop(&mut self.children);
        self.servers.iter().for_each(|(server, place)| server.sweep(&place.directory));
        // Whatever is left of it is among the temporary files.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
