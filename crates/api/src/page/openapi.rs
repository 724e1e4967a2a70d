//! The published description of `/api/v1`, written from the types.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::{
    About, ApiError, CapacityPage, ComparePage, Distribution, Ended, Errors, Evidence, FleetPage, Generator,
    LiveThresholds, LogRow, Logs, NoteAnswer, ReportDocument, Requests, Reset, RunList, RunPage, Series,
    Services, Thresholds, Tick, TracePage, Traces, ValidityPage,
};
use crate::audit::AuditReport;
use crate::diagnosis::DiagnosisReport;
use crate::history::History;

/// Parameters of answers about a run.
const PART: &[&str] = &["from", "to", "lang"];

/// Parameters of answers about a metric of a run.
const METRIC: &[&str] = &["metric", "tags", "from", "to", "lang"];

/// Parameters of a search for traces.
const TRACES: &[&str] =
    &["service", "operation", "min_ms", "max_ms", "status", "kept", "q", "limit", "from", "to", "lang"];

struct Paths {
    generator: SchemaGenerator,
    paths: Map<String, Value>,
}

impl Paths {
    fn get<T: JsonSchema>(&mut self, path: &str, summary: &str, query: &[&str]) {
        let schema = self.generator.subschema_for::<T>();
        self.add(path, "get", summary, query, &json!({ "200": content("application/json", &schema.into()) }));
    }

    fn put<T: JsonSchema>(&mut self, path: &str, summary: &str, body: Value) {
        let schema = self.generator.subschema_for::<T>();
        self.add(path, "put", summary, &[], &json!({ "200": content("application/json", &schema.into()) }));
        self.paths[path]["put"]["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": body } } });
    }

    fn add(&mut self, path: &str, method: &str, summary: &str, query: &[&str], answers: &Value) {
        let named =
            |name: &'static str| path.contains(&format!("{{{name}}}")).then_some((name, "path", true));
        let in_path = named("id").into_iter().chain(named("trace"));
        let in_query = query.iter().map(|name| (*name, "query", false));
        let header = (method != "get").then_some(("X-Plimsoll", "header", true));
        let parameter = |(name, place, required): (&str, &str, bool)| json!({ "name": name, "in": place, "required": required, "schema": { "type": "string" } });
        let parameters: Vec<Value> = in_path.chain(in_query).chain(header).map(parameter).collect();
        let mut answers = answers.clone();
        let error = self.generator.subschema_for::<ApiError>();
        answers["default"] = content("application/json", &error.into());
        let operation = json!({ "summary": summary, "parameters": parameters, "responses": answers });
        let known = self.paths.entry(path).or_insert_with(|| json!({}));
        known[method] = operation;
    }
}

fn content(kind: &str, schema: &Value) -> Value {
    json!({ "description": "", "content": { kind: { "schema": schema } } })
}

/// The rules that hold for every answer.
const RULES: &str = "\
Answers of the API that the page reads.

- Keys are camelCase. Times `t` are seconds from the run's first window and may have a fraction; keys that end in `Ms` are \
milliseconds; wall-clock times are RFC 3339 in UTC. Shares are of 1, durations are in milliseconds, data is in bytes.
- `null` means that there is no value; a key beside it gives the reason.
- Strings from scripts and servers are untrusted. Show them as text only.
- `lang=en|ko` (default `en`) changes sentences, never keys or numbers.
- `from` and `to` (whole seconds, `to` exclusive) restrict an answer about a run to these windows.
- Errors have a status of 4xx or 5xx and the shape `ApiError`. Answers to GET have an ETag; `If-None-Match` returns 304.
- Requests that change something need the header `X-Plimsoll: 1`, a JSON body and the same origin.
- Events have an id. A client that reconnects with `Last-Event-ID` continues after it; the event `reset` means that the client \
has to fetch everything again.";

fn document() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut all = Paths { generator: settings.into_generator(), paths: Map::new() };
    let run = "/api/v1/runs/{id}";
    all.get::<About>("/api/v1/about", "What answers, and what it can do.", &[]);
    all.get::<RunList>(
        "/api/v1/runs",
        "Runs, the newest first.",
        &["script", "tag", "status", "limit", "before"],
    );
    all.get::<RunPage>(run, "A run, or a part of it.", PART);
    all.get::<Series>(
        &format!("{run}/series"),
        "Columns over time.",
        &["metric", "tags", "from", "to", "step"],
    );
    all.get::<Requests>(&format!("{run}/requests"), "Requests by scenario, group and endpoint.", PART);
    all.get::<Distribution>(&format!("{run}/distribution"), "How a trend's values are spread.", METRIC);
    all.get::<Errors>(&format!("{run}/errors"), "What went wrong.", PART);
    all.get::<Logs>(&format!("{run}/logs"), "Lines of the log.", &["after", "level", "limit", "q"]);
    all.get::<Generator>(&format!("{run}/generator"), "What the generator was doing.", PART);
    all.get::<ValidityPage>(&format!("{run}/validity"), "Whether the numbers can be trusted.", PART);
    all.get::<FleetPage>(&format!("{run}/fleet"), "The agents that made the load.", &[]);
    all.get::<AuditReport>(&format!("{run}/audit"), "Mistakes that arithmetic can catch.", &[]);
    all.get::<CapacityPage>(
        &format!("{run}/capacity"),
        "How much load the target bears, from this run and those beside it.",
        &["lang"],
    );
    all.get::<DiagnosisReport>(
        &format!("{run}/diagnosis"),
        "What limits the target, and how that is known.",
        &[],
    );
    all.get::<ReportDocument>(
        &format!("{run}/report"),
        "The whole report, chapter by chapter, always on the whole run.",
        &["lang"],
    );
    all.get::<Evidence>(&format!("{run}/evidence"), "What the servers did meanwhile.", PART);
    all.get::<Thresholds>(&format!("{run}/thresholds"), "Thresholds over time.", &["lang"]);
    all.get::<Traces>(&format!("{run}/traces"), "Traces that were kept.", TRACES);
    all.get::<TracePage>(&format!("{run}/traces/{{trace}}"), "A trace, as it is drawn.", &["lang"]);
    all.get::<Services>(&format!("{run}/services"), "Services, and who calls whom.", PART);
    all.get::<ComparePage>(
        "/api/v1/compare",
        "What changed between runs.",
        &["a", "b", "c", "d", "e", "f", "g", "h", "margin", "lang"],
    );
    all.get::<History>("/api/v1/history", "The runs of a script.", &["script", "limit"]);
    let note =
        json!({ "type": "object", "properties": { "note": { "type": "string" } }, "required": ["note"] });
    all.put::<NoteAnswer>(&format!("{run}/note"), "Writes a note beside a run.", note);
    let baseline = json!({ "type": "object", "properties": { "isBaseline": { "type": "boolean" } }, "required": ["isBaseline"] });
    all.put::<NoteAnswer>(
        &format!("{run}/baseline"),
        "Makes a run its script's baseline, or no more.",
        baseline,
    );
    let accepted = json!({ "202": { "description": "It will stop." } });
    all.add(&format!("{run}/stop"), "post", "Stops the run that this process runs.", &[], &accepted);
    let cookie = json!({ "204": { "description": "A cookie for the token of the header Authorization." } });
    all.add("/api/v1/session", "post", "Lets a browser in.", &[], &cookie);
    let events: Vec<Value> = vec![
        all.generator.subschema_for::<Tick>().into(),
        all.generator.subschema_for::<LiveThresholds>().into(),
        all.generator.subschema_for::<LogRow>().into(),
        all.generator.subschema_for::<Ended>().into(),
        all.generator.subschema_for::<Reset>().into(),
    ];
    let answers = json!({
        "200": content("text/event-stream", &json!({ "description": "The data of the events tick, thresholds, log, ended and reset.", "oneOf": events })),
        "204": { "description": "The run is not live here." },
    });
    for (file, media_type) in [("report.html", "text/html"), ("report.md", "text/markdown")] {
        let text = json!({ "200": content(media_type, &json!({ "type": "string" })) });
        all.add(&format!("{run}/{file}"), "get", "A report on the whole run, as a file.", &["lang"], &text);
    }
    all.add(&format!("{run}/events"), "get", "The events of a live run, once a second.", &[], &answers);
    all.get::<Value>("/api/v1/openapi.json", "This.", &[]);
    let schemas = all.generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Plimsoll", "version": "1", "description": RULES },
        "paths": all.paths,
        "components": { "schemas": schemas },
    })
}

/// `UPDATE_EXPECT=1 cargo test -p api` writes the file anew.
#[test]
fn the_published_description_is_that_of_the_types() {
    let text = serde_json::to_string_pretty(&document()).expect("a description is JSON") + "\n";
    expect_test::expect_file!["../../../../docs/format/page.openapi.json"].assert_eq(&text);
}
