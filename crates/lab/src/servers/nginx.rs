//! NGINX. A system that needs more than its status page writes `*.conf` files into `sites` before it starts.

use super::{Place, Server, path_of};
use crate::error::LabError;
use crate::http;
use crate::process::{self, Launch};

/// Where its own numbers are (`ngx_http_stub_status_module`).
const STATUS: &str = "/lab/nginx";

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
        place.write("nginx.conf", &settings(place.ports[0]))?;
        let prefix = format!("{}/", place.directory.display());
        Ok(vec![Launch::new(self.name(), path_of(self)?).args([
            "-e",
            "stderr",
            "-c",
            "nginx.conf",
            "-p",
            &prefix,
        ])])
    }

    fn is_ready(&self, place: &Place) -> bool {
        let answer = http::get(&format!("{}{STATUS}", self.url(place)), None, super::PROBE_LIMIT);
        answer.is_ok_and(|(status, body)| status == 200 && body.starts_with("Active connections"))
    }

    fn url(&self, place: &Place) -> String {
        format!("http://127.0.0.1:{}", place.ports[0])
    }
}

fn settings(port: u16) -> String {
    // Its workers would become another user, who may not enter the lab's directory.
    let user = if process::is_root() { "user root;\n" } else { "" };
    let folders: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("    {kind}_temp_path {kind};\n"))
        .collect();
    format!(
        "{user}daemon off;\nworker_processes 1;\npid nginx.pid;\nerror_log stderr;\n\
         events {{ worker_connections 4096; }}\n\
         http {{\n    access_log off;\n{folders}    include sites/*.conf;\n\
         \x20   server {{\n        listen 127.0.0.1:{port};\n        location = {STATUS} {{ stub_status; }}\n    }}\n}}\n"
    )
}
