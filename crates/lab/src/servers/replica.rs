//! A further process of a system: the program itself, with its assignment in a file of its own.

use std::collections::BTreeMap;

use super::{PROBE_LIMIT, Place, Server};
use crate::assignment::Assignment;
use crate::error::LabError;
use crate::http;
use crate::process::Launch;
use crate::supervisor::SERVE_WORD;

/// The purposes of its ports, in order.
const USERS: usize = 0;
const CONTROL: usize = 1;

/// The name by which a part knows the system's service among its servers.
pub(crate) const SERVICE: &str = "service";

/// A part of a system that is a process of its own, so that it can end alone. It is served by [`crate::System::serve`] with an
/// assignment that names it.
#[derive(Debug)]
pub struct Replica {
    /// Its name: `proxy-1`.
    pub name: &'static str,
    /// The variants that have it.
    pub variants: &'static [&'static str],
}

impl Server for Replica {
    fn name(&self) -> &'static str {
        self.name
    }

    fn package(&self) -> &'static str {
        ""
    }

    fn program(&self) -> &'static str {
        ""
    }

    /// It is this program.
    fn is_installed(&self) -> bool {
        true
    }

    fn is_needed(&self, variant: &str) -> bool {
        self.variants.contains(&variant)
    }

    fn port_count(&self) -> usize {
        2
    }

    fn prepare(&self, place: &Place) -> Result<Vec<Launch>, LabError> {
        let around = &place.around;
        let service = format!("http://127.0.0.1:{}", around.service_port);
        let assignment = Assignment {
            system: around.system.clone(),
            variant: around.variant.clone(),
            part: self.name.to_owned(),
            port: place.ports[USERS],
            control_port: place.ports[CONTROL],
            log: place.file("log.jsonl"),
            otlp: around.otlp.clone(),
            refresh_s: around.refresh_s,
            servers: BTreeMap::from([(SERVICE.to_owned(), service)]),
        };
        assignment.write(&place.directory)?;
        let own = std::env::current_exe().map_err(|error| LabError::start(self.name, error.to_string()))?;
        let launch = Launch::new(self.name, own).args(["lab", SERVE_WORD, &around.system]);
        Ok(vec![launch.args([place.directory.display().to_string()])])
    }

    fn is_ready(&self, place: &Place) -> bool {
        let answer = http::get(&format!("{}/ready", self.url(place)), None, PROBE_LIMIT);
        answer.is_ok_and(|(status, _)| status == 200)
    }

    /// Where it is ready, shows its metrics and takes faults.
    fn url(&self, place: &Place) -> String {
        format!("http://127.0.0.1:{}", place.ports[CONTROL])
    }
}
