//! `plimsoll mcp`: serves an assistant over standard input and output.

use std::io::{stdin, stdout};

use mcp::Program;
use runs::{Exit, Failure};
use session::Context;

use crate::flags::{GlobalFlags, LimitFlags, McpFlags};
use crate::settings;

/// Limits of tests, unless the user sets others.
const LIMIT_VUS: u64 = 20;
const LIMIT_DURATION: &str = "1m";
const LIMIT_RATE: u32 = 100;
const ALLOW_HOST: [&str; 3] = ["localhost", "127.0.0.0/8", "::1"];

/// Runs the subcommand until the client closes its side.
///
/// # Errors
/// A flag cannot be parsed, the folder does not exist, or the client cannot be read from or written to.
pub(crate) fn run(flags: &McpFlags, global: &GlobalFlags, context: &Context) -> Result<Exit, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(Exit::Other, format!("failed to {error}"));
    let folder = flags.folder.canonicalize();
    let folder = folder.map_err(|error| failed(&format!("open {}: {error}", flags.folder.display())))?;
    let (limits, duration_max) = words(&flags.limits)?;
    let variables = session::test::script_env(&flags.env, Some(false), &context.env, false)?;
    let path = std::env::current_exe().map_err(|error| failed(&format!("find this program: {error}")))?;
    let program = Program {
        path,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        words: global.words(),
        limits,
        duration_max,
        rate_max: flags.limits.limit_rate.unwrap_or(LIMIT_RATE),
        folder,
        variables: variables.into_iter().collect(),
        has_console: flags.console,
    };
    mcp::serve(program, stdin().lock(), stdout()).map_err(|error| failed(&error))?;
    Ok(Exit::Ok)
}

/// The words that hold a test within the limits, and the limit of its duration.
fn words(flags: &LimitFlags) -> Result<(Vec<String>, std::time::Duration), Failure> {
    let duration = flags.limit_duration.clone().unwrap_or_else(|| LIMIT_DURATION.to_owned());
    let (vus, rate) = (flags.limit_vus.unwrap_or(LIMIT_VUS), flags.limit_rate.unwrap_or(LIMIT_RATE));
    let hosts = if flags.allow_host.is_empty() { ALLOW_HOST.join(",") } else { flags.allow_host.join(",") };
    let words = vec![
        format!("--limit-vus={vus}"),
        format!("--limit-duration={duration}"),
        format!("--limit-rate={rate}"),
        format!("--allow-host={hosts}"),
    ];
    let flags = LimitFlags { limit_duration: Some(duration), ..LimitFlags::default() };
    Ok((words, settings::limits(&flags)?.duration_max.unwrap_or_default()))
}
