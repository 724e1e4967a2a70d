//! The beginning of a script: imports, constants, data, options, helpers.

use std::fmt::Write;

use super::{Writer, object};
use crate::plan::{Data, Load, Plan, count};
use crate::text::Text;
use crate::{DataFile, Settings, js};

/// The threshold of p(95) where no durations were recorded, ms.
const P95_MS: u64 = 1_000;

/// The smallest threshold of p(95) from recorded durations, ms: a recording of a local server says little.
const P95_MS_MIN: u64 = 500;

/// The threshold is the recorded p(95) times this.
const P95_FACTOR: f64 = 2.0;

/// Time that ramping down takes.
const RAMP_DOWN: &str = "10s";

/// Modules and globals, each with the text that shows its use.
const IMPORTS: &[(&[&str], &str)] = &[
    (&["encoding.b64encode("], "import encoding from 'k6/encoding';"),
    (&["exec."], "import exec from 'k6/execution';"),
    (&["new SharedArray("], "import { SharedArray } from 'k6/data';"),
];

/// A pause that keeps VUs from moving in step.
const PAUSE: &str = "\
// Think time: between half and one and a half times as long as recorded.
function pause(seconds) {
  sleep(seconds * (0.5 + Math.random()));
}

";

const PICK: &str = "\
function pick(rows) {
  return rows[Math.floor(Math.random() * rows.length)];
}

";

const BETWEEN: &str = "\
// The text between two others; empty if they are missing.
function between(text, left, right) {
  const start = String(text).indexOf(left);
  if (start < 0) return '';
  const rest = String(text).slice(start + left.length);
  const end = right === '' ? rest.length : rest.indexOf(right);
  return end < 0 ? '' : rest.slice(0, end);
}

";

const TABLE: &str = "\
// Rows of a table as objects; without names, the first line has them.
function table(text, delimiter, names) {
  const lines = text.split(/\\r?\\n/).filter((line) => line !== '');
  const columns = names || lines.shift().split(delimiter);
  return lines.map((line) => {
    const cells = line.split(delimiter);
    return Object.fromEntries(columns.map((column, i) => [column.trim(), cells[i]]));
  });
}

";

/// All that stands before the functions of scenarios.
pub(super) fn head(
    plan: &Plan,
    settings: &Settings,
    functions: &[String],
    writer: &Writer,
    body: &str,
) -> String {
    let mut middle = String::new();
    addresses(plan, &mut middle);
    constants(plan, &mut middle);
    data(plan, &mut middle);
    shared(writer, &mut middle);
    options(plan, settings, functions, &mut middle);
    required(plan, &mut middle);
    for (use_of, helper) in [("pause(", PAUSE), ("between(", BETWEEN), ("table(", TABLE), ("pick(", PICK)] {
        if body.contains(use_of) || middle.contains(use_of) {
            middle.push_str(helper);
        }
    }
    let mut head = introduction(plan, settings);
    head.push_str("import http from 'k6/http';\n");
    let everything = format!("{middle}{body}");
    let of_k6: Vec<&str> = ["check", "group", "sleep"]
        .into_iter()
        .filter(|name| everything.contains(&format!("{name}(")))
        .collect();
    if !of_k6.is_empty() {
        let _ = writeln!(head, "import {{ {} }} from 'k6';", of_k6.join(", "));
    }
    for (uses, import) in IMPORTS {
        if uses.iter().any(|used| everything.contains(used)) {
            let _ = writeln!(head, "{import}");
        }
    }
    head.push('\n');
    head + &middle
}

fn introduction(plan: &Plan, settings: &Settings) -> String {
    let (calls, groups) = plan
        .flows
        .iter()
        .map(|flow| count(&flow.steps))
        .fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    let variables = crate::summary::variables(
        plan.secrets
            .iter()
            .map(|secret| &secret.variable)
            .chain(plan.unset.iter().map(|(variable, _)| variable)),
    );
    format!(
        "// Made by plimsoll new from {}: requests: {calls}, groups: {groups}.\n// Try it once: plimsoll run --iterations 1 {variables}{}\n",
        js::label(&settings.source),
        js::label(&settings.script)
    )
}

fn addresses(plan: &Plan, out: &mut String) {
    for base in &plan.bases {
        let _ = writeln!(out, "const {0} = __ENV.{0} || {1};", base.name, js::quoted(&base.address));
    }
    if !plan.bases.is_empty() {
        out.push('\n');
    }
}

fn constants(plan: &Plan, out: &mut String) {
    for constant in &plan.constants {
        let is_unset = plan.unset.iter().any(|(variable, _)| *variable == constant.variable);
        let _ = match constant.is_fixed {
            true => writeln!(out, "const {} = {};", constant.name, constant.value.js()),
            false if is_unset => {
                writeln!(out, "const {} = __ENV.{};", constant.name, constant.variable)
            }
            false => writeln!(
                out,
                "const {} = __ENV.{} || {};",
                constant.name,
                constant.variable,
                constant.value.js()
            ),
        };
    }
    if !plan.constants.is_empty() {
        out.push('\n');
    }
}

fn data(plan: &Plan, out: &mut String) {
    for data in &plan.data {
        let name = &data.name;
        let file = js::quoted(&file_path(&data.file));
        let rows = match &data.table {
            None => format!("JSON.parse(open({file}))"),
            Some(table) => {
                let names = table.columns.iter().map(|name| js::quoted(name)).collect::<Vec<_>>().join(", ");
                let names = if table.has_header { String::new() } else { format!(", [{names}]") };
                format!("table(open({file}), {}{names})", js::quoted(&table.delimiter))
            }
        };
        let _ = writeln!(out, "const {name} = new SharedArray({}, () => {rows});", js::quoted(name));
    }
    if !plan.data.is_empty() {
        out.push('\n');
    }
}

fn file_path(name: &str) -> String {
    if name.starts_with(['/', '.']) { name.to_owned() } else { format!("./{name}") }
}

fn shared(writer: &Writer, out: &mut String) {
    for (code, name) in &writer.headers {
        let _ = writeln!(out, "const {name} = {code};");
    }
    for (name, path, is_binary) in &writer.opened {
        let mode = if *is_binary { ", 'b'" } else { "" };
        let _ = writeln!(out, "const {name} = open({}{mode});", js::quoted(path));
    }
    if !writer.headers.is_empty() || !writer.opened.is_empty() {
        out.push('\n');
    }
}

fn options(plan: &Plan, settings: &Settings, functions: &[String], out: &mut String) {
    out.push_str("export const options = {\n");
    match plan.flows.as_slice() {
        [flow] if flow.load.is_none() => {
            let _ = write!(
                out,
                "  stages: [\n    {{ duration: {0}, target: {1} }},\n    {{ duration: {2}, target: {1} }},\n    {{ duration: '{RAMP_DOWN}', target: 0 }},\n  ],\n",
                js::quoted(&settings.ramp_up),
                settings.vus,
                js::quoted(&settings.duration)
            );
        }
        flows => {
            out.push_str("  scenarios: {\n");
            for (flow, function) in flows.iter().zip(functions) {
                let exec = (flows.len() > 1).then_some(function.as_str());
                let scenario = scenario(flow.load.as_ref(), exec, settings);
                let _ = writeln!(out, "    {function}: {},", object(2, &scenario));
            }
            out.push_str("  },\n");
        }
    }
    let comment = match plan.p95_ms {
        Some(_) => format!(" // {P95_FACTOR} times the recorded p(95)"),
        None => String::new(),
    };
    let _ = write!(
        out,
        "  thresholds: {{\n    http_req_failed: ['rate<0.01'],\n    http_req_duration: ['p(95)<{}'],{comment}\n    checks: ['rate>0.99'],\n  }},\n}};\n\n",
        threshold_ms(plan.p95_ms)
    );
}

/// The limit of p(95) for recorded durations, rounded up to 100 ms.
fn threshold_ms(recorded: Option<f64>) -> u64 {
    let limit = |ms: f64| ((ms * P95_FACTOR / 100.0).ceil() as u64 * 100).max(P95_MS_MIN);
    recorded.map_or(P95_MS, limit)
}

fn scenario(load: Option<&Load>, exec: Option<&str>, settings: &Settings) -> Vec<(String, String)> {
    let number = |text: &Text| match text.as_literal() {
        Some(literal) => {
            literal.trim().parse::<f64>().ok().filter(|number| number.is_finite()).unwrap_or(1.0).to_string()
        }
        None => format!("Number({})", text.js()),
    };
    let seconds = |text: &Text| match text.as_literal() {
        Some(_) => format!("'{}s'", number(text)),
        None => text.clone().then(Text::literal("s")).js(),
    };
    let default = Load { vus: Text::literal(settings.vus.to_string()), ..Load::default() };
    let load = load.unwrap_or(&default);
    let vus = number(&load.vus);
    let has_ramp =
        load.ramp_s.as_literal().is_none_or(|ramp| ramp.trim().parse::<f64>().is_ok_and(|ramp| ramp > 0.0));
    let mut members: Vec<(&str, String)> = match (&load.iterations, &load.duration_s) {
        (Some(iterations), None) => vec![
            ("executor", "'per-vu-iterations'".to_owned()),
            ("vus", vus),
            ("iterations", number(iterations)),
            ("maxDuration", "'1h'".to_owned()),
        ],
        (_, duration) => {
            let duration = duration.as_ref().map_or_else(|| js::quoted(&settings.duration), seconds);
            match has_ramp {
                false => {
                    vec![("executor", "'constant-vus'".to_owned()), ("vus", vus), ("duration", duration)]
                }
                true => {
                    let stage = |time: String| format!("{{ duration: {time}, target: {vus} }}");
                    let stages = format!("[{}, {}]", stage(seconds(&load.ramp_s)), stage(duration));
                    vec![("executor", "'ramping-vus'".to_owned()), ("stages", stages)]
                }
            }
        }
    };
    if let Some(delay) = &load.delay_s {
        members.push(("startTime", seconds(delay)));
    }
    if let Some(exec) = exec {
        members.push(("exec", js::quoted(exec)));
    }
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn required(plan: &Plan, out: &mut String) {
    let secrets = plan.secrets.iter().map(|secret| (secret.variable.as_str(), secret.place.as_str()));
    let unset = plan.unset.iter().map(|(variable, place)| (variable.as_str(), place.as_str()));
    let all: Vec<(&str, &str)> = secrets.chain(unset).collect();
    if all.is_empty() {
        return;
    }
    out.push_str("// These values are not in the script. Set each variable: -e NAME=VALUE\n");
    for (variable, place) in &all {
        let _ = writeln!(out, "//   {variable}: {}", js::label(place));
    }
    let names = all.iter().map(|(variable, _)| js::quoted(variable)).collect();
    let list = super::enclosed(0, ("[", "]"), ("[", "]"), names);
    let _ = write!(
        out,
        "const required = {list};\n\n\
         export function setup() {{\n  const missing = required.filter((name) => !__ENV[name]);\n  \
         if (missing.length > 0) {{\n    throw new Error(`set these variables with -e NAME=VALUE: ${{missing.join(', ')}}`);\n  }}\n}}\n\n"
    );
}

/// The files that hold rows.
pub(super) fn data_files(plan: &Plan) -> Vec<DataFile> {
    let own = plan.data.iter().filter(|data| data.table.is_none());
    own.map(|data| DataFile { name: data.file.clone(), text: rows_json(data) }).collect()
}

fn rows_json(data: &Data) -> String {
    let text = |text: &String| serde_json::to_string(text).unwrap_or_default();
    let row = |row: &Vec<(String, String)>| {
        let cells: Vec<String> =
            row.iter().map(|(name, value)| format!("{}: {}", text(name), text(value))).collect();
        format!("  {{ {} }}", cells.join(", "))
    };
    format!("[\n{}\n]\n", data.rows.iter().map(row).collect::<Vec<_>>().join(",\n"))
}
