//! `plimsoll inspect`: whether everything that a script uses exists, and its options as JSON.

use plan::{CliOptions, ResolveContext};
use runs::{Exit, Failure};

use crate::common::{Common, plan_failure};
use crate::flags::InspectFlags;
use crate::source::Source;
use crate::test::{self, Script};

/// Runs the verb. The JSON alone goes to standard output.
///
/// # Errors
/// The script cannot be loaded, or its options make no test.
pub(crate) fn run(flags: &InspectFlags, common: &Common) -> Result<Exit, Failure> {
    test::refuse_kinds(&flags.script, &common.env)?;
    let compat = common.compat(flags.script.compat)?;
    let source = Source::read(&flags.script, common)?;
    let env = source.env(test::script_env(&flags.script, &common.env, false)?);
    let script = Script::load(source, common, env)?;
    let own = script.options(common)?;
    if !common.is_quiet {
        common.logger.print(&format!("{}\n", report::escape::terminal(&inventory(&script))));
        for (name, constraint) in &script.asked()? {
            let text = match name.as_str() {
                "k6" => format!(
                    "it asks for k6 {constraint}, whose behaviour this is up to v{}",
                    script::K6_VERSION
                ),
                _ => format!("it asks for {name} {constraint}, an extension of k6, which is not here"),
            };
            common.logger.print(&format!("{}\n", report::escape::terminal(&text)));
        }
    }
    if !flags.execution_requirements {
        crate::print(&format!("{}\n", escaped(&plan::inspect_json(&own))));
        return Ok(Exit::Ok);
    }
    let options = script.merged_options(common, &CliOptions::default(), compat)?;
    let made = script.plan(common, options.clone(), compat)?;
    let (derived, _) = options.derive(&ResolveContext::default()).map_err(|error| plan_failure(&error))?;
    crate::print(&format!("{}\n", escaped(&plan::inspect_json_with_requirements(&derived, &made))));
    Ok(Exit::Ok)
}

/// JSON with the characters escaped that Go escapes for web pages; they stand in strings only.
fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// One line on what the script uses. That it was loaded means that all its modules are there.
fn inventory(script: &Script) -> String {
    let bundle = &script.bundle;
    let name = &script.source.name;
    let missing = bundle.undefined_imports().values().map(std::collections::BTreeSet::len).sum::<usize>();
    let verdict = match missing {
        0 => format!("every module and export that {name} imports exists"),
        1 => format!("every module that {name} imports exists, and 1 export does not"),
        _ => format!("every module that {name} imports exists, and {missing} exports do not"),
    };
    let modules = bundle.modules();
    let remote = modules.iter().filter(|(url, _)| url.starts_with("https://")).count();
    // The script itself is one of them.
    let local = modules.len().saturating_sub(remote + 1);
    let builtins = match bundle.builtins() {
        names if names.is_empty() => "no module of k6".to_owned(),
        names => names.join(", "),
    };
    format!("{verdict}: {builtins}; {local} local and {remote} remote modules")
}
