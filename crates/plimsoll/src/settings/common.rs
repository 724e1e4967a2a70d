//! The flags and variables that all subcommands share, resolved to a context.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::plan::Compat;
use model::{Epoch, LogLevel, SystemClock};
use plan::{Options, Warning};
use redact::{Redactor, assignments_hidden};
use report::log::LogFormat;
use runs::bounded::read_limited;
use runs::{Exit, Failure};
use session::env::Environment;
use session::logger::{Logger, LoggerConfig, Target};
use session::loki::LokiConfig;
use session::{Context, plan_failure, secrets};

use crate::flags::{CompatFlag, GlobalFlags};

/// Maximum size of the config file, bytes.
const CONFIG_BYTES_MAX: u64 = 16 << 20;

/// Resolves flags, variables and the config file. `console_output` is the flag of that name, of subcommands that have it.
///
/// # Errors
/// A flag, a variable or the config file cannot be parsed.
pub(crate) fn resolve(flags: &GlobalFlags, console_output: Option<&str>) -> Result<Context, Failure> {
    let env = Environment::of_process();
    let redactor = redactor(&env);
    let (config, warnings) = read_config(flags, &env)?;
    let epoch = Epoch::anchor(&SystemClock);
    let may_colour = may_colour(flags, &env)?;
    let is_verbose = flags.verbose.or(env.switch("VERBOSE")?).unwrap_or(false);
    let console = console_output
        .or_else(|| env.setting("CONSOLE_OUTPUT"))
        .or(config.console_output.as_deref())
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    let logger = Logger::new(&LoggerConfig {
        target: target(flags, &env)?,
        format: format(flags, &env)?,
        is_verbose,
        may_colour,
        console,
        epoch,
        redactor: redactor.clone(),
    });
    let logger = logger.map_err(|(path, error)| {
        let text = format!("failed to open {} to write the log: {error}", path.display());
        Failure::new(Exit::Other, text)
    })?;
    let secrets = secrets::read(&flags.secret_source, &env, &redactor)?;
    let is_quiet = flags.quiet.or(env.switch("QUIET")?).unwrap_or(false);
    let common = Context {
        env,
        config,
        logger: Arc::new(logger),
        is_quiet,
        may_colour,
        epoch,
        secrets: Arc::new(secrets),
        redactor,
        runs: flags.runs.clone(),
        address: flags.address.clone(),
    };
    common.warn_all(&warnings);
    if flags.profiling_enabled.or(common.env.switch("PROFILING_ENABLED")?).unwrap_or(false) {
        let text = "--profiling-enabled has no effect: profiling is available only in k6";
        common.logger.say(LogLevel::Warn, text);
    }
    Ok(common)
}

/// Returns the secrets that the process's variables and arguments hold.
fn redactor(env: &Environment) -> Redactor {
    let redactor = Redactor::default();
    env.all().iter().for_each(|(name, value)| redactor.add_variable(name, value));
    std::env::args_os().skip(1).for_each(|word| redactor.add_word(&word.to_string_lossy()));
    redactor
}

/// Resolves how metrics are computed: honest or strict.
///
/// # Errors
/// The variable has an unknown value.
pub(crate) fn compat(flag: Option<CompatFlag>, context: &Context) -> Result<Compat, Failure> {
    match (flag, context.env.get("PLIMSOLL_COMPAT")) {
        (Some(CompatFlag::Strict), _) | (None, Some("strict")) => Ok(Compat::Strict),
        (Some(CompatFlag::Honest), _) | (None, Some("honest" | "") | None) => Ok(Compat::Honest),
        (None, Some(other)) => Err(Failure::new(
            Exit::InvalidConfig,
            format!("failed to read PLIMSOLL_COMPAT: {other:?} is neither honest nor strict"),
        )),
    }
}

fn may_colour(flags: &GlobalFlags, env: &Environment) -> Result<bool, Failure> {
    let refused = flags.no_color.or(env.switch("NO_COLOR")?).unwrap_or(false);
    // https://no-color.org: any non-empty value.
    let refused_by_all = env.get("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = env.get("TERM") == Some("dumb");
    Ok(!refused && !refused_by_all && !is_dumb)
}

fn format(flags: &GlobalFlags, env: &Environment) -> Result<LogFormat, Failure> {
    let Some(name) = flags.log_format.as_deref().or_else(|| env.setting("LOG_FORMAT")) else {
        return Ok(LogFormat::Text);
    };
    LogFormat::parse(name).ok_or_else(|| {
        let text =
            format!("failed to read --log-format: invalid format {name:?}: expected text, json or raw");
        Failure::new(Exit::Other, text)
    })
}

fn target(flags: &GlobalFlags, env: &Environment) -> Result<Target, Failure> {
    let text = flags.log_output.as_deref().or_else(|| env.setting("LOG_OUTPUT")).unwrap_or("stderr");
    parse_target(text).map_err(|why| {
        // Headers of a server may be secret.
        let (text, why) = (assignments_hidden(text), assignments_hidden(&why).into_owned());
        Failure::new(Exit::Other, format!("failed to read --log-output: {text:?} {why}"))
    })
}

fn parse_target(text: &str) -> Result<Target, String> {
    match text.split_once('=').unwrap_or((text, "")) {
        ("stderr", "") => Ok(Target::Stderr),
        ("stdout", "") => Ok(Target::Stdout),
        ("none", "") => Ok(Target::Nowhere),
        ("file", "") => Err("has no path: expected file=PATH".into()),
        ("file", path) => Ok(Target::File(path.into())),
        ("loki", settings) => LokiConfig::parse(settings).map(Target::Loki),
        _ => Err("is invalid: expected stderr, stdout, none, file=PATH or loki=URL".into()),
    }
}

fn read_config(flags: &GlobalFlags, env: &Environment) -> Result<(Options, Vec<Warning>), Failure> {
    let asked = flags.config.clone().or_else(|| env.setting("CONFIG").map(PathBuf::from));
    let path = match asked {
        Some(path) => path,
        None => match default_configs(env).into_iter().find(|path| path.is_file()) {
            Some(path) => path,
            None => return Ok(Default::default()),
        },
    };
    let text = read_limited(&path, CONFIG_BYTES_MAX).map_err(|error| {
        Failure::new(
            Exit::InvalidConfig,
            format!("failed to read the config file {}: {error}", path.display()),
        )
    })?;
    Options::from_config_json(&text).map_err(|error| {
        let mut failure = plan_failure(&error);
        failure.text += &format!("\n\tin {}", path.display());
        failure
    })
}

/// Returns the default paths of the config file: Plimsoll's folder, then k6's.
fn default_configs(env: &Environment) -> Vec<PathBuf> {
    let xdg = env.get("XDG_CONFIG_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
    let folder = xdg.or_else(|| Some(Path::new(env.get("HOME")?).join(".config")));
    folder.map_or_else(Vec::new, |folder| {
        ["plimsoll", "k6"].map(|name| folder.join(name).join("config.json")).to_vec()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_targets_are_read() {
        let check =
            |text: &str, expect: Option<Target>| assert_eq!(parse_target(text).ok(), expect, "{text}");
        check("stderr", Some(Target::Stderr));
        check("stdout", Some(Target::Stdout));
        check("none", Some(Target::Nowhere));
        check("file=a=b.log", Some(Target::File("a=b.log".into())));
        check("file", None);
        check("loki=http://x", LokiConfig::parse("http://x").ok().map(Target::Loki));
        check("loki=http://x,bogus=1", None);
        check("zzz", None);
    }
}
