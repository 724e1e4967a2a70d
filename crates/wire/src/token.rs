//! Tokens of HTTP (RFC 9110, 5.6.2), and comma-separated lists of them.

/// Whether the comma-separated list `value` has `item`, without regard to case.
pub(crate) fn has_item(value: &[u8], item: &[u8]) -> bool {
    value.split(|byte| *byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(item))
}

/// Whether `name` is a token (RFC 9110, 5.6.2).
pub(crate) fn is_token(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| TOKEN[usize::from(*byte)])
}

const TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let marks = b"!#$%&'*+-.^_`|~";
    let mut at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = true;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_searched_item_by_item() {
        assert!(has_item(b"keep-alive, Close", b"close"));
        assert!(!has_item(b"enclosed", b"close"));
    }
}
