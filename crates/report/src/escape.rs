//! Escapes names from scripts, servers and files for each place that shows them.
//!
//! A script chooses the names of metrics, checks and groups, and a server its error texts. None of them may control a terminal, end
//! a table's cell, open a tag or start a formula. `--out csv` is the exception: its bytes equal k6's, because readers of k6's files
//! must be able to read them.

use std::fmt::Write as _;

pub use api::escape::{is_unseen, terminal, terminal_lines};

/// Characters of a name that Markdown and annotations show; a longer one is cut and ends in `…`.
pub const NAME_CHARS_MAX: usize = 160;

/// Characters of sentences that Markdown shows.
const PROSE_CHARS_MAX: usize = 400;

/// A name as inline code in Markdown, harmless in a table's cell too: one line, no cell's end, no tag, no mention, no link.
pub fn markdown_code(name: &str) -> String {
    let name = short(name);
    if name.is_empty() {
        return "–".to_owned();
    }
    // Between backticks nothing else means anything, but a cell's end does; a tag is kept out for readers that know no code.
    let is_plain = !name.contains(['`', '|', '\\']) && !opens_tag(&name);
    if is_plain && name.trim() == name {
        return format!("`{name}`");
    }
    format!("<code>{}</code>", entities(&name, is_ordinary))
}

/// A sentence with foreign words in Markdown, outside of code: punctuation that means something becomes an entity.
pub fn markdown_text(text: &str) -> String {
    prose(&short(text))
}

/// Escapes sentences of an analysis that quote foreign text, like [`markdown_text`] but with a higher length limit.
pub fn markdown_prose(text: &str) -> String {
    prose(&cut(text, PROSE_CHARS_MAX))
}

/// Lines for a `<pre>` element: characters of HTML become entities, and control characters but line breaks escapes.
pub fn html_lines(text: &str) -> String {
    let lines: Vec<String> = text
        .lines()
        .map(|line| entities(&terminal(line), |glyph| !matches!(glyph, '&' | '<' | '>')))
        .collect();
    lines.join("\n")
}

/// A JSON text that says the same and is harmless on a terminal and within a `<script>` element: what cannot be seen, and the
/// beginnings of tags, are written as JSON's escapes. Both can only be in strings.
pub fn json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut glyphs = text.chars().peekable();
    while let Some(glyph) = glyphs.next() {
        let is_tag = glyph == '<' && glyphs.peek().is_some_and(|next| starts_tag(*next));
        if is_tag || is_unseen(glyph) && glyph != '\n' {
            let mut units = [0; 2];
            for unit in glyph.encode_utf16(&mut units) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(glyph);
        }
    }
    shown
}

/// Text that XML 1.0 can hold: characters that no document may contain (section 2.2 of the standard) are shown as
/// escapes. Quoting is the XML writer's work.
pub fn xml(text: &str) -> String {
    let is_allowed = |glyph: char| !is_unseen(glyph) && !matches!(glyph, '\u{fffe}' | '\u{ffff}');
    let mut shown = String::with_capacity(text.len());
    for glyph in text.chars() {
        match is_allowed(glyph) {
            true => shown.push(glyph),
            false => shown.extend(glyph.escape_default()),
        }
    }
    shown
}

/// The message of a GitHub workflow command: `%`, line breaks.
pub(crate) fn github_message(text: &str) -> String {
    let text: String =
        text.chars().filter(|glyph| !is_unseen(*glyph) || matches!(glyph, '\r' | '\n')).collect();
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a GitHub workflow command, where `:` and `,` mean something besides.
pub(crate) fn github_property(text: &str) -> String {
    github_message(text).replace(':', "%3A").replace(',', "%2C")
}

/// The beginning of a name, without what cannot be seen; a cut ends in `…`.
pub(crate) fn short(name: &str) -> String {
    cut(name, NAME_CHARS_MAX)
}

fn cut(text: &str, chars_max: usize) -> String {
    let mut chars = text.chars();
    let head: String = chars.by_ref().take(chars_max).collect();
    let mut shown = terminal(&head);
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

fn is_ordinary(glyph: char) -> bool {
    !glyph.is_ascii_punctuation()
        || matches!(glyph, '.' | ',' | '/' | '-' | '(' | ')' | '%' | '=' | ';' | '?')
}

/// Whether a `<` stands before what could be a tag.
fn opens_tag(text: &str) -> bool {
    text.match_indices('<').any(|(at, _)| text[at + 1..].starts_with(starts_tag))
}

fn starts_tag(after_bracket: char) -> bool {
    after_bracket.is_ascii_alphabetic() || matches!(after_bracket, '/' | '!' | '?')
}

fn entities(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for glyph in text.chars() {
        match glyph {
            _ if stays(glyph) => shown.push(glyph),
            _ => push_entity(&mut shown, glyph),
        }
    }
    shown
}

/// The same for sentences, in which a colon and an underscore mean something in some places only: `https:`, `:tada:`, `_so_`.
fn prose(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = None;
    let mut glyphs = text.chars().peekable();
    while let Some(glyph) = glyphs.next() {
        let after = glyphs.peek().copied();
        let is_word = |beside: Option<char>| beside.is_some_and(char::is_alphanumeric);
        let stays = match glyph {
            ':' if after.is_some_and(|after| after.is_ascii_digit()) => is_word(before),
            ':' => after.is_none_or(char::is_whitespace),
            '_' => is_word(before) && is_word(after),
            '\'' => is_word(before),
            _ => is_ordinary(glyph),
        };
        match stays {
            true => shown.push(glyph),
            false => push_entity(&mut shown, glyph),
        }
        before = Some(glyph);
    }
    shown
}

fn push_entity(shown: &mut String, glyph: char) {
    match glyph {
        '<' => shown.push_str("&lt;"),
        '>' => shown.push_str("&gt;"),
        '&' => shown.push_str("&amp;"),
        _ => {
            let _ = write!(shown, "&#{};", u32::from(glyph));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(escape: fn(&str) -> String, cases: &[(&str, &str)]) {
        for (text, expect) in cases {
            assert_eq!(escape(text), *expect, "{text:?}");
        }
    }

    #[test]
    fn names_stay_in_their_cell() {
        check(
            markdown_code,
            &[
                ("http_reqs", "`http_reqs`"),
                ("p(95)<500", "`p(95)<500`"),
                ("a|b", "<code>a&#124;b</code>"),
                ("a\\|b", "<code>a&#92;&#124;b</code>"),
                ("`@you`", "<code>&#96;&#64;you&#96;</code>"),
                ("<script>x", "<code>&lt;script&gt;x</code>"),
                ("a\nb", "<code>a&#92;nb</code>"),
                ("", "–"),
            ],
        );
        assert_eq!(markdown_code(&"x".repeat(1 << 20)).chars().count(), NAME_CHARS_MAX + 3);
    }

    #[test]
    fn sentences_mean_nothing_else() {
        check(
            markdown_text,
            &[
                ("dial tcp 127.0.0.1:80: refused", "dial tcp 127.0.0.1:80: refused"),
                ("run_delay: 5", "run_delay: 5"),
                (":100: :tada: https://x", "&#58;100: &#58;tada: https&#58;//x"),
                ("[x](javascript:1) @all #1", "&#91;x&#93;(javascript:1) &#64;all &#35;1"),
                ("the target's limit, workers' log", "the target's limit, workers' log"),
                ("*b* _i_ <b>", "&#42;b&#42; &#95;i&#95; &lt;b&gt;"),
            ],
        );
    }

    #[test]
    fn xml_gets_only_its_own_characters() {
        check(xml, &[("a\u{0}\u{ffff}b]]>", "a\\u{0}\\u{ffff}b]]>"), ("한글 <&", "한글 <&")]);
    }

    #[test]
    fn workflow_commands_end_where_they_should() {
        check(github_message, &[("100% a\r\n::error::b", "100%25 a%0D%0A::error::b"), ("\x1b[1m", "[1m")]);
        check(github_property, &[("a:b,c%", "a%3Ab%2Cc%25")]);
    }
}
