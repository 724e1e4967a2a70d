//! Flags about a script: its path and its `__ENV`.

use std::collections::BTreeMap;

use runs::Failure;
use session::Context;
use session::source::{Source, SourceSettings};
use session::test;

use crate::flags::ScriptFlags;

/// Reads the script of the flags.
///
/// # Errors
/// The script cannot be read, or a flag about its language is unsupported.
pub(crate) fn source(flags: &ScriptFlags, context: &Context) -> Result<Source, Failure> {
    let settings = SourceSettings {
        script: flags.script.clone(),
        kind: flags.kind.clone(),
        lock: flags.lock,
        frozen: flags.frozen,
        cache: flags.cache.clone(),
    };
    Source::read(&settings, context)
}

/// Refuses an unknown compatibility mode.
///
/// # Errors
/// The mode is neither `base` nor `extended`.
pub(crate) fn refuse_kinds(flags: &ScriptFlags, context: &Context) -> Result<(), Failure> {
    test::refuse_kinds(flags.compatibility_mode.as_deref(), &context.env)
}

/// Returns `__ENV` of a script; `includes_process` is the default of `--include-system-env-vars`.
///
/// # Errors
/// `--env` cannot be parsed.
pub(crate) fn script_env(
    flags: &ScriptFlags,
    context: &Context,
    includes_process: bool,
) -> Result<BTreeMap<String, String>, Failure> {
    test::script_env(&flags.env, flags.include_system_env_vars, &context.env, includes_process)
}
