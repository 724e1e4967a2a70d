//! Resolves flags and variables to the settings of a session; one file per concern.

pub(crate) mod common;
mod lab;
mod page;
mod receiving;
mod script;

pub(crate) use common::compat;
pub(crate) use lab::lab_script;
pub(crate) use page::page_settings;
pub(crate) use receiving::receive_settings;
pub(crate) use script::{limits, refuse_kinds, script_env, source, source_within};
