//! `plimsoll help`: the help of a subcommand, a topic of the guides, or the list of both.

use clap::CommandFactory;
use runs::{Exit, Failure};
use session::terminal::{help_columns, print};

use crate::flags::{Cli, HelpFlags};

/// Runs the subcommand.
///
/// # Errors
/// There is no such subcommand or topic.
pub(crate) fn run(flags: &HelpFlags) -> Result<Exit, Failure> {
    let columns = help_columns();
    let mut root = crate::wrapped(Cli::command(), columns);
    root.build();
    let Some(name) = flags.name.first() else {
        print(&format!("{}\n{}", root.render_long_help(), guide::index(columns)));
        return Ok(Exit::Ok);
    };
    let verb = flags.name.iter().try_fold(&root, |command, name| command.find_subcommand(name));
    let topic = guide::topic(name).filter(|_| flags.name.len() == 1);
    if verb.is_none() && topic.is_none() {
        return Err(unknown(&root, &flags.name));
    }
    let verb = verb.map(|verb| verb.clone().render_long_help().to_string());
    let topic = topic.map(|topic| topic.page(columns));
    print(&[verb, topic].into_iter().flatten().collect::<Vec<_>>().join("\n"));
    Ok(Exit::Ok)
}

fn unknown(root: &clap::Command, words: &[String]) -> Failure {
    let verbs = root.get_subcommands().filter(|verb| !verb.is_hide_set()).map(clap::Command::get_name);
    let (name, next) = (words.join(" "), guide::next_step(words, verbs));
    Failure::new(Exit::Other, format!("failed to find help on {name:?}: no subcommand or topic; {next}"))
}
