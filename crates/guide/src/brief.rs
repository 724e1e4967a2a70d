//! The short form of a guide: its introduction, and the first sentences of each section.

/// Lines of one block of code in the introduction; longer ones are examples to read in the guide.
const CODE_LINES_MAX: usize = 36;

/// Characters of a section's beginning.
const SECTION_CHARS_MAX: usize = 240;

/// A guide's heading and its short form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Brief {
    pub(crate) title: String,
    pub(crate) text: String,
}

/// A piece of a page.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Heading(String),
    Prose(String),
    Item(String),
    Code(Vec<String>),
}

/// Returns the short form of a guide in Markdown.
pub(crate) fn of(page: &str) -> Brief {
    let mut lines = page.lines();
    let title = lines.next().unwrap_or_default().trim_start_matches("# ").to_owned();
    let pieces = pieces(lines);
    let first = pieces.iter().position(|piece| matches!(piece, Piece::Heading(_))).unwrap_or(pieces.len());
    let (introduction, sections) = pieces.split_at(first);
    let mut text = String::new();
    introduction.iter().for_each(|piece| add(piece, &mut text));
    if !sections.is_empty() {
        text += "Sections of the guide:\n\n";
        text += &outline(sections);
    }
    Brief { title, text: format!("{}\n", text.trim_end()) }
}

fn add(piece: &Piece, text: &mut String) {
    match piece {
        Piece::Prose(prose) => *text += &format!("{}\n\n", plain(prose)),
        Piece::Item(item) => {
            // Items stand below each other.
            let follows_one = text.lines().rev().nth(1).is_some_and(|line| line.starts_with("* "));
            if follows_one {
                text.pop();
            }
            *text += &format!("* {}\n\n", plain(item));
        }
        Piece::Code(code) if code.len() <= CODE_LINES_MAX => {
            let lines = code.iter().map(|line| format!("{}\n", format!("    {line}").trim_end()));
            *text += &format!("{}\n", lines.collect::<String>());
        }
        Piece::Code(_) | Piece::Heading(_) => {}
    }
}

/// Each section with the beginning of its first paragraph.
fn outline(sections: &[Piece]) -> String {
    let mut text = String::new();
    let mut open = false;
    for piece in sections {
        match piece {
            Piece::Heading(heading) => {
                text += &format!("{}* {}", if text.is_empty() { "" } else { "\n" }, plain(heading));
                open = true;
            }
            Piece::Prose(prose) if open => {
                text += &format!(": {}", beginning(&plain(prose)));
                open = false;
            }
            _ => {}
        }
    }
    text + "\n"
}

/// The whole sentences that fit, or the first one.
fn beginning(prose: &str) -> String {
    let ends = prose.match_indices(". ").map(|(at, _)| at + 1).chain([prose.len()]);
    let fitting = ends.clone().filter(|end| prose[..*end].chars().count() <= SECTION_CHARS_MAX).last();
    let end = fitting.or_else(|| ends.clone().next()).unwrap_or(prose.len());
    prose[..end].trim_end_matches(':').to_owned()
}

fn pieces<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut code: Option<Vec<String>> = None;
    let mut is_new = true;
    for line in lines.map(str::trim_end) {
        if line.trim_start().starts_with("```") {
            match code.take() {
                Some(lines) => pieces.push(Piece::Code(lines)),
                None => code = Some(Vec::new()),
            }
            is_new = true;
        } else if let Some(code) = &mut code {
            code.push(line.to_owned());
        } else if let Some(heading) = line.strip_prefix("## ") {
            pieces.push(Piece::Heading(heading.to_owned()));
            is_new = true;
        } else if line.is_empty() || line.starts_with(['|', '#', '!', '<']) {
            is_new = true;
        } else if let Some(item) = item(line) {
            pieces.push(Piece::Item(item.to_owned()));
            is_new = false;
        } else {
            match pieces.last_mut().filter(|_| !is_new) {
                Some(Piece::Prose(text) | Piece::Item(text)) => *text += &format!(" {}", line.trim_start()),
                _ => pieces.push(Piece::Prose(line.to_owned())),
            }
            is_new = false;
        }
    }
    pieces
}

/// The text of an item of a list.
fn item(line: &str) -> Option<&str> {
    let numbered = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered = numbered.len() < line.len();
    line.strip_prefix("* ").or_else(|| numbered.strip_prefix(". ").filter(|_| is_numbered))
}

/// Text without marks of links and emphasis.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, label, after)) = next_link(rest) {
        plain += before;
        plain += label;
        rest = after;
    }
    plain += rest;
    plain.replace("**", "")
}

/// The text before the next link, its label, and the text after it.
fn next_link(text: &str) -> Option<(&str, &str, &str)> {
    let middle = text.find("](")?;
    let start = text[..middle].rfind('[')?;
    let end = middle + text[middle..].find(')')?;
    let before = text[..start].strip_suffix('!').unwrap_or(&text[..start]);
    Some((before, &text[start + 1..middle], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guide_becomes_its_introduction_and_the_beginnings_of_sections() {
        let page = "# Title: it\n\nFirst line of\na [paragraph](x.md).\n\n```js\nimport x from 'y';\n\n  x();\n```\n\n* one\n  more\n\
                    2. **two**\n\n| a | b |\n|---|---|\n\n## One\n\nA sentence. Another. \n\nMore.\n\n## Two\n\n| t |\n\nLast:\n";
        let text = "First line of a paragraph.\n\n    import x from 'y';\n\n      x();\n\n* one more\n* two\n\n\
                    Sections of the guide:\n\n* One: A sentence. Another.\n* Two: Last\n";
        assert_eq!(of(page), Brief { title: "Title: it".into(), text: text.into() });
    }

    #[test]
    fn long_code_and_long_sections_are_left_to_the_guide() {
        let code = "x\n".repeat(CODE_LINES_MAX + 1);
        let long = "A sentence. ".repeat(SECTION_CHARS_MAX);
        let brief = of(&format!("# T\n\nText.\n\n```\n{code}```\n\n## S\n\n{long}"));
        assert!(!brief.text.contains("    x"), "{}", brief.text);
        assert!(brief.text.len() < 2 * SECTION_CHARS_MAX, "{}", brief.text);
    }

    #[test]
    fn links_become_their_labels() {
        let check = |text: &str, expect: &str| assert_eq!(plain(text), expect, "{text:?}");
        check("a [b](c) d ([e](f#g)).", "a b d (e).");
        check("![picture](x.png) [0]", "picture [0]");
        check("list[0](x", "list[0](x");
    }
}
