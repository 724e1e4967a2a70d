//! Jaeger, through version 3 of its API, which returns OTLP JSON.
//!
//! The tests use responses built from the published API (`jaeger-idl`, `proto/api_v3/query_service.proto`, as of Jaeger 2.11).

use otlp::{Decoded, Decoder};
use serde_json::Value;

use super::{Hits, JSON_BYTES_MAX, QUESTION_LIMIT, SERVICES_MAX, Search, Store, is_absent};
use crate::contract::{Check, Source, SourceError};
use crate::http::{self, Client, Door};
use crate::settings::{Settings, SettingsError};
use crate::sources::Kind;
use crate::wall;

/// This kind of source.
pub(in crate::sources) const KIND: Kind = Kind {
    name: "jaeger",
    provides: "Traces in Jaeger: those of the run's own requests, and others found by a search of its time range.",
    example: "http://localhost:16686",
    settings: &[
        ("service", "services whose traces are searched, separated by commas [default: the first ten]"),
        ("user", "user name for the credential"),
    ],
    open,
};

const JSON: &str = "application/json";

struct Jaeger {
    client: Client,
    services: Vec<String>,
}

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    let Door { base, authorization, .. } = http::door(settings)?;
    let services = super::services_of(settings)?;
    let client = Client::patient(&base, authorization, QUESTION_LIMIT);
    Ok(super::source(settings, KIND.name, base, Box::new(Jaeger { client, services })))
}

impl Store for Jaeger {
    fn probe(&self) -> Vec<Check> {
        vec![match self.known() {
            Ok(services) if services.is_empty() => {
                Check::lacks("services", "no traces yet", "export traces to this Jaeger")
            }
            Ok(services) => Check::works("services", services.join(", ")),
            Err(trouble) => {
                let remedy = "set address to the Jaeger query API, for example http://localhost:16686";
                Check::fails("services", trouble.message, remedy)
            }
        }]
    }

    fn services(&self) -> Result<Vec<String>, SourceError> {
        if self.services.is_empty() { self.known() } else { Ok(self.services.clone()) }
    }

    fn search(&self, search: &Search<'_>, decoder: &mut Decoder) -> Result<Hits, SourceError> {
        let mut parameters = vec![
            ("query.service_name", search.service.to_owned()),
            ("query.start_time_min", wall::utc(search.period.from.wall_ns)),
            ("query.start_time_max", wall::utc(search.period.to.wall_ns)),
            ("query.search_depth", search.traces_max.to_string()),
        ];
        if search.has_failed {
            parameters.push(("query.attributes", r#"{"error":"true"}"#.to_owned()));
        }
        let parameters: Vec<(&str, &str)> =
            parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let decoded = self.decoded("/api/v3/traces", &parameters, decoder)?;
        Ok(Hits { spans: decoded.unwrap_or_default().spans, ..Hits::default() })
    }

    fn trace(&self, number: u128, decoder: &mut Decoder) -> Result<Option<Decoded>, SourceError> {
        self.decoded(&format!("/api/v3/traces/{number:032x}"), &[], decoder)
    }
}

impl Jaeger {
    /// Returns the existing services, the first ones by name.
    fn known(&self) -> Result<Vec<String>, SourceError> {
        let answer = self.client.json("/api/v3/services", &[])?;
        let services = answer["services"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut services: Vec<String> = services.map(str::to_owned).collect();
        services.sort();
        services.truncate(SERVICES_MAX);
        Ok(services)
    }

    /// Returns the traces of a response; `None` if there are none, for which Jaeger has a status of its own.
    fn decoded(
        &self,
        path: &str,
        parameters: &[(&str, &str)],
        decoder: &mut Decoder,
    ) -> Result<Option<Decoded>, SourceError> {
        let bytes = match self.client.bytes(path, parameters, JSON, JSON_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(trouble) if is_absent(&trouble) => return Ok(None),
            Err(trouble) => return Err(trouble),
        };
        let refuse = |why: String| SourceError::new(format!("GET {}{path}: {why}", self.client.base()));
        read(&bytes, decoder).map(Some).map_err(refuse)
    }
}

/// Parses the spans of a response.
///
/// # Errors
/// The bytes are no such response.
fn read(bytes: &[u8], decoder: &mut Decoder) -> Result<Decoded, String> {
    let mut answer: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("the response is not JSON: {error}"))?;
    // Spans are wrapped in an envelope (api_v3, `GRPCGatewayWrapper`).
    let request = answer.get_mut("result").map(Value::take).unwrap_or_default().to_string();
    decoder.json(request.as_bytes()).map_err(|error| format!("failed to {error}"))
}

/// Checks the limits of any response.
#[cfg(test)]
pub(super) fn assert_bounded(bytes: &[u8]) {
    let mut decoder = Decoder::new(model::Epoch { at: model::Instant::ZERO, wall_unix_ns: 0 });
    let Ok(decoded) = read(bytes, &mut decoder) else { return };
    let spans = decoded.spans.len();
    let mut gathering = super::Gathering::default();
    gathering.take(decoded.spans.clone());
    gathering.take(decoded.spans);
    let kept: usize = gathering.traces.values().map(Vec::len).sum();
    assert!(kept == gathering.spans && kept <= spans && kept <= super::SPANS_MAX);
    assert!(gathering.traces.len() <= super::TRACES_MAX && gathering.spans_left_out <= 2 * spans);
}
