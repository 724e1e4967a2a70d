//! Profiles that a program exposes over HTTP, as Go's `net/http/pprof` does.
//!
//! A profile is taken periodically during a run, and the busiest one is kept: it shows the program when it was nearest to its
//! limit.

mod message;

use std::collections::BTreeMap;
use std::time::Duration;

use model::{Datum, Evidence, Instant, Record, RecordKind};

use super::Kind;
use crate::contract::{About, CALL_LIMIT, Check, Moment, Period, Source, SourceError};
use crate::http::{self, Client, Door};
use crate::lines::harmless;
use crate::settings::{Settings, SettingsError};
use message::Profile;

/// This kind of source.
pub(super) const KIND: Kind = Kind {
    name: "pprof",
    provides: "On-demand profiles, as from Go's net/http/pprof: the busiest one of the run.",
    example: "http://localhost:6060",
    settings: &[
        ("seconds", "duration of each profile in seconds, 1 to 6 [default: 3]"),
        ("every", "interval between profiles [default: 15s]"),
        ("user", "user name for the credential"),
    ],
    open,
};

/// Default path, as in Go programs.
const USUAL_PATH: &str = "/debug/pprof/profile";
/// Default duration of a profile, seconds.
const SECONDS: u64 = 3;
const SECONDS_MAX: u64 = 6;
/// Default interval between profiles; the minimum is the duration of one.
const EVERY: Duration = Duration::from_secs(15);
/// Maximum size of a response, bytes.
const ANSWER_BYTES_MAX: u64 = 4 << 20;
/// Maximum length of a profile type's name.
const NAME_CHARS_MAX: usize = 60;

struct Pprof {
    about: About,
    client: Client,
    path: String,
    seconds: u64,
    every: Duration,
    taken: u32,
    /// Rate of the busiest profile, and its record.
    busiest: Option<(f64, Record)>,
}

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    let Door { base, authorization, .. } = http::door(settings)?;
    let seconds = settings.text("seconds", &SECONDS.to_string()).parse::<u64>();
    let seconds = seconds.ok().filter(|seconds| (1..=SECONDS_MAX).contains(seconds));
    let seconds = seconds.ok_or_else(|| settings.wrong("seconds", "expected a number from 1 to 6"))?;
    let every = settings.duration("every", EVERY)?;
    if every < Duration::from_secs(seconds) {
        return Err(settings.wrong("every", "it must not be shorter than a profile takes"));
    }
    let has_path = base.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
    let path = if has_path { String::new() } else { USUAL_PATH.to_owned() };
    Ok(Box::new(Pprof {
        about: About { name: settings.name.clone(), kind: KIND.name, address: format!("{base}{path}") },
        // Less than the limit of a call, and longer than a profile takes.
        client: Client::patient(&base, authorization, CALL_LIMIT - Duration::from_secs(1)),
        path,
        seconds,
        every,
        taken: 0,
        busiest: None,
    }))
}

impl Source for Pprof {
    fn about(&self) -> About {
        self.about.clone()
    }

    fn probe(&mut self) -> Vec<Check> {
        vec![match self.profile(1) {
            Ok(profile) => Check::works("profile", format!("{} stacks in a second", profile.sample.len())),
            Err(trouble) => {
                let remedy =
                    "import _ \"net/http/pprof\" in the Go program, and set address to its HTTP server";
                Check::fails("profile", trouble.message, remedy)
            }
        }]
    }

    fn period(&self) -> Option<Duration> {
        Some(self.every)
    }

    fn sample(&mut self, now: Moment) -> Result<Evidence, SourceError> {
        let profile = self.profile(self.seconds)?;
        self.taken += 1;
        let (flame, kind, unit) = profile.flame();
        let seconds = match profile.duration_nanos {
            ns if ns > 0 => ns as f64 / 1e9,
            _ => self.seconds as f64,
        };
        let per_s = flame.total() / seconds;
        if per_s > 0.0 && self.busiest.as_ref().is_none_or(|(busiest, _)| per_s > *busiest) {
            let mut fields = flame.lines();
            fields.insert("unit".to_owned(), harmless(unit, NAME_CHARS_MAX).into());
            fields.insert("profile_s".to_owned(), seconds.into());
            fields.insert("stacks_left_out".to_owned(), (profile.left_out() as f64).into());
            fields.insert(
                "query".to_owned(),
                format!("GET {}?seconds={}", self.about.address, self.seconds).into(),
            );
            let record = self.record(harmless(kind, NAME_CHARS_MAX), now.at, fields);
            self.busiest = Some((per_s, record));
        }
        Ok(Evidence::default())
    }

    fn look_back(&mut self, _period: &Period) -> Result<Evidence, SourceError> {
        if self.taken == 0 {
            return Err(SourceError::new("profiles can only be taken during a run"));
        }
        let records = self.busiest.take().map(|(_, mut record)| {
            record.fields.insert("profiles_taken".to_owned(), f64::from(self.taken).into());
            record
        });
        Ok(Evidence { records: records.into_iter().collect(), ..Evidence::default() })
    }
}

impl Pprof {
    fn profile(&self, seconds: u64) -> Result<Profile, SourceError> {
        let parameters = [("seconds", &*seconds.to_string())];
        let bytes = self.client.bytes(&self.path, &parameters, "*/*", ANSWER_BYTES_MAX)?;
        Profile::read(&bytes).map_err(|why| SourceError::new(format!("GET {}: {why}", self.about.address)))
    }

    fn record(&self, subject: String, at: Instant, fields: BTreeMap<String, Datum>) -> Record {
        Record { source: self.about.name.clone(), kind: RecordKind::Profile, at, subject, fields }
    }
}

#[cfg(test)]
mod tests;
