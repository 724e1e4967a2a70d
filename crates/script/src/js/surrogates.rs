//! Halves of characters: JavaScript's strings may hold them, UTF-8 may not.

use std::borrow::Cow;

/// The engine's bytes as text. It writes half a character (a lone surrogate) as three bytes, as if it were one; the
/// replacement character stands for them, once, as in k6.
pub(super) fn replaced(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        if let [0xed, 0xa0..=0xbf, 0x80..=0xbf, ..] = rest {
            text.extend("\u{fffd}".as_bytes());
            rest = &rest[3..];
        } else {
            text.push(*first);
            rest = after;
        }
    }
    Cow::Owned(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_is_replaced_once() {
        let check = |bytes: &[u8], expect: &str| assert_eq!(replaced(bytes), expect, "{bytes:?}");
        check("é ✓ 😀".as_bytes(), "é ✓ 😀");
        check(b"a\xed\xa0\x80b", "a\u{fffd}b");
        check(b"\xed\xbf\xbf\xed\xa0\x80", "\u{fffd}\u{fffd}");
        check("\u{d7ff}".as_bytes(), "\u{d7ff}");
        check(b"\xff\xed\xa0", "\u{fffd}\u{fffd}\u{fffd}");
        check(b"", "");
    }
}
