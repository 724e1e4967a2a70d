//! `/about`: the version, and the scope and access rights of the page.

use api::page::About;
use server::PageError;

use super::json;

/// The scope of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// All runs of a catalogue.
    Serve,
    /// The run that this process executes.
    Run,
    /// A report file.
    Report,
}

impl Mode {
    /// Returns the scope's name in answers.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Mode::Serve => "serve",
            Mode::Run => "run",
            Mode::Report => "report",
        }
    }
}

pub(super) fn answer(mode: Mode, place: &str, run: Option<&str>) -> Result<String, PageError> {
    json(&About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        mode: mode.as_str(),
        place: place.to_owned(),
        run: run.map(str::to_owned),
        can_write: mode != Mode::Report,
    })
}
