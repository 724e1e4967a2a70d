//! The verbs, one file each.

pub(crate) mod archive;
pub(crate) mod audit;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod deps;
pub(crate) mod export;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod merge;
pub(crate) mod new;
pub(crate) mod note;
pub(crate) mod pause;
pub(crate) mod prune;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod scale;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod split_test;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod version;
