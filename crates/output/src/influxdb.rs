//! `--out influxdb`: every sample as a point of InfluxDB 1, 2 or 3.
//!
//! Measurements, tags and the field `value` are k6's, so that dashboards made for k6 work. Unlike k6, no two points of a
//! series share a timestamp (InfluxDB would keep only one of them), and a write that fails is tried again; since stamps
//! are fixed before the first attempt, a second write of the same points changes nothing.

mod line;
mod settings;
mod stamps;

use std::time::Duration;

use model::Instant;

use crate::net::{self, Entry, Exporter, Feed, HttpClient, Payload, SendError, gzip};
use crate::{Context, Kind, Output, OutputError};
use line::Lines;
use settings::{Api, Settings};

/// Points per write; InfluxData recommends 5,000 to 10,000.
const POINTS_PER_WRITE: u64 = 10_000;

pub(crate) const KIND: Kind = Kind {
    name: "influxdb",
    help: "influxdb[=URL/DATABASE]: every sample as a point; K6_INFLUXDB_ADDR, _DB, _USERNAME, _PASSWORD, _ORGANIZATION, \
           _BUCKET, _TOKEN, _TAGS_AS_FIELDS, _PUSH_INTERVAL and others; PLIMSOLL_INFLUXDB_API=v1, v2 or v3",
    open,
};

fn open(argument: &str, context: &Context) -> Result<Box<dyn Output>, OutputError> {
    let settings = Settings::read(argument, context)?;
    let http = HttpClient::new(&settings.address, &settings.http)?;
    let description = format!("influxdb ({}/{})", settings.address, settings.store);
    let push_interval = settings.push_interval;
    let lines = Lines::new(context.clone(), settings.fields.clone());
    let write_url = settings.write_url();
    let is_ready = settings.api != Api::V1;
    net::start(
        description,
        push_interval,
        Box::new(InfluxDb { settings, http, lines, write_url, is_ready, count: 0, body: Vec::new() }),
    )
}

struct InfluxDb {
    settings: Settings,
    http: HttpClient,
    lines: Lines,
    write_url: String,
    /// Whether the database was asked for.
    is_ready: bool,
    count: u64,
    body: Vec<u8>,
}

impl InfluxDb {
    /// Makes the database, as k6 does. Who may not make one may still write to one that exists.
    fn create_database(&mut self, within: Duration) -> Result<(), SendError> {
        if !self.is_ready {
            let answer = self.post(&self.settings.create_url(), &[], b"", within)?;
            if let Err(retry @ SendError::Retry { .. }) = answer.accepted() {
                return Err(retry);
            }
            self.is_ready = true;
        }
        Ok(())
    }

    fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
        within: Duration,
    ) -> Result<net::Answer, SendError> {
        let authorization = self.settings.authorization.as_deref().map(|value| ("Authorization", value));
        let headers: Vec<_> = headers.iter().copied().chain(authorization).collect();
        self.http.post(url, &headers, body, within)
    }
}

impl Exporter for InfluxDb {
    fn feed(&self) -> Feed {
        Feed::Samples
    }

    fn take(&mut self, entry: &Entry) -> u64 {
        let Entry::Samples(batch) = entry else { return 0 };
        let mut left_out = 0;
        for (sample, metadata) in batch.iter() {
            if self.lines.write(sample, metadata.as_ref(), &mut self.body) {
                self.count += 1;
            } else {
                left_out += 1;
            }
        }
        left_out
    }

    fn is_full(&self) -> bool {
        self.count >= POINTS_PER_WRITE
    }

    fn payloads(&mut self, _: Instant, _: bool) -> Vec<Payload> {
        if self.count == 0 {
            return Vec::new();
        }
        let payload = Payload { body: gzip(&self.body), count: std::mem::take(&mut self.count) };
        self.body.clear();
        vec![payload]
    }

    fn send(&mut self, payload: &Payload, within: Duration) -> Result<(), SendError> {
        self.create_database(within)?;
        let headers = [("Content-Encoding", "gzip"), ("Content-Type", "text/plain; charset=utf-8")];
        let answer = self.post(&self.write_url, &headers, &payload.body, within)?;
        match answer.accepted() {
            Err(SendError::Refused { why, .. }) => {
                Err(SendError::Refused { why, lost: dropped(&answer.body) })
            }
            outcome => outcome,
        }
    }

    fn note(&self, sent: u64, lost: u64) -> String {
        let mut note = match lost {
            0 => format!("{sent} samples sent = {sent} stored"),
            lost => format!("{sent} of {} samples stored, {lost} lost", sent.saturating_add(lost)),
        };
        for name in &self.settings.without_effect {
            note.push_str(&format!("; {name} has no effect"));
        }
        note
    }
}

/// How many points of a write were dropped, where the answer says so: `dropped=3` (version 1), or a list of refused lines
/// (version 3).
fn dropped(answer: &str) -> Option<u64> {
    if let Some((_, rest)) = answer.split_once("dropped=") {
        let digits = rest.split(|glyph: char| !glyph.is_ascii_digit()).next()?;
        // Lines that could not be parsed are not in this number; then it is zero and says nothing.
        return digits.parse().ok().filter(|dropped| *dropped > 0);
    }
    let answer: serde_json::Value = serde_json::from_str(answer).ok()?;
    Some(answer.get("data")?.as_array()?.len() as u64).filter(|dropped| *dropped > 0)
}

#[cfg(test)]
mod tests;
