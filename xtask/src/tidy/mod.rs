//! The rules of the house that neither the compiler nor clippy knows. A test runs them, so that a rule is not a wish.

mod banned;
mod binary;
mod book;
mod edges;
mod files;
mod lines;
mod links;
mod messages;
mod modules;
mod names;
mod phrases;
mod prose;
mod roots;

use anyhow::{Context, bail};

use files::TextFile;

/// A rule: gives one sentence for each place that breaks it.
type Rule = fn(&[TextFile]) -> anyhow::Result<Vec<String>>;

const RULES: &[Rule] = &[
    edges::allowed,
    edges::absent,
    roots::say_what_they_are,
    lines::clean,
    links::resolve,
    phrases::plain,
    messages::short,
    modules::without_cycles,
    binary::is_thin,
    names::only_in_catalogues,
    book::is_whole,
];

pub(crate) fn main(mut parser: lexopt::Parser) -> anyhow::Result<()> {
    if let Some(argument) = parser.next().context("read the arguments")? {
        bail!("tidy: {}", argument.unexpected());
    }
    let complaints = complaints()?;
    if complaints.is_empty() {
        return Ok(());
    }
    bail!("find the house tidy:\n{}", complaints.join("\n"))
}

/// Everything that breaks a rule, in the order of the rules.
fn complaints() -> anyhow::Result<Vec<String>> {
    let files = files::all()?;
    let mut complaints = Vec::new();
    for rule in RULES {
        complaints.extend(rule(&files)?);
    }
    Ok(complaints)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_house_is_tidy() {
        let complaints = super::complaints().expect("readable sources");
        assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    }
}
