//! From a text to a selector, in the grammar of goquery's selectors.

use regex_lite::{Regex, RegexBuilder};

use crate::selector::{Combinator, Complex, Nth, Selector, Simple, Test};

/// The text is no selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadSelector;

impl std::fmt::Display for BadSelector {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("parse a selector")
    }
}

impl std::error::Error for BadSelector {}

/// Selectors in selectors, as in `:not(:not(a))`.
const NESTING_MAX: u32 = 32;
/// Of a compiled regular expression.
const REGEX_BYTES_MAX: usize = 1 << 20;

type Parsed<T> = Result<T, BadSelector>;

impl Selector {
    /// Reads a selector.
    ///
    /// # Errors
    /// The text is none.
    pub fn parse(text: &str) -> Parsed<Selector> {
        let mut parser = Parser { text, at: 0, nesting: 0 };
        let selector = parser.group()?;
        if parser.at < text.len() { Err(BadSelector) } else { Ok(selector) }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    nesting: u32,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { Err(BadSelector) }
    }

    fn skip_space(&mut self) -> bool {
        let start = self.at;
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n' | 0x0c) => self.at += 1,
                Some(b'/') if self.rest().starts_with("/*") => match self.rest()[2..].find("*/") {
                    Some(length) => self.at += length + 4,
                    None => break,
                },
                _ => break,
            }
        }
        self.at > start
    }

    fn group(&mut self) -> Parsed<Selector> {
        let mut all = vec![self.complex()?];
        while self.eat(",") {
            all.push(self.complex()?);
        }
        Ok(Selector(all))
    }

    fn complex(&mut self) -> Parsed<Complex> {
        self.skip_space();
        let mut parts = vec![(Combinator::Descendant, self.compound()?)];
        loop {
            let spaced = self.skip_space();
            let combinator = match self.peek() {
                None | Some(b',' | b')') => break,
                Some(b'>') => Combinator::Child,
                Some(b'+') => Combinator::NextSibling,
                Some(b'~') => Combinator::LaterSibling,
                Some(_) if spaced => Combinator::Descendant,
                Some(_) => break,
            };
            if combinator != Combinator::Descendant {
                self.at += 1;
                self.skip_space();
            }
            parts.push((combinator, self.compound()?));
        }
        Ok(Complex(parts))
    }

    fn compound(&mut self) -> Parsed<Vec<Simple>> {
        let mut simples = Vec::new();
        match self.peek() {
            None => return Err(BadSelector),
            Some(b'*') => {
                self.at += 1;
                self.eat("|*");
            }
            Some(b'#' | b'.' | b'[' | b':') => {}
            Some(_) => simples.push(Simple::Tag(self.identifier()?.to_ascii_lowercase())),
        }
        loop {
            let simple = match self.peek() {
                Some(b'#') => {
                    self.at += 1;
                    Simple::Id(self.name()?)
                }
                Some(b'.') => {
                    self.at += 1;
                    Simple::Class(self.identifier()?)
                }
                Some(b'[') => self.attribute()?,
                Some(b':') => self.pseudo()?,
                _ => return Ok(simples),
            };
            simples.push(simple);
        }
    }

    fn attribute(&mut self) -> Parsed<Simple> {
        self.expect("[")?;
        self.skip_space();
        let key = self.identifier()?.to_ascii_lowercase();
        self.skip_space();
        if self.eat("]") {
            return Ok(Simple::Attribute { key, test: Test::Present, ignores_case: false });
        }
        let operator = if self.peek() == Some(b'=') {
            b'='
        } else {
            let operator = self.peek().ok_or(BadSelector)?;
            if !b"!~|^$*#".contains(&operator) {
                return Err(BadSelector);
            }
            self.at += 1;
            operator
        };
        self.expect("=")?;
        self.skip_space();
        let test = self.test(operator)?;
        self.skip_space();
        let ignores_case = self.eat("i") || self.eat("I");
        self.skip_space();
        self.expect("]")?;
        Ok(Simple::Attribute { key, test, ignores_case })
    }

    fn test(&mut self, operator: u8) -> Parsed<Test> {
        if operator == b'#' {
            return Ok(Test::Regex(self.regex()?));
        }
        let value = self.value()?;
        Ok(match operator {
            b'!' => Test::NotEqual(value),
            b'~' => Test::Word(value),
            b'|' => Test::Dash(value),
            b'^' => Test::Prefix(value),
            b'$' => Test::Suffix(value),
            b'*' => Test::Part(value),
            _ => Test::Equal(value),
        })
    }

    /// A quoted string or an identifier.
    fn value(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(quote @ (b'\'' | b'"')) => self.string(quote),
            _ => self.identifier(),
        }
    }

    fn pseudo(&mut self) -> Parsed<Simple> {
        self.expect(":")?;
        let name = self.identifier()?.to_ascii_lowercase();
        let nth = |last, of_type| Simple::Nth(Nth { step: 0, offset: 1, last, of_type });
        Ok(match name.as_str() {
            "not" => Simple::Not(self.nested()?),
            "has" => Simple::Has(self.nested()?),
            "haschild" => Simple::HasChild(self.nested()?),
            "contains" | "containsown" => {
                let lower = self.in_parentheses(Self::value)?.to_lowercase();
                Simple::Contains { lower, own: name == "containsown" }
            }
            "matches" | "matchesown" => {
                let regex = self.in_parentheses(Self::regex)?;
                Simple::Matches { regex, own: name == "matchesown" }
            }
            "nth-child" | "nth-last-child" | "nth-of-type" | "nth-last-of-type" => {
                let (step, offset) = self.in_parentheses(Self::nth)?;
                Simple::Nth(Nth {
                    step,
                    offset,
                    last: name.contains("last"),
                    of_type: name.ends_with("type"),
                })
            }
            "first-child" => nth(false, false),
            "last-child" => nth(true, false),
            "first-of-type" => nth(false, true),
            "last-of-type" => nth(true, true),
            "only-child" => Simple::Only { of_type: false },
            "only-of-type" => Simple::Only { of_type: true },
            "input" => Simple::Input,
            "empty" => Simple::Empty,
            "root" => Simple::Root,
            "link" => Simple::Link,
            "lang" => Simple::Lang(self.in_parentheses(Self::identifier)?.to_lowercase()),
            "enabled" => Simple::Enabled,
            "disabled" => Simple::Disabled,
            "checked" => Simple::Checked,
            // The page has no viewer, so no element is ever in these states.
            "visited" | "hover" | "active" | "focus" | "target" => Simple::Never,
            _ => return Err(BadSelector),
        })
    }

    fn nested(&mut self) -> Parsed<Selector> {
        if self.nesting == NESTING_MAX {
            return Err(BadSelector);
        }
        self.nesting += 1;
        let selector = self.in_parentheses(Self::group);
        self.nesting -= 1;
        selector
    }

    fn in_parentheses<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.expect("(")?;
        self.skip_space();
        let inside = read(self)?;
        self.skip_space();
        self.expect(")")?;
        Ok(inside)
    }

    /// `an+b`, `odd`, `even`
    fn nth(&mut self) -> Parsed<(i32, i32)> {
        if matches!(self.peek(), Some(b'o' | b'O' | b'e' | b'E')) {
            return match self.name()?.to_ascii_lowercase().as_str() {
                "odd" => Ok((2, 1)),
                "even" => Ok((2, 0)),
                _ => Err(BadSelector),
            };
        }
        let sign = if self.eat("-") { -1 } else { 1 };
        if sign == 1 {
            self.eat("+");
        }
        let number = self.integer();
        if !(self.eat("n") || self.eat("N")) {
            return number.map(|offset| (0, sign * offset)).ok_or(BadSelector);
        }
        let step = sign * number.unwrap_or(1);
        self.skip_space();
        let sign = match self.peek() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Ok((step, 0)),
        };
        self.at += 1;
        self.skip_space();
        self.integer().map(|offset| (step, sign * offset)).ok_or(BadSelector)
    }

    fn integer(&mut self) -> Option<i32> {
        let length = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let number = self.rest()[..length].parse().ok()?;
        self.at += length;
        Some(number)
    }

    fn identifier(&mut self) -> Parsed<String> {
        let dashes = self.rest().bytes().take_while(|byte| *byte == b'-').count();
        let first = self.rest().as_bytes().get(dashes).copied().ok_or(BadSelector)?;
        if !(is_name(first) && !first.is_ascii_digit() || first == b'\\') {
            return Err(BadSelector);
        }
        self.name()
    }

    fn name(&mut self) -> Parsed<String> {
        let mut name = String::new();
        loop {
            let length = self.rest().bytes().take_while(|byte| is_name(*byte)).count();
            name.push_str(&self.rest()[..length]);
            self.at += length;
            if self.peek() != Some(b'\\') {
                break;
            }
            name.push(self.escape()?);
        }
        if name.is_empty() { Err(BadSelector) } else { Ok(name) }
    }

    /// A backslash and what it stands for (CSS Syntax, 4.3.7).
    fn escape(&mut self) -> Parsed<char> {
        self.expect("\\")?;
        let digits = self.rest().bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits > 0 {
            let code = u32::from_str_radix(&self.rest()[..digits], 16).map_err(|_| BadSelector)?;
            self.at += digits;
            if !self.eat("\r\n") && matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0c)) {
                self.at += 1;
            }
            return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        match self.rest().chars().next() {
            None | Some('\r' | '\n' | '\x0c') => Err(BadSelector),
            Some(char) => {
                self.at += char.len_utf8();
                Ok(char)
            }
        }
    }

    fn string(&mut self, quote: u8) -> Parsed<String> {
        self.at += 1;
        let mut string = String::new();
        loop {
            let stops = |char: char| char == char::from(quote) || matches!(char, '\\' | '\r' | '\n' | '\x0c');
            let length = self.rest().find(stops).ok_or(BadSelector)?;
            string.push_str(&self.rest()[..length]);
            self.at += length;
            if self.peek() == Some(quote) {
                self.at += 1;
                return Ok(string);
            }
            if self.eat("\\\r\n") || self.eat("\\\n") || self.eat("\\\r") || self.eat("\\\x0c") {
                continue;
            }
            string.push(self.escape()?);
        }
    }

    /// A regular expression ends where a bracket closes that it has not opened.
    fn regex(&mut self) -> Parsed<Box<Regex>> {
        let mut open = 0_u32;
        let ends = |byte: u8| {
            match byte {
                b'(' | b'[' => open += 1,
                b')' | b']' if open == 0 => return true,
                b')' | b']' => open -= 1,
                _ => {}
            }
            false
        };
        let length = self.rest().bytes().position(ends).ok_or(BadSelector)?;
        let regex = RegexBuilder::new(&self.rest()[..length]).size_limit(REGEX_BYTES_MAX).build();
        self.at += length;
        regex.map(Box::new).map_err(|_| BadSelector)
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || byte > 127
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, is_selector: bool) {
        assert_eq!(Selector::parse(text).is_ok(), is_selector, "{text}");
    }

    #[test]
    fn what_is_a_selector() {
        for good in [
            "a",
            "*",
            " a > b , c ",
            "a:not(.b, #c)",
            "[a='x' i]",
            ":nth-child( 2n + 1 )",
            "--x",
            "\\31 a",
            "é",
        ] {
            check(good, true);
        }
        for bad in [
            "",
            " ",
            "a,",
            "[",
            "a[",
            "[a=1]",
            "..",
            "#",
            "> a",
            "a::before",
            ":first",
            "a)",
            "[a='",
            "\\",
            ":nth-child(x)",
        ] {
            check(bad, false);
        }
        check(&":not(".repeat(100_000), false);
        check(&format!("{}a{}", ":not(".repeat(100), ")".repeat(100)), false);
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_a_reason_to_panic(text in "[a-z:#.\\[\\]()\\\\'\"=*~^$|>+, 0-9é\\n-]{0,24}") {
            let _ = Selector::parse(&text);
        }
    }
}
