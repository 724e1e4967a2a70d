//! Lab scripts: their runs find the system, its evidence sources and its spans without flags.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use evidence::Settings;
use lab::State;
use session::receiving::LabTraces;

use crate::lab_script::LabScript;
use crate::systems::SYSTEMS;

/// The offer with the service's own metrics.
const SERVICE: &str = "scrape";

/// The kind of a source that has scraped the service already.
const PROMETHEUS: &str = "prometheus";

/// Default receiver of the lab services' spans (OTLP over HTTP).
const SPANS_AT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 4318);

/// Share of requests with a trace context: low enough that tracing adds almost no load.
const SHARE: f64 = 0.1;

/// Shares for systems whose scripts send tasks: these are few, and every trace matters.
const SHARES_OF_TASKS: &[(&str, f64)] = &[("scan", 1.0)];

/// Queries for metrics that no pack knows, by system, signal and PromQL.
const QUERIES: &[(&str, &str, &str)] = &[("scan", "worker_count", "scan_workers")];

/// Returns the running lab system that this script belongs to: scripts of `lab/NAME`.
pub(crate) fn find(script: &Path) -> Option<LabScript> {
    let system = SYSTEMS.iter().find(|system| is_of(script, system.name))?;
    let status = lab::status(system).ok()??;
    status.is_supervised.then(|| LabScript {
        variable: (status.state.system.to_uppercase(), status.state.url.clone()),
        sources: offered(&status.state),
        traces: traces(&status.state),
    })
}

/// Returns the settings of a system's spans; `None` if they go to another receiver.
fn traces(state: &State) -> Option<LabTraces> {
    let address = state.otlp.as_deref().map_or(Some(SPANS_AT), own_address)?;
    let of_tasks = SHARES_OF_TASKS.iter().find(|(name, _)| *name == state.system);
    let share = of_tasks.map_or(SHARE, |(_, share)| *share);
    Some(LabTraces { system: state.system.clone(), address, share })
}

/// Returns true if a script is in the folder of this system.
fn is_of(script: &Path, system: &str) -> bool {
    let Some(folder) = script.parent() else { return false };
    folder.ends_with(Path::new("lab").join(system))
}

/// Returns the address of a base URL on this machine.
fn own_address(url: &str) -> Option<SocketAddr> {
    let place = url.strip_prefix("http://")?.trim_end_matches('/').replace("localhost", "127.0.0.1");
    place.parse::<SocketAddr>().ok().filter(|address| address.ip().is_loopback())
}

fn offered(state: &State) -> Vec<Settings> {
    let queries = QUERIES.iter().filter(|(system, ..)| *system == state.system);
    let queries = || queries.clone().map(|(_, name, query)| (format!("query.{name}"), (*query).to_owned()));
    let source = |(name, offer): (&String, &lab::Offer)| Settings {
        name: name.clone(),
        kind: offer.kind.clone(),
        address: offer.address.clone(),
        credential: offer.password.clone(),
        values: if offer.kind == PROMETHEUS { queries().collect() } else { Default::default() },
    };
    let mut sources: Vec<Settings> = state.offers.iter().map(source).collect();
    // The lab's own Prometheus has the same metrics.
    if !state.offers.values().any(|offer| offer.kind == PROMETHEUS) {
        sources.push(Settings {
            name: state.system.clone(),
            kind: SERVICE.to_owned(),
            address: format!("{}/metrics", state.control_url),
            ..Settings::default()
        });
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_of_a_system_are_in_its_folder() {
        let check =
            |script: &str, expect: bool| assert_eq!(is_of(Path::new(script), "scan"), expect, "{script}");
        check("lab/scan/polling.js", true);
        check("/x/lab/scan/polling.js", true);
        check("lab/feed/load.js", false);
        check("scan/polling.js", false);
        check("polling.js", false);
    }

    #[test]
    fn spans_are_received_where_they_go_on_this_machine() {
        let check = |url: &str, expect: Option<&str>| {
            let address = own_address(url).map(|address| address.to_string());
            assert_eq!(address.as_deref(), expect, "{url}");
        };
        check("http://127.0.0.1:4318", Some("127.0.0.1:4318"));
        check("http://localhost:5000/", Some("127.0.0.1:5000"));
        check("http://[::1]:4318", Some("[::1]:4318"));
        check("http://collector.example:4318", None);
        check("http://10.0.0.7:4318", None);
        check("127.0.0.1:4318", None);
    }
}
