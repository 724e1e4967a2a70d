//! `plimsoll completions`

use clap::CommandFactory;

use crate::flags::{Cli, CompletionsFlags};

/// Prints the completion script of a shell.
pub(crate) fn run(flags: &CompletionsFlags) {
    clap_complete::generate(flags.shell, &mut Cli::command(), "plimsoll", &mut std::io::stdout());
}
