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

/// Guides that are named where a word is no topic.
const GUIDES_MAX: usize = 3;

/// The error of a name that is neither a subcommand nor a topic. It names the most similar one, or the guides that mention the word.
fn unknown(root: &clap::Command, words: &[String]) -> Failure {
    let name = words.join(" ");
    let last = words.last().map_or("", String::as_str);
    let found = (words.len() == 1).then(|| similar_name(root, last)).flatten();
    let guides = guide::mentioning(last);
    let next = match (found, guides.first()) {
        (Some(found), _) => format!("did you mean `plimsoll help {found}`?"),
        (None, Some(first)) => {
            let names: Vec<&str> = guides.iter().take(GUIDES_MAX).map(|topic| topic.name).collect();
            format!("guides that mention it: {} (plimsoll help {})", names.join(", "), first.name)
        }
        (None, None) => "`plimsoll help` lists both".to_owned(),
    };
    Failure::new(Exit::Other, format!("failed to find help on {name:?}: no subcommand or topic; {next}"))
}

/// The subcommand or topic whose name is the most similar, if any is.
fn similar_name(root: &clap::Command, name: &str) -> Option<String> {
    const SIMILARITY_MIN: f64 = 0.7;
    let verbs = root.get_subcommands().filter(|verb| !verb.is_hide_set()).map(clap::Command::get_name);
    let names = verbs.chain(guide::TOPICS.iter().map(|topic| topic.name));
    let rated = names.map(|known| (strsim::normalized_damerau_levenshtein(name, known), known));
    let best = rated.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= SIMILARITY_MIN).then(|| best.1.to_owned())
}
