//! `/about`: what answers, and what it can do.

use api::page::About;
use server::PageError;

use super::json;
use super::library::Mode;

pub(super) fn answer(mode: Mode, place: &str, run: Option<&str>) -> Result<String, PageError> {
    json(&About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        mode: mode.as_str(),
        place: place.to_owned(),
        run: run.map(str::to_owned),
        can_write: mode != Mode::Report,
    })
}
