//! Controllers: groups, loops and conditions around samplers.

use super::functions::Names;
use super::scope::{self, Scope};
use super::xml::{self, Element};
use super::{groups, samplers, timers};
use crate::js;
use crate::plan::{Data, Plan, Step, Table, count};

/// Levels of controllers.
const DEPTH_MAX: usize = 64;

/// Sets up what the scenario's requests need: files of data and variables that are set in the group.
pub(super) fn prepare(
    entries: &[(&Element, Option<&Element>)],
    below: Option<&Element>,
    names: &mut Names,
    plan: &mut Plan,
    opening: &mut Vec<String>,
) {
    let mut files = Vec::new();
    if let Some(below) = below {
        find(below, "CSVDataSet", &mut files, 0);
    }
    for file in files {
        opening.extend(data(file, names, plan));
    }
    for (element, _) in entries {
        if element.tag == "Arguments" {
            super::functions::define(Some(element), names, plan);
        }
    }
}

fn find<'a>(tree: &'a Element, tag: &str, found: &mut Vec<&'a Element>, depth: usize) {
    if depth > DEPTH_MAX {
        return;
    }
    for (element, below) in xml::entries(tree) {
        if element.tag == tag {
            found.push(element);
        }
        if let Some(below) = below {
            find(below, tag, found, depth + 1);
        }
    }
}

/// The file of a CSV data set: its rows, and the statement that chooses one.
pub(super) fn data(element: &Element, names: &mut Names, plan: &mut Plan) -> Option<String> {
    let raw = element.property("filename");
    let file = raw.rsplit(['/', '\\']).next().unwrap_or(raw);
    if file.is_empty() || file.contains("${") {
        super::note(element, plan);
        return None;
    }
    let delimiter = match element.property("delimiter") {
        "" => ",",
        "\\t" => "\t",
        delimiter => delimiter,
    };
    let columns: Vec<String> = element
        .property("variableNames")
        .split(',')
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    if columns.is_empty() {
        plan.notes
            .add(format!("{}: name its columns in JMeter, then convert it again", js::label(element.name())));
        return None;
    }
    let stem = file.split('.').next().unwrap_or(file);
    let name = plan.free_name(&format!("{}Rows", js::camel_case(stem, "data")));
    let row = plan.free_name(&format!("{}Row", js::camel_case(stem, "data")));
    for column in &columns {
        let member = match js::property(column) {
            bare if bare == *column => format!("{row}.{column}"),
            quoted => format!("{row}[{}]", quoted.trim_start_matches('[').trim_end_matches(']')),
        };
        names.column(column, member);
    }
    plan.notes.add(format!("put {} beside the script: its rows are read from there", js::label(file)));
    if element.is_set("quotedData") {
        plan.notes.add(format!("{}: quotes in cells are kept as they are", js::label(file)));
    }
    let line = format!("const {row} = {name}[exec.scenario.iterationInTest % {name}.length];");
    let has_header = element.is_set("ignoreFirstLine");
    let table = Table { delimiter: delimiter.to_owned(), columns, has_header };
    plan.data.push(Data { name, row, file: file.to_owned(), rows: Vec::new(), table: Some(table) });
    Some(line)
}

/// The steps of what is below an element.
pub(super) fn steps<'a>(
    entries: &[(&'a Element, Option<&'a Element>)],
    scope: &Scope<'a>,
    names: &mut Names,
    plan: &mut Plan,
) -> Vec<Step> {
    steps_at(entries, scope, names, plan, 0)
}

fn steps_at<'a>(
    entries: &[(&'a Element, Option<&'a Element>)],
    scope: &Scope<'a>,
    names: &mut Names,
    plan: &mut Plan,
    depth: usize,
) -> Vec<Step> {
    let scope = scope.within(entries, names, plan);
    let mut steps = Vec::new();
    if depth > DEPTH_MAX {
        plan.notes.add(format!("elements deeper than {DEPTH_MAX} levels were left out"));
        return steps;
    }
    for (element, below) in entries {
        let tag = element.tag.as_str();
        if samplers::is_http(tag) {
            let own = below.map(xml::entries).unwrap_or_default();
            let scope = scope.within(&own, names, plan);
            own.iter()
                .filter(|(element, _)| !scope::is_known(&element.tag))
                .for_each(|(element, _)| super::note(element, plan));
            steps.extend(scope.timers.iter().map(|code| Step::Sleep(code.clone())));
            let call = samplers::call(element, &scope, names, plan);
            steps.extend(call.map(|call| Step::Call(Box::new(call))));
            continue;
        }
        if tag == "TestAction" {
            let pause = names.text(element.property("ActionProcessor.duration"), plan);
            let seconds = timers::milliseconds(&pause);
            steps.extend((seconds != "0").then_some(Step::Sleep(seconds)));
            continue;
        }
        if scope::is_known(tag) || tag == "Arguments" || groups::kind(tag).is_some() {
            continue;
        }
        if !tag.ends_with("Controller") && tag != "InterleaveControl" {
            super::note(element, plan);
            continue;
        }
        let own = below.map(xml::entries).unwrap_or_default();
        let below = steps_at(&own, &scope, names, plan, depth + 1);
        controller(element, below, &mut steps, names, plan);
    }
    steps
}

fn controller(
    element: &Element,
    below: Vec<Step>,
    steps: &mut Vec<Step>,
    names: &mut Names,
    plan: &mut Plan,
) {
    if count(&below).0 == 0 {
        if ["ModuleController", "IncludeController"].contains(&element.tag.as_str()) {
            super::note(element, plan);
        }
        return;
    }
    let name = js::label(element.name());
    match element.tag.as_str() {
        "TransactionController" | "GenericController" => {
            steps.push(Step::Group(element.name().to_owned(), below))
        }
        "LoopController" => {
            let loops = names.text(element.property("LoopController.loops"), plan);
            match loops.as_literal() == Some("-1")
                || element.is_set("LoopController.continue_forever") && loops.is_empty()
            {
                true => {
                    plan.notes.add(format!("{name} has no end; its requests run once per iteration"));
                    steps.extend(below);
                }
                false => steps.push(Step::Block(
                    format!("for (let round = 0; round < {}; round += 1)", timers::number(&loops)),
                    below,
                )),
            }
        }
        "OnceOnlyController" => {
            steps.push(Step::Block("if (exec.vu.iterationInScenario === 0)".to_owned(), below))
        }
        "ThroughputController" if element.property("ThroughputController.style") == "1" => {
            let percent = percent(element);
            steps.push(Step::Block(format!("if (Math.random() < {})", percent / 100.0), below));
        }
        tag => {
            let condition = element.property("IfController.condition");
            let shown = if condition.is_empty() { tag.rsplit('.').next().unwrap_or(tag) } else { condition };
            plan.notes
                .add(format!("{name} ({}) was not converted; its requests run in order", js::label(tag)));
            steps.push(Step::Comment(format!("{name}: {shown}")));
            steps.extend(below);
        }
    }
}

fn percent(element: &Element) -> f64 {
    let float = element.children.iter().find(|child| child.tag == "FloatProperty");
    let value = float
        .and_then(|float| float.children.iter().find(|child| child.tag == "value"))
        .map(|value| value.text.trim());
    let text = value.unwrap_or_else(|| element.property("ThroughputController.percentThroughput"));
    text.parse().ok().filter(|percent: &f64| percent.is_finite()).unwrap_or(100.0).clamp(0.0, 100.0)
}
