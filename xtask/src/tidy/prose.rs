//! Extracts the prose from sources and documents: comments and string literals of code, and the text of Markdown without code.

use super::files::TextFile;

/// Source of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A paragraph or line of a document.
    Text,
    /// A doc comment, starting with `///` or `//!`.
    Doc,
    /// Any other line comment.
    Comment,
    /// A string literal.
    Literal,
}

/// A piece of prose with the line it starts on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    pub(super) line: usize,
    pub(super) kind: Kind,
    pub(super) text: String,
}

/// Returns the passages of a file, without inline code in backticks; empty for files that hold no prose.
pub(super) fn passages(file: &TextFile) -> Vec<Passage> {
    let mut found = match file.extension() {
        "md" => markdown(&file.text),
        "rs" => code(&file.text),
        "ts" | "svelte" | "js" => lines(&file.text),
        _ => Vec::new(),
    };
    for passage in &mut found {
        passage.text = without_code(&passage.text);
    }
    found
}

/// Returns each line of a document outside fenced code, without the targets of links.
fn markdown(text: &str) -> Vec<Passage> {
    let mut inside = false;
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside {
            found.push(Passage { line: index + 1, kind: Kind::Text, text: without_targets(line) });
        }
    }
    found
}

fn lines(text: &str) -> Vec<Passage> {
    let numbered = text.lines().enumerate();
    numbered.map(|(index, line)| Passage { line: index + 1, kind: Kind::Text, text: line.into() }).collect()
}

/// Removes the targets of Markdown links.
fn without_targets(line: &str) -> String {
    let mut parts = line.split("](");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push(']');
        kept.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    kept
}

/// Replaces code between backticks by one word.
fn without_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text.to_owned();
    }
    parts.iter().enumerate().map(|(index, part)| if index % 2 == 0 { *part } else { "code" }).collect()
}

/// Returns the line comments and string literals of Rust code.
fn code(text: &str) -> Vec<Passage> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let (length, kind) = token(rest, first);
        let (token, after) = rest.split_at(length);
        if let Some(kind) = kind {
            found.push(Passage { line, kind, text: body(token, kind) });
        }
        line += token.matches('\n').count();
        rest = after;
    }
    found
}

/// Returns the length in bytes of the token at the start of the text, and its kind if it is prose.
fn token(rest: &str, first: char) -> (usize, Option<Kind>) {
    if rest.starts_with("//") {
        let length = rest.find('\n').unwrap_or(rest.len());
        let is_doc = rest.starts_with("///") || rest.starts_with("//!");
        return (length, Some(if is_doc { Kind::Doc } else { Kind::Comment }));
    }
    if first == 'r' && (rest.starts_with("r\"") || rest.starts_with("r#")) {
        let hashes = rest[1..].chars().take_while(|character| *character == '#').count();
        if rest[1 + hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let start = 2 + hashes;
            let length = rest[start..].find(&end).map_or(rest.len(), |at| start + at + end.len());
            return (length, Some(Kind::Literal));
        }
    }
    if first == '"' {
        return (string_length(rest), Some(Kind::Literal));
    }
    if first == '\'' {
        return (character_length(rest), None);
    }
    if first.is_alphanumeric() || first == '_' {
        let end = rest.find(|character: char| !character.is_alphanumeric() && character != '_');
        return (end.unwrap_or(rest.len()), None);
    }
    (first.len_utf8(), None)
}

/// Returns the length of a string literal with its quotes.
fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of a character literal; 1 for the quote of a lifetime.
fn character_length(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => rest[3..].find('\'').map_or(1, |at| at + 4),
        Some((at, character)) if rest[at + character.len_utf8()..].starts_with('\'') => {
            at + character.len_utf8() + 1
        }
        _ => 1,
    }
}

fn body(token: &str, kind: Kind) -> String {
    match kind {
        Kind::Literal => {
            let inside = token.trim_start_matches(['r', '#']).trim_end_matches('#');
            inside.trim_start_matches('"').trim_end_matches('"').replace("\\\n", "\n").replace("\\n", "\n")
        }
        Kind::Doc | Kind::Comment => token.trim_start_matches(['/', '!']).trim().to_owned(),
        Kind::Text => token.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expect: &[(usize, Kind, &str)]) {
        let file = TextFile { path: path.into(), text: text.into() };
        let expect: Vec<Passage> = expect
            .iter()
            .map(|(line, kind, text)| Passage { line: *line, kind: *kind, text: (*text).into() })
            .collect();
        assert_eq!(passages(&file), expect, "{text:?}");
    }

    #[test]
    fn code_gives_its_comments_and_literals() {
        check(
            "a.rs",
            "/// Parses.\nfn f<'a>() { g(\"a \\\" // b\", 'x', '\\'') } // why",
            &[(1, Kind::Doc, "Parses."), (2, Kind::Literal, "a \\\" // b"), (2, Kind::Comment, "why")],
        );
        check("a.rs", "let a = r#\"one \"two\"\"#;\nlet for_b = 1;", &[(1, Kind::Literal, "one \"two")]);
    }

    #[test]
    fn documents_give_text_without_code() {
        check(
            "a.md",
            "Use `told` [here](told.md).\n```sh\ntold\n```\nEnd",
            &[(1, Kind::Text, "Use code [here]."), (5, Kind::Text, "End")],
        );
        check("a.toml", "told", &[]);
    }
}
