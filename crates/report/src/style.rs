//! Colour and glyphs.

/// How text may look: whether colour is wanted and whether the terminal reads UTF-8. The caller decides both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// ANSI colours.
    pub colour: bool,
    /// Glyphs beyond ASCII.
    pub unicode: bool,
}

/// SGR codes, as k6 uses them.
pub(crate) const BOLD: &str = "1";
pub(crate) const FAINT: &str = "2";
pub(crate) const RED: &str = "31";
pub(crate) const GREEN: &str = "32";
pub(crate) const YELLOW: &str = "33";
pub(crate) const CYAN: &str = "36";
pub(crate) const WHITE: &str = "37";

impl Style {
    /// No colour, all glyphs.
    pub const PLAIN: Style = Style { colour: false, unicode: true };

    /// `text` in a colour, where colours are wanted.
    pub(crate) fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// The mark of what held and what did not.
    pub(crate) fn mark(self, ok: bool) -> String {
        if ok { self.paint(GREEN, "✓") } else { self.paint(RED, "✗") }
    }

    /// `text` with only the glyphs the terminal reads. Each replacement is one column wide, so that columns stay aligned.
    pub(crate) fn fit(self, text: String) -> String {
        if self.unicode || text.is_ascii() {
            return text;
        }
        text.chars().map(ascii).collect()
    }
}

fn ascii(glyph: char) -> char {
    match glyph {
        '✓' => '+',
        '✗' => 'x',
        '█' => '#',
        '↳' => '>',
        '—' => '-',
        'µ' => 'u',
        '±' => '~',
        '•' => '*',
        other if other.is_ascii() => other,
        _ => '?',
    }
}

/// Columns of a terminal: Hangul takes two (UAX #11).
pub(crate) fn width(text: &str) -> usize {
    let is_wide = |glyph: char| ('가'..='힣').contains(&glyph);
    text.chars().map(|glyph| if is_wide(glyph) { 2 } else { 1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_without_unicode_get_ascii_of_the_same_width() {
        let ascii = Style { colour: false, unicode: false };
        assert_eq!(ascii.fit("✗ a ↳ 5µs — ±1 é".into()), "x a > 5us - ~1 ?");
        assert_eq!(Style::PLAIN.fit("✗ é".into()), "✗ é");
    }
}
