//! `plimsoll inspect`: a script's options as JSON.

use plan::{CliOptions, ResolveContext};

use crate::common::{Common, plan_failure};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::InspectFlags;
use crate::test::{self, Script, Source};

/// Runs the verb.
///
/// # Errors
/// The script cannot be loaded, or its options make no test.
pub(crate) fn run(flags: &InspectFlags, common: &Common) -> Result<Exit, Failure> {
    test::refuse_kinds(&flags.script, &common.env)?;
    let compat = common.compat(flags.script.compat)?;
    let env = test::script_env(&flags.script, &common.env, false)?;
    let script = Script::load(Source::read(&flags.script.script)?, common, env)?;
    if !flags.execution_requirements {
        crate::print(&format!("{}\n", plan::inspect_json(&script.options(common)?)));
        return Ok(Exit::Ok);
    }
    let options = script.merged_options(common, &CliOptions::default(), compat)?;
    let made = script.plan(common, options.clone(), compat)?;
    let (derived, _) = options.derive(&ResolveContext::default()).map_err(|error| plan_failure(&error))?;
    crate::print(&format!("{}\n", plan::inspect_json_with_requirements(&derived, &made)));
    Ok(Exit::Ok)
}
