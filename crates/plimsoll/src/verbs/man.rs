//! `plimsoll man`: man pages of the program and its subcommands, for packages.

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use runs::{Exit, Failure};

use crate::flags::{Cli, ManFlags};

/// Runs the subcommand: writes `plimsoll.1` and one page per subcommand.
///
/// # Errors
/// A page cannot be written.
pub(crate) fn run(flags: &ManFlags) -> Result<Exit, Failure> {
    let mut root = Cli::command();
    root.build();
    let mut pages = vec![(root.get_name().to_owned(), root)];
    while let Some((name, command)) = pages.pop() {
        let below = command.get_subcommands().filter(|below| !below.is_hide_set());
        pages.extend(below.map(|below| (format!("{name}-{}", below.get_name()), below.clone())));
        let path = flags.folder.join(format!("{name}.1"));
        let written = page(command).and_then(|page| std::fs::write(&path, page));
        written.map_err(|error| {
            Failure::new(Exit::Other, format!("failed to write {}: {error}", path.display()))
        })?;
    }
    Ok(Exit::Ok)
}

/// One page. The text below the flags is laid out by hand, and stays so.
fn page(command: Command) -> std::io::Result<Vec<u8>> {
    let notes = command.get_after_help().map(ToString::to_string);
    let man = Man::new(command.version(env!("CARGO_PKG_VERSION")).after_help(""));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    man.render_subcommands_section(&mut page)?;
    let mut roff = Roff::new();
    if let Some(notes) = notes {
        roff.control("SH", ["NOTES"]).control("nf", []);
        for line in notes.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff.control("SH", ["SEE ALSO"]).text([roman("plimsoll help, plimsoll help TOPIC")]);
    roff.to_writer(&mut page)?;
    Ok(page)
}
