//! Errors of scripts, with their place and a hint.

use std::fmt::Write as _;

use rquickjs::{CatchResultExt, CaughtError, Ctx, Object, Value};

use crate::console::{error_text, thrown_text};
use crate::source::places::{Place, Places, first_place};
use crate::state::stop::{Stop, StopReason};

/// A script that could not be loaded, or an uncaught exception.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScriptError {
    /// The script or a module of it cannot be read or found.
    #[error("{0}")]
    Missing(String),
    /// An exception: k6's one-line message with the stack, and a picture of the place.
    #[error("{message}")]
    Exception {
        /// `ReferenceError: x is not defined` and the stack below it.
        message: String,
        /// The source line with a caret, where known.
        excerpt: Option<String>,
        /// The remedy, where known.
        hint: Option<String>,
    },
    /// It was cut off.
    #[error("script was interrupted")]
    Interrupted,
    /// It holds as much memory as it may.
    #[error("{0}")]
    Memory(String),
    /// The script asked for the end of the test.
    #[error("test aborted: {0}")]
    Aborted(String),
    /// It did what k6 crashes at, and `--compat strict` was asked for.
    #[error("{0}; k6 crashes here, and without --compat strict this is an exception")]
    Crashed(String),
    /// `setup()` returned what cannot be handed on.
    #[error("pass on what setup() returned: {0}, which JSON cannot hold")]
    SetupData(String),
    /// `handleSummary()` returned what cannot be written.
    #[error("write what handleSummary() returned: {0}")]
    Summary(String),
    /// The host could not make a VU.
    #[error("cannot create a JavaScript runtime: {0}")]
    Host(String),
}

/// Unwinds the script from inside a native: nothing in JavaScript can catch it.
pub(crate) fn unwind(ctx: &Ctx<'_>, stop: &Stop, reason: StopReason) -> rquickjs::Error {
    stop.set(reason);
    crate::js::throw_uncatchable(ctx)
}

/// Turns the result of running JavaScript into the host's own error.
pub(crate) fn catch<'js, T>(
    ctx: &Ctx<'js>,
    result: rquickjs::Result<T>,
    stop: &Stop,
    places: Places<'_>,
) -> Result<T, ScriptError> {
    result.catch(ctx).map_err(|error| stopped(stop).unwrap_or_else(|| describe(error, places)))
}

/// Returns the failure to make a VU. Its first code is ours, but a stop or the memory's ceiling ends that code too.
pub(crate) fn host(error: &rquickjs::Error, stop: &Stop) -> ScriptError {
    stopped(stop).unwrap_or_else(|| ScriptError::Host(error.to_string()))
}

/// Returns why the script was stopped; `None` if it failed by itself.
fn stopped(stop: &Stop) -> Option<ScriptError> {
    match stop.reason() {
        StopReason::Interrupted => Some(ScriptError::Interrupted),
        StopReason::Aborted => Some(ScriptError::Aborted(String::new())),
        StopReason::Crashed => Some(ScriptError::Crashed(String::new())),
        StopReason::Memory => Some(ScriptError::Memory(stop.memory.explain())),
        StopReason::None => None,
    }
}

fn describe(error: CaughtError<'_>, places: Places<'_>) -> ScriptError {
    let (text, stack) = match error {
        CaughtError::Exception(exception) => {
            let object: &Object<'_> = exception.as_object();
            (error_text(object), exception.stack().unwrap_or_default())
        }
        CaughtError::Value(value) => (thrown_text(&value), String::new()),
        CaughtError::Error(error) => (error.to_string(), String::new()),
    };
    exception(text, &stack, places)
}

/// The error of a promise that was rejected and never handled.
pub(crate) fn from_reason(reason: &Value<'_>, places: Places<'_>) -> ScriptError {
    let stack =
        reason.as_object().and_then(|object| object.get::<_, String>("stack").ok()).unwrap_or_default();
    exception(format!("Uncaught (in promise) {}", thrown_text(reason)), &stack, places)
}

fn exception(text: String, stack: &str, places: Places<'_>) -> ScriptError {
    let stack = places.shown(stack);
    // What was thrown may quote another error's stack.
    let text = places.shown(&text).into_owned();
    let excerpt = first_place(&stack).and_then(|place| picture(&place, &places.text(&place.file)?));
    let hint = hint(&text).map(str::to_owned);
    let mut message = text;
    for line in stack.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let _ = write!(message, "\n\t{line}");
    }
    ScriptError::Exception { message, excerpt, hint }
}

/// The source line with a caret below the column.
fn picture(place: &Place, source: &str) -> Option<String> {
    /// A minified bundle is one line of a hundred kilobytes: show what surrounds the column.
    const WIDTH_MAX: usize = 100;
    let line = source.lines().nth(place.line.checked_sub(1)?)?;
    let chars: Vec<char> = line.chars().collect();
    let column = place.column.saturating_sub(1).min(chars.len());
    let from = column.saturating_sub(WIDTH_MAX / 2);
    let shown: String =
        chars.iter().skip(from).take(WIDTH_MAX).map(|c| if *c == '\t' { ' ' } else { *c }).collect();
    let number = place.line.to_string();
    let gutter = " ".repeat(number.len());
    Some(format!(
        "{gutter} --> {}:{}:{}\n{gutter} |\n{number} | {shown}\n{gutter} | {}^",
        place.file,
        place.line,
        place.column,
        " ".repeat(column - from)
    ))
}

/// The name and the module of an import that the engine could not link.
pub(crate) fn missing_export(message: &str) -> Option<(&str, &str)> {
    let rest = message.lines().next()?.strip_prefix("SyntaxError: Could not find export '")?;
    let (name, module) = rest.split_once("' in module '")?;
    Some((name, module.strip_suffix('\'')?))
}

/// The remedy for a well-known message.
fn hint(message: &str) -> Option<&'static str> {
    const HINTS: &[(&str, &str)] = &[
        (
            "ReferenceError: window is not defined",
            "scripts run outside of a browser: there is no window or document",
        ),
        (
            "ReferenceError: document is not defined",
            "scripts run outside of a browser: there is no window or document",
        ),
        (
            "ReferenceError: process is not defined",
            "scripts do not run on Node.js; environment variables are in __ENV",
        ),
        (
            "ReferenceError: Buffer is not defined",
            "scripts do not run on Node.js; use ArrayBuffer and k6/encoding",
        ),
        ("Maximum call stack size exceeded", "a function calls itself without end"),
        ("stack overflow", "a function calls itself without end"),
        ("in the init context", "move the call into the default function or setup()"),
        ("unexpected token in expression: 'import'", "import statements stand at the top of a file"),
    ];
    HINTS.iter().find(|(part, _)| message.contains(part)).map(|(_, hint)| *hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_points_at_the_column() {
        let place = Place { file: "file:///s.js".into(), line: 2, column: 5 };
        let picture = picture(&place, "one\n  x.y.z()\n").unwrap();
        assert_eq!(picture, "  --> file:///s.js:2:5\n  |\n2 |   x.y.z()\n  |     ^");
    }

    #[test]
    fn the_missing_export_is_named() {
        let message = "SyntaxError: Could not find export 'nope' in module 'k6/http'\n\tat x";
        assert_eq!(missing_export(message), Some(("nope", "k6/http")));
        assert_eq!(missing_export("SyntaxError: Could not find it"), None);
    }

    #[test]
    fn a_minified_line_is_cut_around_the_column() {
        let source = format!("{}BOOM{}", "a".repeat(5000), "b".repeat(5000));
        let picture = picture(&Place { file: "f".into(), line: 1, column: 5001 }, &source).unwrap();
        assert!(picture.contains("BOOM") && picture.len() < 400, "{picture}");
    }
}
