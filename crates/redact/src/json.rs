//! The texts of a JSON document.

use std::borrow::Cow;

/// A document with each of its texts, as it is written between its quotes, replaced.
pub(crate) fn with_texts<'a>(document: &'a str, hide: impl Fn(&str) -> Cow<'_, str>) -> Cow<'a, str> {
    let mut shown = String::with_capacity(document.len());
    let mut rest = document;
    while let Some(start) = rest.find('"') {
        let (before, after) = rest.split_at(start + 1);
        let end = text_end(after);
        shown.push_str(before);
        shown.push_str(&text_hidden(&after[..end], &hide));
        // With the closing quote, so that it opens no text.
        let next = (end + 1).min(after.len());
        shown.push_str(&after[end..next]);
        rest = &after[next..];
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// A text with what is hidden in it. A spelling that begins inside an escape, such as `n123` in `\n123`, is no part of the text and
/// would leave half an escape: then the text is read, and written anew.
fn text_hidden<'a>(text: &'a str, hide: &impl Fn(&str) -> Cow<'_, str>) -> Cow<'a, str> {
    let hidden = match hide(text) {
        Cow::Borrowed(_) => return Cow::Borrowed(text),
        Cow::Owned(hidden) => hidden,
    };
    let parsed = |text: &str| serde_json::from_str::<String>(&format!("\"{text}\"")).ok();
    match parsed(text).filter(|_| parsed(&hidden).is_none()) {
        None => Cow::Owned(hidden),
        Some(plain) => {
            let quoted = serde_json::Value::from(hide(&plain).as_ref()).to_string();
            Cow::Owned(quoted[1..quoted.len() - 1].to_owned())
        }
    }
}

/// Where the text ends that starts here; the end of everything for a torn document.
fn text_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    text.len()
}
