//! Prometheus, which scrapes the system's service.

use super::{Offer, Place, Server, path_of};
use crate::error::LabError;
use crate::http;
use crate::process::Launch;

#[derive(Debug)]
pub(super) struct Prometheus;

impl Server for Prometheus {
    fn name(&self) -> &'static str {
        "prometheus"
    }

    fn package(&self) -> &'static str {
        "prometheus"
    }

    fn program(&self) -> &'static str {
        "prometheus"
    }

    fn prepare(&self, place: &Place) -> Result<Vec<Launch>, LabError> {
        let settings = format!(
            "global: {{ scrape_interval: 1s }}\nscrape_configs:\n- job_name: service\n  static_configs: \
             [{{ targets: ['127.0.0.1:{}'] }}]\n",
            place.service_control_port
        );
        place.write("prometheus.yml", &settings)?;
        let launch = Launch::new(self.name(), path_of(self)?);
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

    fn offer(&self, place: &Place) -> Option<Offer> {
        Some(Offer { kind: "prometheus".to_owned(), address: self.url(place), password: None })
    }
}
