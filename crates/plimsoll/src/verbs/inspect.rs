//! `plimsoll inspect`: checks that everything a script uses exists, and prints its options as JSON.

use plan::{CliOptions, ResolveContext};
use runs::{Exit, Failure};
use session::test::Script;
use session::{Context, plan_failure};

use crate::flags::InspectFlags;
use crate::settings;

/// Runs the subcommand. Only the JSON goes to standard output.
///
/// # Errors
/// The script cannot be loaded, or its options are invalid.
pub(crate) fn run(flags: &InspectFlags, context: &Context) -> Result<Exit, Failure> {
    settings::refuse_kinds(&flags.script, context)?;
    let compat = settings::compat(flags.script.compat, context)?;
    let limits = settings::limits(&flags.limits)?;
    let source = settings::source_within(&flags.script, &limits, context)?;
    let env = source.env(settings::script_env(&flags.script, context, false)?);
    let script = Script::load(source, context, env)?;
    let own = script.options(context)?;
    if !context.is_quiet {
        context.logger.print(&format!("{}\n", report::escape::terminal(&inventory(&script))));
        for (name, constraint) in &script.asked()? {
            let text = match name.as_str() {
                "k6" => format!(
                    "it requires k6 {constraint}; Plimsoll implements k6 up to v{}",
                    script::K6_VERSION
                ),
                name if script::has_module(name) => {
                    format!("it requires {name} {constraint}, which is built in")
                }
                _ => format!("it requires {name} {constraint}; this extension of k6 is not supported"),
            };
            context.logger.print(&format!("{}\n", report::escape::terminal(&text)));
        }
    }
    if !flags.execution_requirements {
        session::terminal::print(&format!("{}\n", escaped(&plan::inspect_json(&own))));
        return Ok(Exit::Ok);
    }
    let options = script.merged_options(context, &CliOptions::default(), compat)?;
    let mut made = script.plan(context, options.clone(), compat)?;
    session::test::limit(&mut made, &limits)?;
    let (derived, _) = options.derive(&ResolveContext::default()).map_err(|error| plan_failure(&error))?;
    session::terminal::print(&format!(
        "{}\n",
        escaped(&plan::inspect_json_with_requirements(&derived, &made))
    ));
    Ok(Exit::Ok)
}

/// Escapes characters in JSON strings as Go does for HTML.
fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Summarises what the script uses in one line. A script that loads has all its modules.
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
