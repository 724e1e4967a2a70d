//! A plan as the text of a script.

mod body;
mod call;
mod head;

use std::fmt::Write;

use crate::js;
use crate::plan::{Flow, Plan, Step, count, unused};
use crate::{DataFile, Settings};

/// Columns of a line, beyond which objects are written over several.
const LINE_CHARS_MAX: usize = 100;

/// The script and the files beside it.
pub(crate) fn write(plan: &Plan, settings: &Settings) -> (String, Vec<DataFile>) {
    let mut writer = Writer {
        settings,
        lines: String::new(),
        files: Vec::new(),
        headers: call::shared_headers(plan),
        opened: Vec::new(),
    };
    let functions = functions(plan);
    for (flow, function) in plan.flows.iter().zip(&functions) {
        writer.flow(flow, function, plan.flows.len() == 1);
    }
    if plan.flows.len() > 1 {
        writer.all_flows(&functions);
    }
    let body = std::mem::take(&mut writer.lines).trim_end().to_owned() + "\n";
    let script = head::head(plan, settings, &functions, &writer, &body) + &body;
    let mut files = writer.files;
    files.extend(head::data_files(plan));
    (script, files)
}

/// Names of the functions that scenarios call.
fn functions(plan: &Plan) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for flow in &plan.flows {
        let wish = js::camel_case(&flow.name, "scenario");
        let is_taken = |name: &str| {
            names.iter().any(|taken| taken == name)
                || plan.constants.iter().any(|constant| constant.name == name)
        };
        names.push(unused(&wish, is_taken));
    }
    names
}

/// The script as far as it is written.
struct Writer<'a> {
    settings: &'a Settings,
    lines: String,
    files: Vec<DataFile>,
    /// Objects of headers that several requests have, with the constants that hold them.
    headers: Vec<(String, String)>,
    /// Constants that hold files: name, path, whether it is read as bytes.
    opened: Vec<(String, String, bool)>,
}

impl Writer<'_> {
    fn flow(&mut self, flow: &Flow, function: &str, is_only: bool) {
        match is_only {
            true => self.line(0, "export default function () {"),
            false => self.line(0, &format!("export function {function}() {{")),
        }
        for line in &flow.opening {
            self.line(1, line);
        }
        for (name, value) in &flow.variables {
            match value.is_empty() {
                true => self.line(1, &format!("let {name};")),
                false => self.line(1, &format!("let {name} = {};", value.js())),
            }
        }
        if count(&flow.steps).0 > 0 {
            self.line(1, "let response;");
        }
        self.steps(1, &flow.steps);
        self.line(0, "}");
        self.line(0, "");
    }

    fn all_flows(&mut self, functions: &[String]) {
        self.line(0, "// Every scenario once: plimsoll run --iterations 1");
        self.line(0, "export default function () {");
        for function in functions {
            self.line(1, &format!("{function}();"));
        }
        self.line(0, "}");
        self.line(0, "");
    }

    fn steps(&mut self, depth: usize, steps: &[Step]) {
        for (nth, step) in steps.iter().enumerate() {
            match step {
                Step::Group(name, below) => {
                    self.line(0, "");
                    self.line(depth, &format!("group({}, () => {{", js::quoted(&js::label(name))));
                    self.steps(depth + 1, below);
                    self.line(depth, "});");
                }
                Step::Block(head, below) => {
                    self.line(depth, &format!("{head} {{"));
                    self.steps(depth + 1, below);
                    self.line(depth, "}");
                }
                Step::Call(call) => {
                    if nth > 0 && matches!(steps[nth - 1], Step::Call(_) | Step::Pause(_)) {
                        self.line(0, "");
                    }
                    self.call(depth, call);
                }
                Step::Pause(seconds) => self.line(depth, &format!("pause({});", seconds_text(*seconds))),
                Step::Sleep(code) => self.line(depth, &format!("sleep({code});")),
                Step::Comment(text) => self.comment(depth, text),
            }
        }
    }

    fn comment(&mut self, depth: usize, text: &str) {
        self.line(depth, &format!("// {}", js::label(text)));
    }

    fn line(&mut self, depth: usize, text: &str) {
        if text.is_empty() {
            // One empty line is enough.
            if !self.lines.ends_with("\n\n") && !self.lines.is_empty() {
                self.lines.push('\n');
            }
            return;
        }
        let _ = writeln!(self.lines, "{}{text}", "  ".repeat(depth));
    }
}

/// Seconds with at most one decimal.
fn seconds_text(seconds: f64) -> String {
    let text = format!("{seconds:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// An object over one line if it fits, else over several; `depth` is that of its closing brace.
fn object(depth: usize, members: &[(String, String)]) -> String {
    let member = |(name, value): &(String, String)| match name == value {
        true => name.clone(),
        false => format!("{name}: {value}"),
    };
    enclosed(depth, ("{ ", " }"), ("{", "}"), members.iter().map(member).collect())
}

/// Items between brackets, over one line if they fit.
fn enclosed(depth: usize, short: (&str, &str), long: (&str, &str), items: Vec<String>) -> String {
    if items.is_empty() {
        return format!("{}{}", long.0, long.1);
    }
    let line = format!("{}{}{}", short.0, items.join(", "), short.1);
    if !line.contains('\n') && depth * 2 + line.chars().count() <= LINE_CHARS_MAX - 20 {
        return line;
    }
    let indent = "  ".repeat(depth + 1);
    let lines: String = items.iter().map(|item| format!("{indent}{item},\n")).collect();
    format!("{}\n{lines}{}{}", long.0, "  ".repeat(depth), long.1)
}
