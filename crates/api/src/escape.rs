//! Foreign text on terminals: control sequences and hidden characters are shown as escapes.

/// Text for a terminal: what would steer it, or hide or reorder what is read, is shown as an escape (`\u{1b}`, `\n`).
pub fn terminal(text: &str) -> String {
    escaped(text, is_unseen)
}

/// Text of several lines for a terminal: as [`terminal`], with line breaks and tabs left as they are.
pub fn terminal_lines(text: &str) -> String {
    escaped(text, |glyph| is_unseen(glyph) && !matches!(glyph, '\n' | '\t'))
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    if !text.chars().any(&is_escaped) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for glyph in text.chars() {
        match is_escaped(glyph) {
            true => shown.extend(glyph.escape_default()),
            false => shown.push(glyph),
        }
    }
    shown
}

/// Controls (Cc), and the characters that hide or reorder text or cannot be seen (UAX #9, "Trojan Source", CVE-2021-42574; the
/// `Default_Ignorable_Code_Point`s of Unicode). The joiners U+200C and U+200D stay: Persian words and emoji are written with them.
pub fn is_unseen(glyph: char) -> bool {
    glyph.is_control()
        || matches!(
            glyph,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180e}'
        )
        || matches!(glyph, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}')
        || matches!(glyph, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}')
        || matches!(glyph, '\u{e0000}'..='\u{e0fff}')
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
    fn terminals_show_what_would_steer_them() {
        check(
            terminal,
            &[
                ("ünï ✓ 한글", "ünï ✓ 한글"),
                ("a\x1b[2Jb\nc", "a\\u{1b}[2Jb\\nc"),
                ("\u{9b}31m", "\\u{9b}31m"),
                ("user\u{202e}nimda", "user\\u{202e}nimda"),
                ("a\u{ad}\u{2060}\u{3164}b", "a\\u{ad}\\u{2060}\\u{3164}b"),
                ("👨\u{200d}👩", "👨\u{200d}👩"),
            ],
        );
    }

    #[test]
    fn lines_stay_lines() {
        check(terminal_lines, &[("a\n\tb\r\x1b]0;t\x07", "a\n\tb\\r\\u{1b}]0;t\\u{7}"), ("a\nb", "a\nb")]);
    }
}
