//! NGINX. A system that needs more than its status page writes `*.conf` files into `sites` before it starts.

use super::{Offer, Place, Server, path_of};
use crate::error::LabError;
use crate::http;
use crate::process::{self, Launch};

/// Where its own numbers are (`ngx_http_stub_status_module`).
const STATUS: &str = "/lab/nginx";

/// Connections that it holds, those of its users and those to what is behind it, and the files that takes.
const CONNECTIONS_MAX: usize = 16_384;
const FILES_MAX: usize = CONNECTIONS_MAX + 64;

/// Connections that may wait until it takes them: all that come at once in a load test. The kernel may allow fewer.
const BACKLOG: usize = 4096;

#[derive(Debug)]
pub(super) struct Nginx;

impl Server for Nginx {
    fn name(&self) -> &'static str {
        "nginx"
    }

    fn package(&self) -> &'static str {
        "nginx"
    }

    fn program(&self) -> &'static str {
        "nginx"
    }

    fn prepare(&self, place: &Place) -> Result<Vec<Launch>, LabError> {
        prepare(self, place, &settings(place.ports[0], "", ""))
    }

    fn is_ready(&self, place: &Place) -> bool {
        is_ready(&self.url(place))
    }

    fn url(&self, place: &Place) -> String {
        format!("http://127.0.0.1:{}", place.ports[0])
    }

    fn offer(&self, place: &Place) -> Option<Offer> {
        let address = format!("{}{STATUS}", self.url(place));
        Some(Offer { kind: "nginx".to_owned(), address, password: None })
    }
}

/// Writes its settings, and says how it is started.
pub(super) fn prepare(server: &dyn Server, place: &Place, settings: &str) -> Result<Vec<Launch>, LabError> {
    place.write("nginx.conf", settings)?;
    let prefix = format!("{}/", place.directory.display());
    let launch = Launch::new(server.name(), path_of(server)?);
    Ok(vec![launch.args(["-e", "stderr", "-c", "nginx.conf", "-p", &prefix])])
}

/// Whether it shows its own numbers.
pub(super) fn is_ready(url: &str) -> bool {
    let answer = http::get(&format!("{url}{STATUS}"), None, super::PROBE_LIMIT);
    answer.is_ok_and(|(status, body)| status == 200 && body.starts_with("Active connections"))
}

/// Its settings: what `http` and `server` hold beside what every NGINX of the lab has.
pub(super) fn settings(port: u16, http: &str, server: &str) -> String {
    // Its workers would become another user, who may not enter the lab's directory.
    let user = if process::is_root() { "user root;\n" } else { "" };
    let folders: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("    {kind}_temp_path {kind};\n"))
        .collect();
    format!(
        "{user}daemon off;\nworker_processes 1;\nworker_rlimit_nofile {FILES_MAX};\npid nginx.pid;\n\
         error_log stderr;\nevents {{ worker_connections {CONNECTIONS_MAX}; }}\n\
         http {{\n    access_log off;\n{folders}    include sites/*.conf;\n{http}\
         \x20   server {{\n        listen 127.0.0.1:{port} backlog={BACKLOG};\n        location = {STATUS} {{ stub_status; }}\n\
         {server}    }}\n}}\n"
    )
}
