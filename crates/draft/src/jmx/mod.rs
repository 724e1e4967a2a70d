//! JMeter's test plans. Thread groups become scenarios, controllers groups and loops, managers and assertions parts of requests.

mod assertions;
mod controllers;
mod extractors;
mod functions;
mod groups;
mod samplers;
mod scope;
mod timers;
mod xml;

use crate::plan::{Flow, Plan};
use crate::{DraftError, Kind, js, secrets};
use functions::Names;
use scope::Scope;
use xml::Element;

/// Elements that say nothing about load: views of results, and managers whose work k6 does by itself.
const SILENT: &[&str] = &[
    "ResultCollector",
    "Summariser",
    "CookieManager",
    "CacheManager",
    "ConfigTestElement",
    "DebugSampler",
    "BackendListener",
    "ViewResultsFullVisualizer",
    "TestFragmentController",
];

/// Reads a test plan.
pub(crate) fn read(text: &str) -> Result<Plan, DraftError> {
    let root = xml::parse(text)?;
    if root.tag != "jmeterTestPlan" {
        return Err(DraftError::Kind {
            kind: Kind::Jmx,
            why: "its outermost element is not `jmeterTestPlan`",
        });
    }
    let mut plan = Plan::default();
    let mut names = Names::default();
    let top: Vec<(&Element, Option<&Element>)> =
        root.children.iter().filter(|child| child.tag == "hashTree").flat_map(xml::entries).collect();
    let scope = Scope::default();
    for (element, below) in &top {
        if element.tag == "TestPlan" {
            functions::define(
                element.property_element("TestPlan.user_defined_variables"),
                &mut names,
                &mut plan,
            );
            let entries: Vec<_> = below.map(xml::entries).unwrap_or_default();
            level(&entries, &scope, &mut names, &mut plan);
        }
    }
    if !top.iter().any(|(element, _)| element.tag == "TestPlan") {
        level(&top, &scope, &mut names, &mut plan);
    }
    names.note(&mut plan);
    secrets::redact(&mut plan);
    Ok(plan)
}

/// Reads the elements of the plan itself: settings of all thread groups, and the groups.
fn level(entries: &[(&Element, Option<&Element>)], scope: &Scope, names: &mut Names, plan: &mut Plan) {
    for (element, _) in entries {
        if element.tag == "Arguments" {
            functions::define(Some(element), names, plan);
        }
    }
    let scope = scope.within(entries, names, plan);
    for (element, below) in entries {
        if let Some(kind) = groups::kind(&element.tag) {
            let flow = flow(element, *below, kind, &scope, names, plan);
            plan.flows.push(flow);
        } else if !scope::is_known(&element.tag) && element.tag != "Arguments" {
            note(element, plan);
        }
    }
}

fn flow(
    element: &Element,
    below: Option<&Element>,
    kind: groups::GroupKind,
    scope: &Scope,
    names: &mut Names,
    plan: &mut Plan,
) -> Flow {
    let entries = below.map(xml::entries).unwrap_or_default();
    let mut flow = Flow { name: element.name().to_owned(), ..Flow::default() };
    names.begin_flow();
    names.declare_extracted(below, plan);
    flow.load = groups::load(element, kind, names, plan);
    controllers::prepare(&entries, below, names, plan, &mut flow.opening);
    flow.steps = controllers::steps(&entries, scope, names, plan);
    flow.variables = names.end_flow();
    flow
}

/// Notes an element that is not converted.
fn note(element: &Element, plan: &mut Plan) {
    if SILENT.contains(&element.tag.as_str())
        || element.tag.ends_with("Visualizer")
        || element.tag == "hashTree"
    {
        return;
    }
    let tag = element.tag.rsplit('.').next().unwrap_or(&element.tag);
    plan.notes.add(format!("{} ({}) was not converted", js::label(element.name()), js::label(tag)));
}
