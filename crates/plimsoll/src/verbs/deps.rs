//! `plimsoll deps`: lists the imports of a script without running it.

use runs::{Exit, Failure};
use serde::Serialize;
use session::Context;
use session::program;

use crate::flags::DepsFlags;
use crate::settings;

/// The output, in k6's format.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Dependencies {
    build_dependencies: std::collections::BTreeMap<String, String>,
    imports: Vec<String>,
    custom_build_required: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// The script, or a module of it, cannot be read or parsed.
pub(crate) fn run(flags: &DepsFlags, context: &Context) -> Result<Exit, Failure> {
    settings::refuse_kinds(&flags.script, context)?;
    let source = settings::source(&flags.script, context)?;
    let entry = script::Entry { path: source.path.clone(), text: source.text.clone() };
    let imports = script::imports(entry, source.outside());
    source.tell_notes(context);
    let imports = imports.map_err(|error| program::load_failure(&source.name, &error))?;
    source.write_lock(context)?;
    let asked = imports.asked.clone();
    let asked = asked.map_err(|error| Failure::new(Exit::Other, format!("failed to {error}")))?;
    let answer = dependencies(imports, asked);
    let shown = if flags.json { json(&answer) } else { text(&answer) };
    session::terminal::print(&redact::urls_hidden(&shown));
    Ok(Exit::Ok)
}

fn dependencies(imports: script::Imports, asked: script::Asked) -> Dependencies {
    // The others are built into k6.
    let named = imports.absent.iter().chain(&imports.found);
    let extensions = named.filter(|name| name.starts_with("k6/x/"));
    let any = extensions.map(String::as_str).chain(["k6"]).map(|name| (name.to_owned(), "*".to_owned()));
    let mut build_dependencies: std::collections::BTreeMap<String, String> = any.collect();
    build_dependencies.extend(asked);
    let is_here = |(name, constraint): (&String, &String)| {
        name == "k6" && script::is_met(constraint, script::K6_VERSION)
            || script::has_module(name) && name != "k6"
    };
    let custom_build_required = !build_dependencies.iter().all(is_here);
    let mut all = imports.found;
    all.extend(imports.absent);
    all.sort();
    Dependencies { build_dependencies, imports: all, custom_build_required }
}

fn json(answer: &Dependencies) -> String {
    let text = serde_json::to_string_pretty(answer).expect("the answer is texts");
    format!("{text}\n")
}

fn text(answer: &Dependencies) -> String {
    let mut text = "Build Dependencies:\n".to_owned();
    for (name, version) in &answer.build_dependencies {
        text += &format!("  {}: {version}\n", report::escape::terminal(name));
    }
    text += "\nImports:\n";
    for import in &answer.imports {
        text += &format!("  {}\n", report::escape::terminal(import));
    }
    let required = if answer.custom_build_required { "yes" } else { "no" };
    text + &format!("\nCustom Build Required: {required}\n")
}
