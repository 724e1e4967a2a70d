//! Plimsoll's command line: flags, subcommands and exit codes, one file per subcommand.
//!
//! The work is done in other crates: `session` runs a test, `runs` reads stored ones, `pages` answers the page.

mod destination;
mod flags;
mod lab_script;
#[cfg(feature = "lab")]
mod lab_system;
mod settings;
#[cfg(feature = "lab")]
mod systems;
mod verbs;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use model::LogLevel;
use runs::{Exit, Failure};
use session::Context;
use session::terminal::print_error;

use crate::flags::{Cli, Verb};

/// Runs the program, from its arguments to its exit code.
pub fn main() -> ExitCode {
    let command = wrapped(Cli::command(), session::terminal::help_columns());
    let parsed = command.try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            let error = misuse::reworded(error, &Cli::command());
            // Help and version arrive here, too, and are no failure.
            let exit = if error.use_stderr() { Exit::Other } else { Exit::Ok };
            let _ = error.print();
            return exit.code().into();
        }
    };
    let exit = std::panic::catch_unwind(|| run(&cli)).unwrap_or_else(|_| {
        print_error("plimsoll crashed because of a bug; please report it with the lines above");
        Exit::Panic
    });
    exit.code().into()
}

/// Wraps the texts below the flags of a command and its subcommands, which clap breaks at the width alone.
fn wrapped(command: clap::Command, columns: usize) -> clap::Command {
    let text = command.get_after_help().map(|text| report::help::wrap(&text.to_string(), columns));
    let command = command.term_width(columns).mut_subcommands(|command| wrapped(command, columns));
    text.into_iter().fold(command, clap::Command::after_help)
}

fn run(cli: &Cli) -> Exit {
    let console_output = match &cli.verb {
        Verb::Run(flags) => flags.options.console_output.as_deref(),
        _ => None,
    };
    let context = match settings::common::resolve(&cli.global, console_output) {
        Ok(context) => context,
        Err(failure) => {
            print_error(&failure.text);
            return failure.exit;
        }
    };
    let exit = dispatch(cli, &context).unwrap_or_else(|failure| report(&failure, &context));
    context.logger.finish();
    exit
}

fn dispatch(cli: &Cli, context: &Context) -> Result<Exit, Failure> {
    let with_agents = match &cli.verb {
        Verb::Run(flags) => Some((&flags.agents, &flags.script)),
        Verb::Find(flags) => Some((&flags.agents, &flags.script)),
        Verb::Capacity(flags) => Some((&flags.study.agents, &flags.study.script)),
        Verb::Sweep(flags) => Some((&flags.study.agents, &flags.study.script)),
        _ => None,
    };
    if let Some((agents, script)) = with_agents
        && let Some(exit) = verbs::in_cluster::run(agents, script, context)?
    {
        return Ok(exit);
    }
    match &cli.verb {
        Verb::Run(flags) => verbs::run::run(flags, context),
        Verb::Demo(flags) => verbs::demo::run(flags, context),
        Verb::Runs(flags) => verbs::runs::run(flags, context),
        Verb::Show(flags) => verbs::show::run(flags, context),
        Verb::Report(flags) => verbs::report::run(flags, context),
        Verb::Serve(flags) => verbs::serve::run(flags, context),
        Verb::Find(flags) => verbs::find::run(flags, context),
        Verb::Capacity(flags) => verbs::capacity::run(flags, context),
        Verb::Sweep(flags) => verbs::sweep::run(flags, context),
        Verb::Compare(flags) => verbs::compare::run(flags, context),
        Verb::History(flags) => verbs::history::run(flags, context),
        Verb::Export(flags) => verbs::export::run(flags, context),
        Verb::Import(flags) => verbs::import::run(flags, context),
        Verb::Merge(flags) => verbs::merge::run(flags, context),
        Verb::Audit(flags) => verbs::audit::run(flags, context),
        Verb::Diagnose(flags) => verbs::diagnose::run(flags, context),
        Verb::Doctor(flags) => verbs::doctor::run(flags, context),
        Verb::Collect(flags) => verbs::collect::run(flags, context),
        Verb::HostAgent(flags) => verbs::host_agent::run(flags, context),
        Verb::Agent(flags) => agents::run_agent(flags, context),
        Verb::Kubernetes(flags) => agents::run_kubernetes(flags, context),
        Verb::Note(flags) => verbs::note::run(flags, context),
        Verb::SplitTest(flags) => verbs::split_test::run(flags, context),
        Verb::Calibrate(flags) => verbs::calibrate::run(flags, context),
        Verb::Inspect(flags) => verbs::inspect::run(flags, context),
        Verb::Archive(flags) => verbs::archive::run(flags, context),
        Verb::Deps(flags) => verbs::deps::run(flags, context),
        Verb::New(flags) => verbs::new::run(flags, context),
        Verb::Types(flags) => verbs::types::run(flags, context),
        Verb::Mcp(flags) => verbs::mcp::run(flags, &cli.global, context),
        Verb::Help(flags) => verbs::help::run(flags),
        Verb::Man(flags) => verbs::man::run(flags),
        #[cfg(feature = "lab")]
        Verb::Lab(flags) => verbs::lab::run(flags, context),
        Verb::Status => verbs::status::run(context),
        Verb::Stats => verbs::stats::run(context),
        Verb::Pause => verbs::pause::run(context),
        Verb::Resume => verbs::resume::run(context),
        Verb::Scale(flags) => verbs::scale::run(flags, context),
        Verb::Version(flags) => {
            verbs::version::run(flags);
            Ok(Exit::Ok)
        }
        Verb::Completions(flags) => {
            verbs::completions::run(flags);
            Ok(Exit::Ok)
        }
    }
}

fn report(failure: &Failure, context: &Context) -> Exit {
    context.logger.say(LogLevel::Error, failure.text.clone());
    for part in &failure.below {
        context.logger.print(&format!("{}\n", report::escape::terminal_lines(part)));
    }
    failure.exit
}
