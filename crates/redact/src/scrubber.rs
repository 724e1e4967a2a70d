//! One search for many secrets.

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::AhoCorasick;

use crate::HIDDEN;
use crate::names::is_secret_name;
use crate::spellings::{in_text, spellings};

/// Fewest characters of a secret that is hidden wherever it occurs. Shorter ones are parts of words: `plim` would hide half of
/// every `plimsoll`. They are hidden where a credential stands.
pub const SECRET_CHARS_MIN: usize = 8;

/// Fewest characters of a short declared secret that is hidden as a whole word: `1` would hide every 1.
const WORD_CHARS_MIN: usize = 3;

/// Header lines, as they are logged, that never keep their values.
const SECRET_HEADERS: &[&str] =
    &["authorization:", "proxy-authorization:", "cookie:", "set-cookie:", "x-api-key:"];

/// Where a found spelling is a secret.
#[derive(Clone, Copy, Debug)]
enum Rule {
    Everywhere,
    /// Between characters that are no letters and no digits.
    Word,
    /// As a password in an address, and as the value of a parameter or a secret setting.
    Place,
}

/// Finds secrets in texts. It never changes; a [`crate::Redactor`] holds several.
#[derive(Debug)]
pub struct Scrubber {
    /// `None` where there is nothing to find.
    search: Option<AhoCorasick>,
    rules: Vec<Rule>,
}

impl Scrubber {
    /// Searches for secrets: `declared` ones, which only ever mean themselves, and `guessed` ones, such as passwords of variables,
    /// which may be names as well.
    pub(crate) fn new<'a>(
        declared: impl Iterator<Item = &'a str>,
        guessed: impl Iterator<Item = &'a str>,
    ) -> Scrubber {
        let mut needles = Vec::new();
        let all = declared.map(|secret| (secret, true)).chain(guessed.map(|secret| (secret, false)));
        for (secret, is_declared) in all {
            let length = secret.chars().count();
            let rule = match length {
                0 => continue,
                SECRET_CHARS_MIN.. => Rule::Everywhere,
                WORD_CHARS_MIN.. if is_declared => Rule::Word,
                _ => Rule::Place,
            };
            let found = if length >= SECRET_CHARS_MIN { spellings(secret) } else { in_text(secret) };
            needles.extend(found.into_iter().map(|needle| (needle, rule)));
        }
        let search = match needles.is_empty() {
            true => None,
            // Building fails beyond 2^31 states; secrets are few and bounded.
            false => AhoCorasick::new(needles.iter().map(|(needle, _)| needle)).ok(),
        };
        Scrubber { search, rules: needles.into_iter().map(|(_, rule)| rule).collect() }
    }

    /// Adds the places of secrets in a text.
    pub(crate) fn find(&self, text: &str, found: &mut Vec<Range<usize>>) {
        let Some(search) = &self.search else { return };
        let matches = search.find_overlapping_iter(text);
        let is_secret = |range: &Range<usize>, rule: Rule| match rule {
            Rule::Everywhere => true,
            Rule::Word => is_word(text, range) || is_place(text, range),
            Rule::Place => is_place(text, range),
        };
        let places = matches.map(|one| (one.start()..one.end(), self.rules[one.pattern().as_usize()]));
        found.extend(places.filter(|(range, rule)| is_secret(range, *rule)).map(|(range, _)| range));
    }
}

fn is_word(text: &str, range: &Range<usize>) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    !text[..range.start].ends_with(is_part) && !text[range.end..].starts_with(is_part)
}

/// `:secret@`, `?name=secret`, `password=secret`, `"password": "secret"`, `Bearer secret`.
fn is_place(text: &str, range: &Range<usize>) -> bool {
    let (before, after) = (&text[..range.start], &text[range.end..]);
    if before.ends_with(':') && after.starts_with('@') {
        return true;
    }
    let is_over = after.is_empty() || after.starts_with(|next: char| !next.is_alphanumeric());
    if !is_over {
        return false;
    }
    if before.ends_with("Bearer ") || before.ends_with("Basic ") {
        return true;
    }
    // `name=secret`, `name: secret`, `"name": "secret"`.
    let quotes: &[char] = &['"', '\'', ' '];
    let assigned = before.trim_end_matches(quotes);
    let Some(assigned) = assigned.strip_suffix(['=', ':']) else { return false };
    let assigned = assigned.trim_end_matches(quotes);
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '%');
    let name_start = assigned.trim_end_matches(is_part).len();
    assigned[..name_start].ends_with(['?', '&']) || is_secret_name(&assigned[name_start..])
}

/// The text with the found places replaced; places may overlap.
pub(crate) fn replace<'a>(text: &'a str, mut found: Vec<Range<usize>>) -> Cow<'a, str> {
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    found.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut shown = String::with_capacity(text.len());
    let mut end = 0;
    for range in found {
        if range.start >= end {
            shown.push_str(&text[end..range.start]);
            shown.push_str(HIDDEN);
        }
        end = end.max(range.end);
    }
    shown.push_str(&text[end..]);
    Cow::Owned(shown)
}

/// The text without the values of secret header lines.
pub(crate) fn headers_hidden(text: Cow<'_, str>) -> Cow<'_, str> {
    // Nearly no text has a colon, and searching for one is quick.
    if !text.contains(':') || !text.lines().any(|line| secret_header(line).is_some()) {
        return text;
    }
    let hide = |line: &str| match secret_header(line) {
        Some(end) => format!("{} {HIDDEN}", &line[..end]),
        None => line.to_owned(),
    };
    Cow::Owned(text.split('\n').map(hide).collect::<Vec<_>>().join("\n"))
}

/// How long the name of a secret header is, with what stands before it, if the line is one.
fn secret_header(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start().len();
    let is_start_of =
        |name: &&&str| line[indent..].get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
    SECRET_HEADERS.iter().find(is_start_of).map(|name| indent + name.len())
}
