//! Plimsoll: load tests with k6 scripts.
//!
//! This room only wires: flags become settings, a script becomes a test, a run's events reach their listeners, and the
//! outcome becomes an exit code. One file per verb.

mod common;
mod detached;
mod env;
mod evidence;
mod exit;
mod flags;
mod live;
mod logger;
mod loki;
mod of_lab;
mod page;
mod program;
mod receiving;
mod secrets;
mod session;
mod signals;
mod source;
mod stored;
mod summary;
mod test;
mod traces;
mod verbs;
mod watch;

use std::process::ExitCode;

use clap::Parser;
use model::LogLevel;
use runs::{Exit, Failure};

use crate::common::Common;
use crate::flags::{Cli, Verb};

/// The whole program, from its arguments to its exit code.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way too, and are no failure.
            let exit = if error.use_stderr() { Exit::Other } else { Exit::Ok };
            let _ = error.print();
            return exit.code().into();
        }
    };
    let exit = std::panic::catch_unwind(|| run(&cli)).unwrap_or_else(|_| {
        print_error("plimsoll stopped by a bug of its own; please report it with the lines above");
        Exit::Panic
    });
    exit.code().into()
}

fn run(cli: &Cli) -> Exit {
    let console_output = match &cli.verb {
        Verb::Run(flags) => flags.options.console_output.as_deref(),
        _ => None,
    };
    let common = match Common::resolve(&cli.global, console_output) {
        Ok(common) => common,
        Err(failure) => {
            print_error(&failure.text);
            return failure.exit;
        }
    };
    let exit = dispatch(&cli.verb, &common).unwrap_or_else(|failure| report(&failure, &common));
    common.logger.finish();
    exit
}

fn dispatch(verb: &Verb, common: &Common) -> Result<Exit, Failure> {
    match verb {
        Verb::Run(flags) => verbs::run::run(flags, common),
        Verb::Demo(flags) => verbs::demo::run(flags, common),
        Verb::Runs(flags) => verbs::runs::run(flags, common),
        Verb::Show(flags) => verbs::show::run(flags, common),
        Verb::Report(flags) => verbs::report::run(flags, common),
        Verb::Serve(flags) => verbs::serve::run(flags, common),
        Verb::Capacity(flags) => verbs::capacity::run(flags, common),
        Verb::Sweep(flags) => verbs::sweep::run(flags, common),
        Verb::Compare(flags) => verbs::compare::run(flags, common),
        Verb::History(flags) => verbs::history::run(flags, common),
        Verb::Export(flags) => verbs::export::run(flags, common),
        Verb::Import(flags) => verbs::import::run(flags, common),
        Verb::Merge(flags) => verbs::merge::run(flags, common),
        Verb::Audit(flags) => verbs::audit::run(flags, common),
        Verb::Diagnose(flags) => verbs::diagnose::run(flags, common),
        Verb::Doctor(flags) => verbs::doctor::run(flags, common),
        Verb::Collect(flags) => verbs::collect::run(flags, common),
        Verb::HostAgent(flags) => verbs::host_agent::run(flags, common),
        Verb::Note(flags) => verbs::note::run(flags, common),
        Verb::SplitTest(flags) => verbs::split_test::run(flags, common),
        Verb::Calibrate(flags) => verbs::calibrate::run(flags, common),
        Verb::Inspect(flags) => verbs::inspect::run(flags, common),
        Verb::Archive(flags) => verbs::archive::run(flags, common),
        Verb::Deps(flags) => verbs::deps::run(flags, common),
        Verb::New(flags) => verbs::new::run(flags, common),
        Verb::Lab(flags) => verbs::lab::run(flags, common),
        Verb::Status => verbs::status::run(common),
        Verb::Stats => verbs::stats::run(common),
        Verb::Pause => verbs::pause::run(common),
        Verb::Resume => verbs::resume::run(common),
        Verb::Scale(flags) => verbs::scale::run(flags, common),
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

fn report(failure: &Failure, common: &Common) -> Exit {
    common.logger.say(LogLevel::Error, failure.text.clone());
    for part in &failure.below {
        common.logger.print(&format!("{part}\n"));
    }
    failure.exit
}

/// Prints text to standard output. Whoever has closed it (`| head`) has read enough.
fn print(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
}

/// Prints an error where there is no log yet, or none any more.
fn print_error(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{text}\n").as_bytes());
}
