//! The end-of-test summary: `handleSummary`, the summary as text, and export files.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::RunOutcome;
use model::{Clock, LogLevel, SystemClock, Validity};
use report::summary::{self, Layout, RunFacts, SummaryFacts, SummaryInput};
use script::{RunContext, ScriptError};

use crate::Context;
use crate::detached;
use crate::logger;
use crate::program::full_text;
use crate::test::Test;

/// Settings of the summary.
#[derive(Clone, Debug, Default)]
pub struct SummarySettings {
    /// Rows and their layout; `None` hides the summary and skips `handleSummary`.
    pub layout: Option<Layout>,
    /// The file for the summary as JSON.
    pub export: Option<PathBuf>,
    /// Whether to use k6's newer JSON format.
    pub is_machine_readable: bool,
}

/// Shows the results. As in k6, write errors are logged and change no exit code.
pub fn show(
    test: &Test,
    context: &Context,
    run: &Arc<RunContext>,
    settings: &SummarySettings,
    outcome: &mut RunOutcome,
    validity: Validity,
) {
    let Some(layout) = settings.layout else { return };
    let setup_data = outcome.setup_data.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let view = outcome.totals.view(outcome.elapsed);
    let mut input = SummaryInput::from_view(&view, &SummaryFacts::new(&test.plan), setup_data);
    input.validity = Some(validity);
    let machine = settings.is_machine_readable.then(|| machine_summary(test, context, layout, &input));
    let made = test.script.bundle.has("handleSummary").then(|| {
        let data = machine.clone().unwrap_or_else(|| handle_summary_data(test, context, &input));
        handle_summary(test, run, data)
    });
    let own = match made {
        None => None,
        Some(Ok(own)) => own,
        Some(Err(error @ ScriptError::Summary(_))) => {
            context.logger.say(LogLevel::Error, format!("failed to {error}"));
            Some(Vec::new())
        }
        Some(Err(error)) => {
            explain(&error, test.plan.lifecycle.handle_summary_timeout, context);
            None
        }
    };
    match own {
        Some(files) => files.iter().for_each(|(name, bytes)| write(name, bytes, context)),
        None => print(test, context, layout, &input),
    }
    if let Some(path) = &settings.export {
        let text = machine.unwrap_or_else(|| json(&summary::export(&input, test.plan.compat), true));
        write(&path.display().to_string(), context.redactor.json_hidden(&text).as_bytes(), context);
    }
}

fn print(test: &Test, context: &Context, layout: Layout, input: &SummaryInput) {
    let options = summary::Options {
        layout,
        style: logger::style(context.may_colour && std::io::stdout().is_terminal()),
        time_unit: test.plan.summary.time_unit,
        compat: test.plan.compat,
    };
    let text = summary::render(input, &options);
    write("stdout", context.redactor.values_hidden(&text).as_bytes(), context);
}

fn handle_summary_data(test: &Test, context: &Context, input: &SummaryInput) -> String {
    let facts = RunFacts {
        options: &test.plan.summary,
        no_color: !context.may_colour,
        stdout_is_terminal: std::io::stdout().is_terminal(),
        stderr_is_terminal: std::io::stderr().is_terminal(),
        compat: test.plan.compat,
    };
    json(&summary::handle_summary_data(input, &facts), false)
}

fn machine_summary(test: &Test, context: &Context, layout: Layout, input: &SummaryInput) -> String {
    let generated_at = api::rfc3339(SystemClock.wall_unix_ns().max(context.epoch.wall_unix_ns));
    let (compat, script) = (test.plan.compat, &test.script.source.text);
    json(&summary::machine_summary(input, layout, compat, script, generated_at), true)
}

fn json(value: &impl serde::Serialize, is_indented: bool) -> String {
    let text = if is_indented { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    text.expect("names are strings, and numbers that JSON lacks are turned into others")
}

/// Writes to a stream by name, or to a file.
fn write(name: &str, bytes: &[u8], context: &Context) {
    let result = match name {
        "stdout" => std::io::stdout().write_all(bytes).and_then(|()| std::io::stdout().flush()),
        "stderr" => std::io::stderr().write_all(bytes),
        path => std::fs::write(Path::new(path), bytes),
    };
    if let Err(error) = result {
        context.logger.say(LogLevel::Error, format!("failed to write the summary to {name}: {error}"));
    }
}

fn explain(error: &ScriptError, limit: Duration, context: &Context) {
    let text = match error {
        ScriptError::Interrupted => {
            format!("handleSummary() execution timed out after {} seconds", limit.as_secs_f64())
        }
        other => full_text(other),
    };
    context.logger.say(LogLevel::Error, format!("failed to run handleSummary(): {text}"));
}

/// The result of `handleSummary`: texts by the names of streams and files; `None` if it keeps the default.
type Texts = Option<Vec<(String, Vec<u8>)>>;

/// Calls `handleSummary` in a separate VU.
fn handle_summary(test: &Test, run: &Arc<RunContext>, data: String) -> Result<Texts, ScriptError> {
    let limit = test.plan.lifecycle.handle_summary_timeout;
    detached::call(&test.script.bundle, run, limit, move |mut vu| vu.handle_summary(&data))
}
