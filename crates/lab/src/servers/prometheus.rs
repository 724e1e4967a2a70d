//! Prometheus, which scrapes the system's service.

use super::{Place, Server};
use crate::error::LabError;
use crate::http;
use crate::process::{self, Launch};

const PROGRAM: &str = "prometheus";

#[derive(Debug)]
pub(super) struct Prometheus;

impl Server for Prometheus {
    fn name(&self) -> &'static str {
        "prometheus"
    }

    fn package(&self) -> &'static str {
        "prometheus"
    }

    fn is_installed(&self) -> bool {
        process::find_program(PROGRAM).is_some()
    }

    fn port_count(&self) -> usize {
        1
    }

    fn prepare(&self, place: &Place) -> Result<Vec<Launch>, LabError> {
        let program = process::find_program(PROGRAM)
            .ok_or_else(|| LabError::start(self.name(), "it is not installed"))?;
        let settings = format!(
            "global: {{ scrape_interval: 1s }}\nscrape_configs:\n- job_name: service\n  static_configs: \
             [{{ targets: ['127.0.0.1:{}'] }}]\n",
            place.service_control_port
        );
        place.write("prometheus.yml", &settings)?;
        let launch = Launch::new(self.name(), program);
        let launch = launch.args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"]);
        Ok(vec![launch.args([format!("--web.listen-address={}", place.address(0))])])
    }

    fn is_ready(&self, place: &Place) -> bool {
        let answer = http::get(&format!("{}/-/ready", self.url(place)), None, super::PROBE_LIMIT);
        answer.is_ok_and(|(status, _)| status == 200)
    }

    fn url(&self, place: &Place) -> String {
        format!("http://127.0.0.1:{}", place.ports[0])
    }
}
