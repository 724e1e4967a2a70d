//! The options as JSON, in the shapes that k6 shows: `inspect`, `exec.test.options`, the script's own `options`.

use model::Plan;

use crate::options::{Echo, Options};
use crate::{GoDuration, json, vu_demand};

/// Options that `exec.test.options` does not have: they were turned into scenarios.
const SHORTCUTS: [&str; 4] = ["vus", "duration", "iterations", "stages"];

/// Options that k6 leaves out where they are unset, instead of printing `null`.
const TERSE: [&str; 2] = ["cloud", "tlsAIAFetch"];

/// The output of `inspect` for a script's own options: everything, indented.
pub fn inspect_json(options: &Options) -> String {
    json::indent(&json::object(inspect_members(options)))
}

/// The output of `inspect --execution-requirements` for derived options and their plan.
pub fn inspect_json_with_requirements(options: &Options, plan: &Plan) -> String {
    let demand = vu_demand(plan);
    let mut members = inspect_members(options);
    members.push(("totalDuration", json::string(&GoDuration::from(demand.duration_max).to_string())));
    members.push(("maxVUs", demand.vus_max.to_string()));
    json::indent(&json::object(members))
}

/// The value of `exec.test.options` for derived options: no shortcuts, `null` for unset ones.
pub fn test_options_json(options: &Options) -> String {
    let shown = |it: &Echo| !SHORTCUTS.contains(&it.key) && !is_left_out(it);
    json::object(options.echo().into_iter().filter(shown).map(member(options)))
}

/// The JSON that replaces the script's exported `options`, from derived options: only those that are set.
pub fn exported_options_json(options: &Options) -> String {
    let shown = |it: &Echo| (it.is_set || it.key == "scenarios") && !it.is_outside;
    let member = member(options);
    // k6 puts an empty object where there are no scenarios.
    let members = options.echo().into_iter().filter(shown).map(|it| match it.is_set {
        true => member(it),
        false => (it.key, "{}".to_owned()),
    });
    json::object(members)
}

fn inspect_members(options: &Options) -> Vec<(&'static str, String)> {
    let shown = |it: &Echo| !it.is_outside && !is_left_out(it);
    options.echo().into_iter().filter(shown).map(member(options)).collect()
}

fn is_left_out(it: &Echo) -> bool {
    !it.is_set && TERSE.contains(&it.key)
}

fn member(options: &Options) -> impl Fn(Echo) -> (&'static str, String) {
    let no_system_tags = options.system_tags.as_ref().is_some_and(Vec::is_empty);
    move |it| {
        let is_null = match it.key {
            // k6 prints the settings of `dns` even where there are none, and an empty set of tags as unset.
            "dns" if !it.is_set => {
                return (it.key, r#"{"ttl":null,"select":null,"policy":null}"#.to_owned());
            }
            "systemTags" => no_system_tags,
            _ => false,
        };
        (it.key, if is_null { "null".to_owned() } else { it.json })
    }
}
