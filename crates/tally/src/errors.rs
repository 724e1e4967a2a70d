//! Distinct errors of a worker thread, each once with its count.

use std::borrow::Cow;

use model::window::ERRORS_PER_WINDOW_MAX;
use model::{ErrorCount, TagSetId};

/// Bytes kept of an error's message.
pub const ERROR_MESSAGE_BYTES_MAX: usize = 256;

/// Bytes kept of an error's example.
pub const ERROR_EXAMPLE_BYTES_MAX: usize = 2048;

/// Stands for what differs each time.
const PLACEHOLDER: &str = "#";

/// Counts the errors of one worker thread.
#[derive(Debug, Default)]
pub struct Errors {
    /// In the order in which they were first seen.
    counts: Vec<ErrorCount>,
    /// Those that found no place.
    overflow: u64,
}

impl Errors {
    /// Counts an error. `code` is k6's, or 0 for exceptions of the script; `example` is made only of the first one.
    pub fn count(&mut self, code: u16, message: &str, tags: TagSetId, example: impl FnOnce() -> String) {
        let message = normalised(message);
        let is_known = |known: &&mut ErrorCount| known.code == code && *known.message == *message;
        if let Some(known) = self.counts.iter_mut().find(is_known) {
            known.count += 1;
        } else if self.counts.len() < ERRORS_PER_WINDOW_MAX {
            let example = cut(&example(), ERROR_EXAMPLE_BYTES_MAX).into();
            self.counts.push(ErrorCount { code, message: (&*message).into(), tags, count: 1, example });
        } else {
            self.overflow += 1;
        }
    }

    /// Takes the errors since the last call, in no particular order.
    pub fn take(&mut self) -> Vec<ErrorCount> {
        let Errors { mut counts, overflow } = std::mem::take(self);
        counts.extend((overflow > 0).then(|| overflowed(overflow)));
        counts
    }
}

fn overflowed(count: u64) -> ErrorCount {
    ErrorCount { code: 0, message: "".into(), tags: TagSetId::EMPTY, count, example: "".into() }
}

/// From what all threads counted to what the window holds: the most frequent first, and what finds no place last, under an
/// empty message. The order of threads does not matter, but for whose example is kept.
pub(crate) fn select(mut counted: Vec<ErrorCount>) -> Vec<ErrorCount> {
    counted.sort_by(|a, b| (a.code, &a.message).cmp(&(b.code, &b.message)));
    let mut merged: Vec<ErrorCount> = Vec::with_capacity(counted.len());
    for error in counted {
        match merged.last_mut().filter(|last| (last.code, &last.message) == (error.code, &error.message)) {
            Some(last) => last.count += error.count,
            None => merged.push(error),
        }
    }
    let overflow = merged.extract_if(.., |error| error.code == 0 && error.message.is_empty());
    let mut overflow: u64 = overflow.map(|error| error.count).sum();
    merged.sort_by_key(|error| std::cmp::Reverse(error.count));
    overflow += merged.drain(merged.len().min(ERRORS_PER_WINDOW_MAX)..).map(|error| error.count).sum::<u64>();
    merged.extend((overflow > 0).then(|| overflowed(overflow)));
    merged
}

/// Normalises the message's first line by removing parts that vary: numbers of four digits and more
/// (ports, counters, times), and words of eight and more hexadecimal digits and hyphens (ids, UUIDs, digests). Shorter
/// numbers stay, because a status is one. An empty message is none: it stands for what found no place.
fn normalised(message: &str) -> Cow<'_, str> {
    let line = message.lines().next().unwrap_or_default().trim();
    let line = if line.is_empty() { "without a message" } else { cut(line, ERROR_MESSAGE_BYTES_MAX) };
    if !line.bytes().any(|byte| byte.is_ascii_digit()) {
        return line.into();
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        let word_end = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word_end);
        push_word(&mut text, word);
        let gap_end = after.find(is_of_word).unwrap_or(after.len());
        text.push_str(&after[..gap_end]);
        rest = &after[gap_end..];
    }
    text.into()
}

/// A hyphen may belong to an id (a UUID) or join words that are looked at one by one.
fn push_word(text: &mut String, word: &str) {
    if is_id(word) {
        text.push_str(PLACEHOLDER);
        return;
    }
    for (index, part) in word.split('-').enumerate() {
        if index > 0 {
            text.push('-');
        }
        text.push_str(if is_id(part) { PLACEHOLDER } else { part });
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '-' || c == '_'
}

fn is_id(word: &str) -> bool {
    let all = |is: fn(&u8) -> bool| word.as_bytes().iter().all(is);
    let is_number = word.len() >= 4 && all(u8::is_ascii_digit);
    let is_hex = word.len() >= 8
        && !word.starts_with('-')
        && !word.ends_with('-')
        && all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
        && word.bytes().any(|byte| byte.is_ascii_digit());
    is_number || is_hex
}

fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_each_time_is_left_out() {
        let check = |message: &str, expect: &str| assert_eq!(normalised(message), expect, "{message:?}");
        check("request timeout", "request timeout");
        check("unexpected status 503", "unexpected status 503");
        check("read 127.0.0.1:54321->10.0.0.1:80: reset", "read 127.0.0.1:#->10.0.0.1:80: reset");
        check("order 6f9619ff-8b86-d011-b42d-00cf4fc964ff is gone", "order # is gone");
        check("id deadbeef01 of user_1234, item 12", "id # of user_1234, item 12");
        check("a defaced facade", "a defaced facade");
        check("TypeError: x\n\tat file:///a.js:3:9", "TypeError: x");
        check("größe 12345", "größe #");
        check("", "without a message");
        check("\n", "without a message");
        let long = "é".repeat(ERROR_MESSAGE_BYTES_MAX);
        assert_eq!(normalised(&long).len(), ERROR_MESSAGE_BYTES_MAX);
    }

    #[test]
    fn equal_errors_are_counted_and_the_first_is_the_example() {
        let mut errors = Errors::default();
        errors.count(1220, "reset by 10001", TagSetId(4), || "first".into());
        errors.count(1220, "reset by 10002", TagSetId(5), || unreachable!("it is known"));
        errors.count(0, "reset by 10002", TagSetId(5), || "x".repeat(ERROR_EXAMPLE_BYTES_MAX + 1));
        let taken = errors.take();
        assert_eq!((taken[0].count, taken[0].tags, &*taken[0].example), (2, TagSetId(4), "first"));
        assert_eq!((taken[1].count, taken[1].example.len()), (1, ERROR_EXAMPLE_BYTES_MAX));
        assert_eq!((taken.len(), errors.take().len()), (2, 0));
    }

    #[test]
    fn too_many_kinds_are_counted_together() {
        let mut errors = Errors::default();
        for kind in 0..ERRORS_PER_WINDOW_MAX as u16 + 10 {
            errors.count(kind, "m", TagSetId::EMPTY, String::new);
        }
        let one = errors.take();
        assert_eq!(one.len(), ERRORS_PER_WINDOW_MAX + 1);
        errors.count(9999, "often", TagSetId::EMPTY, String::new);
        errors.count(9999, "often", TagSetId::EMPTY, String::new);
        let both = select([one.clone(), errors.take()].concat());
        assert_eq!((both[0].code, both[0].count), (9999, 2));
        let last = both.last().unwrap();
        assert_eq!((both.len(), &*last.message, last.count), (ERRORS_PER_WINDOW_MAX + 1, "", 11));
        assert_eq!(select(one).iter().map(|error| error.count).sum::<u64>(), 266);
    }
}
