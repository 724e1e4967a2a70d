//! `plimsoll completions`

use clap::CommandFactory;

use crate::flags::{Cli, CompletionsFlags};

/// Prints the completion script of a shell.
pub(crate) fn run(flags: &CompletionsFlags) {
    let mut text = Vec::new();
    clap_complete::generate(flags.shell, &mut Cli::command(), "plimsoll", &mut text);
    session::terminal::print(&String::from_utf8_lossy(&text));
}
