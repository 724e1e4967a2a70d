//! A k6 script from a recording or a description: HAR, OpenAPI, Postman, curl, JMeter.
//!
//! Every kind of source becomes one [`plan`], and one writer makes the script of it. Values that a response returned and a later
//! request sent are extracted, not repeated; secrets become variables of the environment. What cannot be converted is named.
//!
//! The crate turns bytes into texts. It opens no files, sends no requests and runs no scripts.

mod correlate;
mod curl;
mod data;
mod error;
mod har;
mod jmx;
mod js;
mod kind;
mod openapi;
mod plan;
mod postman;
mod request;
mod secrets;
mod summary;
mod text;
mod tree;
mod url;
mod write;

use std::io::Read;

pub use error::DraftError;
pub use kind::{HEAD_BYTES, Kind};
pub use plan::Secret;

use plan::{Plan, count, each_call};

/// Bytes of a source that is read as a whole: all but HAR files, which are read entry by entry.
pub const WHOLE_BYTES_MAX: u64 = 64 << 20;

/// Requests of a script. A longer script is not read by people, and every VU holds a copy of it.
pub const CALLS_MAX: usize = 2_000;

/// How a script is written.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The source's name, for the comment at the top.
    pub source: String,
    /// The script's name, for the same.
    pub script: String,
    /// The beginning of the names of files beside the script.
    pub stem: String,
    /// VUs at the end of ramping up.
    pub vus: u32,
    /// Time with all VUs, such as `1m`.
    pub duration: String,
    /// Time until all VUs run.
    pub ramp_up: String,
    /// Longest think time that is taken from a recording, s.
    pub think_time_s_max: f64,
    /// Whether requests for scripts, styles, images, fonts and media are kept.
    pub keeps_static: bool,
    /// Whether requests to other sites than the first page's are kept.
    pub keeps_third_parties: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            source: "a file".to_owned(),
            script: "script.js".to_owned(),
            stem: "script".to_owned(),
            vus: 5,
            duration: "1m".to_owned(),
            ramp_up: "30s".to_owned(),
            think_time_s_max: 10.0,
            keeps_static: false,
            keeps_third_parties: false,
        }
    }
}

/// A script and all that belongs to it.
#[derive(Debug, Default)]
pub struct Draft {
    /// The script.
    pub script: String,
    /// Files beside it.
    pub files: Vec<DataFile>,
    /// Secrets that the source has and the script has not.
    pub secrets: Vec<Secret>,
    /// Variables that have no value in the source, with their places.
    pub unset: Vec<(String, String)>,
    /// Requests, groups and values of the script.
    pub counts: Counts,
    /// Requests that were left out.
    pub left_out: LeftOut,
    /// Parts that could not be converted, in sentences.
    pub notes: Vec<String>,
}

/// A file beside the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    /// Its name.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// The size of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests.
    pub requests: usize,
    /// Groups.
    pub groups: usize,
    /// Values that a response returns and a later request sends.
    pub correlated: usize,
}

/// Requests of a source that are not in the script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Scripts, styles, images, fonts, media.
    pub static_assets: usize,
    /// Requests to other sites.
    pub third_party: usize,
    /// Their hosts.
    pub hosts: Vec<String>,
    /// Requests that followed a redirect, which the script follows by itself.
    pub redirected: usize,
    /// Preflight requests, blocked and cancelled ones, other schemes than HTTP.
    pub other: usize,
}

/// Writes a script from a source.
///
/// # Errors
/// The source is not of this kind, has no request, or has more than can be read.
pub fn convert(kind: Kind, input: &mut dyn Read, settings: &Settings) -> Result<Draft, DraftError> {
    let (plan, left_out) = match kind {
        Kind::Har => har::read(input, settings)?,
        Kind::OpenApi => (openapi::read(&whole(input)?)?, LeftOut::default()),
        Kind::Postman => (postman::read(&whole(input)?)?, LeftOut::default()),
        Kind::Curl => (curl::read(&whole(input)?)?, LeftOut::default()),
        Kind::Jmx => (jmx::read(&whole(input)?)?, LeftOut::default()),
    };
    finish(kind, plan, left_out, settings)
}

fn finish(kind: Kind, mut plan: Plan, left_out: LeftOut, settings: &Settings) -> Result<Draft, DraftError> {
    plan.flows.retain(|flow| count(&flow.steps).0 > 0);
    if plan.flows.is_empty() {
        let left_out = left_out.static_assets + left_out.third_party;
        return Err(DraftError::Nothing { left_out, notes: plan.notes.into_texts() });
    }
    let mut counts = Counts::default();
    for flow in &plan.flows {
        let (calls, groups) = count(&flow.steps);
        counts.requests += calls;
        counts.groups += groups;
        counts.correlated += flow.variables.iter().filter(|(_, first)| first.is_empty()).count();
    }
    if counts.requests > CALLS_MAX {
        return Err(DraftError::TooMany { requests: counts.requests, kind });
    }
    for flow in &mut plan.flows {
        each_call(&mut flow.steps, &mut |call| {
            if call.name.trim().is_empty() {
                call.name = format!("{} {}", call.method, call.url.outline());
            }
        });
    }
    let (script, files) = write::write(&plan, settings);
    Ok(Draft {
        script,
        files,
        secrets: plan.secrets,
        unset: plan.unset,
        counts,
        left_out,
        notes: plan.notes.into_texts(),
    })
}

fn whole(input: &mut dyn Read) -> Result<String, DraftError> {
    let mut bytes = Vec::new();
    input.take(WHOLE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(DraftError::Read)?;
    if bytes.len() as u64 > WHOLE_BYTES_MAX {
        return Err(DraftError::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| DraftError::NotText)
}
