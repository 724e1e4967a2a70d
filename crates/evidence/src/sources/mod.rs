//! The kinds of sources, one file each.

mod celery;
mod host;
mod kubernetes;
mod log;
mod loki;
mod nginx;
mod postgresql;
mod pprof;
mod prometheus;
mod pyroscope;
mod rabbitmq;
mod redis;
mod scrape;
mod traces;

use crate::contract::Source;
use crate::settings::{Settings, SettingsError, nearest};

pub use host::{PATH as MACHINE_PATH, reading as machine};

/// A kind of source.
pub struct Kind {
    /// Name in settings and flags.
    pub name: &'static str,
    /// The evidence that it provides, in one sentence.
    pub provides: &'static str,
    /// An example address.
    pub example: &'static str,
    /// Settings besides the address, each with its description.
    pub settings: &'static [(&'static str, &'static str)],
    /// Creates a source. Makes no query.
    pub open: fn(&Settings) -> Result<Box<dyn Source>, SettingsError>,
}

/// All kinds, in display order.
pub const KINDS: &[Kind] = &[
    prometheus::KIND,
    scrape::KIND,
    postgresql::KIND,
    rabbitmq::KIND,
    redis::KIND,
    nginx::KIND,
    celery::KIND,
    kubernetes::KIND,
    log::KIND,
    loki::KIND,
    traces::TEMPO,
    traces::JAEGER,
    pyroscope::KIND,
    pprof::KIND,
    host::KIND,
];

/// Settings of every kind, read before the source is created.
const SHARED: [&str; 3] = ["kind", "address", "password_file"];

/// Creates the source of these settings. Makes no query.
///
/// # Errors
/// The kind is unknown, or a setting is invalid.
pub fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    let Some(kind) = KINDS.iter().find(|kind| kind.name == settings.kind) else {
        let known = KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
        let (name, kind) = (settings.name.clone(), settings.kind.clone());
        let nearest = nearest(&kind, KINDS.iter().map(|kind| kind.name));
        return Err(SettingsError::Kind { name, kind, nearest, known });
    };
    let is_known = |setting: &str| kind.settings.iter().any(|(known, _)| is_setting(setting, known));
    if let Some(setting) = settings.values.keys().find(|setting| !is_known(setting)) {
        let of_kind = kind.settings.iter().map(|(known, _)| *known);
        return Err(SettingsError::Unknown {
            name: settings.name.clone(),
            kind: kind.name.to_owned(),
            setting: setting.clone(),
            nearest: nearest(setting, SHARED.into_iter().chain(of_kind.clone())),
            known: of_kind.collect::<Vec<_>>().join(", "),
        });
    }
    (kind.open)(settings)
}

/// Returns true if a setting is known; `query.NAME` stands for all that begin with `query.`.
fn is_setting(setting: &str, known: &str) -> bool {
    match known.strip_suffix("NAME") {
        Some(prefix) => setting.strip_prefix(prefix).is_some_and(|name| !name.is_empty()),
        None => setting == known,
    }
}
