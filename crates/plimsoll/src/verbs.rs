//! The verbs, one file each.

pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod inspect;
pub(crate) mod run;
pub(crate) mod version;
