//! OpenAPI 3.0 and 3.1 and Swagger 2.0, as JSON or YAML.
//!
//! Operations are grouped by their first tag. Those that change nothing come first; the others run only with `-e WRITES=true`.

mod document;
mod operation;
mod sample;
mod security;

use crate::plan::{Constant, Flow, Plan, Step};
use crate::text::Text;
use crate::tree::Tree;
use crate::{DraftError, Kind};
use document::Document;

/// Methods of operations. Those that change nothing (RFC 9110, section 9.2.1) come first.
const SAFE: &[&str] = &["get", "head", "options"];
const WRITES: &[&str] = &["post", "put", "patch", "delete"];

/// The group of operations without a tag.
const NO_TAG: &str = "API";

/// Reads a document.
pub(crate) fn read(text: &str) -> Result<Plan, DraftError> {
    let tree = Tree::json_or_yaml(text)?;
    let mut plan = Plan::default();
    let document = Document::new(&tree)?;
    let address = document.address();
    let base = plan.base(&address);
    let mut groups: Vec<Group> = tags(&tree).into_iter().map(Group::new).collect();
    for (path, item) in tree.get("paths").members() {
        let item = document.resolve(item);
        for method in SAFE.iter().chain(WRITES) {
            let Some((_, operation)) =
                item.members().iter().find(|(name, _)| name.eq_ignore_ascii_case(method))
            else {
                continue;
            };
            let place = operation::Place { document: &document, base: &base, path, item, method };
            let call = operation::call(&place, operation, &mut plan);
            let tag = operation.get("tags").items().first().and_then(Tree::text).unwrap_or(NO_TAG);
            let group = match groups.iter().position(|group| group.name == tag) {
                Some(at) => &mut groups[at],
                None => {
                    groups.push(Group::new(tag.to_owned()));
                    let last = groups.len() - 1;
                    &mut groups[last]
                }
            };
            let steps = if SAFE.contains(method) { &mut group.safe } else { &mut group.writes };
            steps.push(Step::Call(Box::new(call)));
        }
    }
    for (part, what) in [("webhooks", "webhooks"), ("x-webhooks", "webhooks")] {
        if !tree.get(part).members().is_empty() {
            plan.notes.add(format!("{what} are requests to you and were not converted"));
        }
    }
    let title = tree.at(&["info", "title"]).text().unwrap_or("API").to_owned();
    let has_writes = groups.iter().any(|group| !group.writes.is_empty());
    if has_writes {
        plan.constants.push(Constant {
            name: "WRITES".to_owned(),
            variable: "WRITES".to_owned(),
            value: Text::constant("__ENV.WRITES === 'true'"),
            is_fixed: true,
        });
        plan.notes.add("operations that change data run only with -e WRITES=true");
    }
    document.note(&mut plan.notes);
    let steps = groups.into_iter().filter_map(Group::step).collect();
    plan.flows.push(Flow { name: title, steps, ..Flow::default() });
    Ok(plan)
}

fn tags(tree: &Tree) -> Vec<String> {
    let names = tree.get("tags").items().iter().filter_map(|tag| tag.get("name").text());
    names.map(str::to_owned).collect()
}

/// The operations of a tag.
struct Group {
    name: String,
    safe: Vec<Step>,
    writes: Vec<Step>,
}

impl Group {
    fn new(name: String) -> Group {
        Group { name, safe: Vec::new(), writes: Vec::new() }
    }

    fn step(self) -> Option<Step> {
        let mut steps = self.safe;
        if !self.writes.is_empty() {
            steps.push(Step::Block("if (WRITES)".to_owned(), self.writes));
        }
        (!steps.is_empty()).then_some(Step::Group(self.name, steps))
    }
}

/// The error of a document of another kind.
fn foreign(why: &'static str) -> DraftError {
    DraftError::Kind { kind: Kind::OpenApi, why }
}
