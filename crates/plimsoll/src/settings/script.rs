//! Flags about a script: its path and its `__ENV`.

use std::collections::BTreeMap;

use plan::LoadLimits;
use runs::{Exit, Failure};
use session::Context;
use session::source::{MemorySettings, Source, SourceSettings};
use session::test;

use crate::flags::{LimitFlags, ScriptFlags, parse_memory};

/// Reads the script of the flags.
///
/// # Errors
/// The script cannot be read, or a flag about its language is unsupported.
pub(crate) fn source(flags: &ScriptFlags, context: &Context) -> Result<Source, Failure> {
    source_within(flags, &LoadLimits::default(), context)
}

/// Reads the script of the flags within the user's limits.
///
/// # Errors
/// As those of [`source`].
pub(crate) fn source_within(
    flags: &ScriptFlags,
    limits: &LoadLimits,
    context: &Context,
) -> Result<Source, Failure> {
    if let Some(text) = flags.built_in {
        let name = flags.script.display().to_string();
        return Ok(Source::of_text(&name, &format!("/{name}"), text));
    }
    if flags.allow_exec && limits.hosts.is_some() {
        let text =
            "failed to use --allow-exec with --allow-host: programs connect to any host; leave one out";
        return Err(Failure::new(Exit::InvalidConfig, text));
    }
    let settings = SourceSettings {
        script: flags.script.clone(),
        kind: flags.kind.clone(),
        lock: flags.lock,
        frozen: flags.frozen,
        offline: limits.hosts.is_some(),
        cache: flags.cache.clone(),
        allows_exec: flags.allow_exec,
        compat: super::compat(flags.compat, context)?,
        memory: MemorySettings {
            vu_bytes: size(flags.vu_memory, "VU_MEMORY", context)?,
            process_bytes: size(flags.memory, "MEMORY", context)?,
        },
    };
    Source::read(&settings, context)
}

/// Resolves the limits that a user sets for scripts of others.
///
/// # Errors
/// A length of time cannot be parsed.
pub(crate) fn limits(flags: &LimitFlags) -> Result<LoadLimits, Failure> {
    let length = |text: &String| runs::parse_length("--limit-duration", text, Exit::InvalidConfig);
    Ok(LoadLimits {
        vus_max: flags.limit_vus,
        duration_max: flags.limit_duration.as_ref().map(length).transpose()?,
        rate_max: flags.limit_rate,
        hosts: (!flags.allow_host.is_empty()).then(|| flags.allow_host.clone()),
    })
}

/// Returns a size from its flag, or else from its variable.
fn size(flag: Option<u64>, variable: &str, context: &Context) -> Result<Option<u64>, Failure> {
    let Some(text) = context.env.setting(variable).filter(|_| flag.is_none()) else { return Ok(flag) };
    let refuse =
        |why: String| Failure::new(Exit::InvalidConfig, format!("invalid PLIMSOLL_{variable}: {why}"));
    parse_memory(text).map(Some).map_err(refuse)
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
