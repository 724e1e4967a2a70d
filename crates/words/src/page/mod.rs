//! The texts of the page. `ui/src/texts.ts` is generated from them: `UPDATE_EXPECT=1 cargo test -p words` writes it anew.
//!
//! Keys that end in a name of the API (`strip_timer_lag`) are looked up by that name.

mod audit;
mod bottleneck;
mod capacity;
mod charts;
mod common;
mod comparison;
mod distribution;
mod evidence;
mod fleet;
mod frame;
mod keyboard;
mod live;
mod logs;
mod requests;
mod runs;
mod services;
mod summary;
mod traces;
mod validity;

#[cfg(test)]
mod tests;

/// A text of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageText {
    /// Its name in the page's sources.
    pub key: &'static str,
    /// Names of its arguments, in the order in which the page passes them.
    pub arguments: &'static [&'static str],
    /// English, with its arguments in braces.
    pub english: &'static str,
    /// Korean, with the same arguments.
    pub korean: &'static str,
}

/// Every text of the page, by screen.
pub const CATALOGUES: &[&[PageText]] = &[
    frame::TEXTS,
    common::TEXTS,
    runs::TEXTS,
    charts::TEXTS,
    summary::TEXTS,
    live::TEXTS,
    requests::TEXTS,
    distribution::TEXTS,
    logs::TEXTS,
    validity::TEXTS,
    fleet::TEXTS,
    audit::TEXTS,
    evidence::TEXTS,
    bottleneck::TEXTS,
    capacity::TEXTS,
    comparison::TEXTS,
    traces::TEXTS,
    services::TEXTS,
    keyboard::TEXTS,
];
