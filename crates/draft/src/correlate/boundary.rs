//! A value by the text around it.

use crate::js;

/// Bytes of the text before a value that identify its place.
const LEFT_BYTES_MIN: usize = 4;
const LEFT_BYTES_MAX: usize = 80;

/// The expression that extracts `value` from the text that `expression` stands for: the text between the shortest
/// beginning and end that are unique. `None` if there are none.
pub(super) fn between(expression: &str, text: &str, value: &str) -> Option<String> {
    let (left, right) = boundaries(text, value)?;
    Some(format!("between({expression}, {}, {})", js::quoted(left), js::quoted(&right)))
}

fn boundaries<'a>(text: &'a str, value: &str) -> Option<(&'a str, String)> {
    let finder = memchr::memmem::Finder::new(value.as_bytes());
    finder.find_iter(text.as_bytes()).take(3).find_map(|at| around(text, at, value))
}

fn around<'a>(text: &'a str, at: usize, value: &str) -> Option<(&'a str, String)> {
    let after = &text[at + value.len()..];
    let right = match after.chars().next() {
        None => String::new(),
        // A longer word that begins with the value is another value.
        Some(next) if next.is_alphanumeric() || value.contains(next) => return None,
        Some(next) => next.to_string(),
    };
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let starts = (line_start.max(at.saturating_sub(LEFT_BYTES_MAX))..at).rev();
    let is_long =
        |start: &usize| text.is_char_boundary(*start) && (at - start >= LEFT_BYTES_MIN || *start == 0);
    // People read words: a beginning in the middle of one is the last choice.
    let begins_word = |start: &usize| !text[..*start].ends_with(|letter: char| letter.is_alphanumeric());
    let is_first =
        |left: &&str| memchr::memmem::find(text.as_bytes(), left.as_bytes()) == Some(at - left.len());
    let candidates: Vec<usize> = starts.filter(is_long).collect();
    let of_words = candidates.iter().filter(|start| begins_word(start));
    of_words.chain(&candidates).map(|start| &text[*start..at]).find(is_first).map(|left| (left, right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_unique_text_before_a_value_is_found() {
        let check = |text: &str, value: &str, expect: Option<&str>| {
            assert_eq!(between("t", text, value).as_deref(), expect, "{text}");
        };
        check("var nonce = \"abc123\";", "abc123", Some("between(t, 'nonce = \"', '\"')"));
        check("/jobs/8f3a", "8f3a", Some("between(t, 'jobs/', '')"));
        check("abc1234", "abc123", None);
        check("k=\"x\"; j=\"abc\"", "abc", Some("between(t, ' j=\"', '\"')"));
        check("nothing", "abc", None);
    }
}
