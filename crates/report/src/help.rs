//! Texts below the flags of a subcommand, wrapped at the terminal's width.

/// Indentation of a description that has a line of its own, and of the rest of a long command.
const INDENT: usize = 6;

/// Indentation of commands and of lists.
const ITEM: &str = "  ";

/// Blanks between a command and its description at least.
const GAP: &str = "  ";

/// A piece of a help text.
enum Piece<'a> {
    /// A paragraph, or a list of values that is written as one; with its indentation.
    Prose(&'static str, String),
    /// Commands with their descriptions, which stand below each other where they fit.
    Commands(Vec<(&'a str, String)>),
    Blank,
}

/// Wraps a help text: paragraphs at the width, and descriptions of commands below the commands where a line is too narrow for
/// both.
pub fn wrap(text: &str, width: usize) -> String {
    let lines: Vec<String> = pieces(text).iter().map(|piece| piece.lines(width)).collect();
    lines.join("\n")
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let mut is_heading = true;
    for line in text.lines() {
        let content = line.trim_start();
        let is_item = line.starts_with(ITEM);
        let is_command = content.starts_with("plimsoll ")
            || content.starts_with("PLIMSOLL_")
            || content.starts_with("cargo ");
        match (pieces.last_mut(), is_item) {
            _ if content.is_empty() => pieces.push(Piece::Blank),
            (Some(Piece::Commands(commands)), true) if is_command => commands.push(parted(content)),
            (Some(Piece::Commands(commands)), true) => {
                // The description of a command that left no space for it.
                if let Some((_, description)) = commands.last_mut() {
                    add(description, content);
                }
            }
            (_, true) if is_command => pieces.push(Piece::Commands(vec![parted(content)])),
            (Some(Piece::Prose(ITEM, prose)), true) => add(prose, content),
            (_, true) => pieces.push(Piece::Prose(ITEM, content.to_owned())),
            (Some(Piece::Prose("", prose)), false) if !is_heading => add(prose, content),
            (_, false) => pieces.push(Piece::Prose("", content.to_owned())),
        }
        is_heading = line.ends_with(':');
    }
    pieces
}

fn parted(line: &str) -> (&str, String) {
    match line.split_once(GAP) {
        Some((command, description)) => (command, description.trim().to_owned()),
        None => (line, String::new()),
    }
}

fn add(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(more);
}

impl Piece<'_> {
    fn lines(&self, width: usize) -> String {
        match self {
            Piece::Blank => String::new(),
            Piece::Prose(indent, text) => filled(text, indent, indent, width),
            Piece::Commands(commands) => {
                let described = commands.iter().filter(|(_, description)| !description.is_empty());
                let column = described.map(|(command, _)| command.chars().count()).max().unwrap_or(0);
                let is_wide = commands.iter().all(|(command, description)| {
                    let used = match description.is_empty() {
                        true => command.chars().count(),
                        false => column + GAP.len() + description.chars().count(),
                    };
                    ITEM.len() + used <= width
                });
                let lines = commands.iter().map(|(command, description)| match is_wide {
                    _ if description.is_empty() => filled(command, ITEM, &" ".repeat(INDENT), width),
                    true => format!("{ITEM}{command:<column$}{GAP}{description}"),
                    false => {
                        let indent = " ".repeat(INDENT);
                        let command = filled(command, ITEM, &indent, width);
                        format!("{command}\n{}", filled(description, &indent, &indent, width))
                    }
                });
                lines.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

/// Breaks a text between words, with an indentation for the first line and for the others.
fn filled(text: &str, first: &str, others: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let indent = if lines.len() == 1 { first } else { others };
        let line = lines.last_mut().map_or(0, |line| line.chars().count());
        if line > 0 && indent.len() + line + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            add(line, word);
        }
    }
    let indented = lines
        .iter()
        .enumerate()
        .map(|(nth, line)| format!("{}{line}", if nth == 0 { first } else { others }));
    indented.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Runs a script at several load steps,
each as its own run.

Examples:
  plimsoll sweep script.js                       one
  plimsoll sweep script.js --vus 50,100,200,400  each with 1, 2 and 3 replicas
  plimsoll show @last

Exit codes:
  0 passed, 99 thresholds crossed, 100 setup timed out,
  101 teardown timed out";

    #[test]
    fn wide_terminals_show_descriptions_beside_commands() {
        let expect = "\
Runs a script at several load steps, each as its own run.

Examples:
  plimsoll sweep script.js                       one
  plimsoll sweep script.js --vus 50,100,200,400  each with 1, 2 and 3 replicas
  plimsoll show @last

Exit codes:
  0 passed, 99 thresholds crossed, 100 setup timed out, 101 teardown timed out";
        assert_eq!(wrap(TEXT, 80), expect);
    }

    #[test]
    fn narrow_terminals_show_them_below() {
        let expect = "\
Runs a script at several load steps,
each as its own run.

Examples:
  plimsoll sweep script.js
      one
  plimsoll sweep script.js --vus
      50,100,200,400
      each with 1, 2 and 3 replicas
  plimsoll show @last

Exit codes:
  0 passed, 99 thresholds crossed, 100
  setup timed out, 101 teardown timed
  out";
        assert_eq!(wrap(TEXT, 38), expect);
    }

    #[test]
    fn a_description_on_a_line_of_its_own_belongs_to_its_command() {
        let text = "Examples:\n  plimsoll run a.js\n                    an A/B test";
        assert_eq!(wrap(text, 80), "Examples:\n  plimsoll run a.js  an A/B test");
    }
}
