//! Tempo, through its HTTP API: TraceQL searches, and traces by id in protobuf.
//!
//! The tests use responses built from the published API, as of Tempo 2.9 (`/api/echo`, `/api/search`, `/api/traces`).

use otlp::{Decoded, Decoder};
use serde_json::Value;

use super::{ANSWER_BYTES_MAX, Hits, QUESTION_LIMIT, Search, Store, is_absent};
use crate::contract::{Check, Source, SourceError};
use crate::http::{self, Client, Door};
use crate::settings::{Settings, SettingsError};
use crate::sources::Kind;

/// This kind of source.
pub(in crate::sources) const KIND: Kind = Kind {
    name: "tempo",
    provides: "Traces in Tempo: those of the run's own requests, and others found by a search of its time range.",
    example: "http://localhost:3200",
    settings: &[
        ("service", "services whose traces are searched, separated by commas [default: any]"),
        ("query", "your own TraceQL query, instead of service"),
        ("tenant", "tenant, for a multi-tenant Tempo"),
        ("user", "user name for the credential"),
    ],
    open,
};

/// Media type of protobuf (Tempo, "Query").
const PROTOBUF: &str = "application/protobuf";

struct Tempo {
    client: Client,
    services: Vec<String>,
    query: Option<String>,
}

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    let Door { base, authorization, .. } = http::door(settings)?;
    let services = super::services_of(settings)?;
    let client = Client::patient(&base, authorization, QUESTION_LIMIT);
    let client = client.of_tenant(settings.values.get("tenant"));
    let query = settings.values.get("query").cloned();
    Ok(super::source(settings, KIND.name, base, Box::new(Tempo { client, services, query })))
}

impl Store for Tempo {
    fn probe(&self) -> Vec<Check> {
        if let Err(trouble) = self.client.text("/api/echo", &[]) {
            let remedy = "set address to the Tempo API, for example http://localhost:3200";
            return vec![Check::fails("api", trouble.message, remedy)];
        }
        let search = match self.client.json("/api/search", &[("q", &self.query("", false)), ("limit", "1")]) {
            Ok(_) => Check::works("search", "it answers"),
            Err(trouble) => Check::lacks(
                "search",
                trouble.message,
                "query = \"{ resource.service.name = \\\"shop\\\" }\"",
            ),
        };
        vec![Check::works("api", "there"), search]
    }

    fn services(&self) -> Result<Vec<String>, SourceError> {
        // One search for any service.
        Ok(if self.services.is_empty() || self.query.is_some() {
            vec![String::new()]
        } else {
            self.services.clone()
        })
    }

    fn search(&self, search: &Search<'_>, _decoder: &mut Decoder) -> Result<Hits, SourceError> {
        if search.has_failed && self.query.is_some() {
            // The user's own query is sent unchanged.
            return Ok(Hits::default());
        }
        let seconds = |wall_ns: i64| wall_ns.div_euclid(1_000_000_000);
        let parameters = [
            ("q", &*self.query(search.service, search.has_failed)),
            ("start", &*seconds(search.period.from.wall_ns).to_string()),
            // The end is exclusive, and a run may end within a second.
            ("end", &*(seconds(search.period.to.wall_ns) + 1).to_string()),
            ("limit", &*search.traces_max.to_string()),
            ("spss", "1"),
        ];
        let answer = self.client.json("/api/search", &parameters)?;
        let traces = answer["traces"].as_array().into_iter().flatten().take(search.traces_max);
        Ok(Hits { numbers: traces.filter_map(number).collect(), ..Hits::default() })
    }

    fn trace(&self, number: u128, decoder: &mut Decoder) -> Result<Option<Decoded>, SourceError> {
        let path = format!("/api/traces/{number:032x}");
        let bytes = match self.client.bytes(&path, &[], PROTOBUF, ANSWER_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(trouble) if is_absent(&trouble) => return Ok(None),
            Err(trouble) => return Err(trouble),
        };
        // A trace of Tempo has its spans in the same field as an OTLP request.
        let decoded = decoder.protobuf(&bytes);
        let failed = |error| SourceError::new(format!("GET {}{path}: failed to {error}", self.client.base()));
        decoded.map(Some).map_err(failed)
    }
}

impl Tempo {
    fn query(&self, service: &str, has_failed: bool) -> String {
        if let Some(query) = &self.query {
            return query.clone();
        }
        let of_service =
            (!service.is_empty()).then(|| format!("resource.service.name = {}", quoted(service)));
        let of_failed = has_failed.then(|| "status = error".to_owned());
        let conditions: Vec<String> = of_service.into_iter().chain(of_failed).collect();
        format!("{{ {} }}", conditions.join(" && "))
    }
}

/// Quotes a text for TraceQL.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Parses a trace id, whose leading zeros may be missing.
pub(super) fn number(trace: &Value) -> Option<u128> {
    u128::from_str_radix(trace["traceID"].as_str()?, 16).ok().filter(|number| *number != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_traceql() {
        let tempo = |query: Option<&str>| Tempo {
            client: Client::new("http://h", None),
            services: Vec::new(),
            query: query.map(str::to_owned),
        };
        let check = |service: &str, has_failed: bool, expect: &str| {
            assert_eq!(tempo(None).query(service, has_failed), expect);
        };
        check("", false, "{  }");
        check("shop", false, "{ resource.service.name = \"shop\" }");
        check("a\"b\\", true, "{ resource.service.name = \"a\\\"b\\\\\" && status = error }");
        assert_eq!(tempo(Some("{ .x = 1 }")).query("shop", true), "{ .x = 1 }");
    }

    #[test]
    fn numbers_may_lack_their_zeros() {
        let check = |text: &str, expect: Option<u128>| {
            assert_eq!(number(&serde_json::json!({ "traceID": text })), expect, "{text}");
        };
        check("2f3e0cee77ae5dc9c17ade3689eb2e54", Some(0x2f3e_0cee_77ae_5dc9_c17a_de36_89eb_2e54));
        check("1b", Some(27));
        check("0", None);
        check("xyz", None);
        check("", None);
    }
}
