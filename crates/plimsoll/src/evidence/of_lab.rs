//! The sources of a system of the lab: whoever loads one with its own script need not name them.

use std::path::Path;

use evidence::Settings;
use lab::State;

use crate::verbs::lab::SYSTEMS;

/// The service's own numbers.
const SERVICE: &str = "scrape";

/// What has scraped them already.
const PROMETHEUS: &str = "prometheus";

/// What the system tells whose script this is, while it is up: scripts of `lab/NAME`.
pub(super) fn sources(script: &Path) -> Vec<Settings> {
    let up = SYSTEMS
        .iter()
        .find(|system| is_of(script, system.name))
        .and_then(|system| lab::status(system).ok()?);
    up.filter(|status| status.is_supervised).map(|status| offered(&status.state)).unwrap_or_default()
}

/// Whether a script is in the folder of this system.
fn is_of(script: &Path, system: &str) -> bool {
    let Some(folder) = script.parent() else { return false };
    folder.ends_with(Path::new("lab").join(system))
}

fn offered(state: &State) -> Vec<Settings> {
    let source = |(name, offer): (&String, &lab::Offer)| Settings {
        name: name.clone(),
        kind: offer.kind.clone(),
        address: offer.address.clone(),
        credential: offer.password.clone(),
        ..Settings::default()
    };
    let mut sources: Vec<Settings> = state.offers.iter().map(source).collect();
    // The lab's own Prometheus tells the same.
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
}
