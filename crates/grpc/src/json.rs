//! JSON, read piece by piece: no tree is made of it, and what is not asked for is skipped.

use std::borrow::Cow;

use crate::error::EncodeError;

/// Characters of a value that errors quote.
const TOKEN_CHARS_MAX: usize = 100;

/// The kind of the next value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Object,
    Array,
    Text,
    Number,
    True,
    False,
    Null,
}

/// A place in a JSON text.
#[derive(Clone, Debug)]
pub(crate) struct Json<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Json<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Json<'a> {
        Json { text, at: 0 }
    }

    /// The kind of the next value, which stays where it is.
    pub(crate) fn peek(&mut self) -> Result<Next, EncodeError> {
        self.skip_space();
        Ok(match self.text.get(self.at) {
            Some(b'{') => Next::Object,
            Some(b'[') => Next::Array,
            Some(b'"') => Next::Text,
            Some(b'-' | b'0'..=b'9') => Next::Number,
            Some(b't') => Next::True,
            Some(b'f') => Next::False,
            Some(b'n') => Next::Null,
            _ => return Err(self.unexpected()),
        })
    }

    /// The column of the next value in the text's one line, from 1.
    pub(crate) fn column(&mut self) -> usize {
        self.skip_space();
        self.at + 1
    }

    /// The token at the next value, as errors quote it.
    pub(crate) fn token(&mut self) -> String {
        let whole = match self.peek() {
            Ok(Next::Object) => "{",
            Ok(Next::Array) => "[",
            _ => self.clone().skip().unwrap_or_default(),
        };
        whole.chars().take(TOKEN_CHARS_MAX).collect()
    }

    /// Begins an object or an array; to be followed by [`Json::more`].
    pub(crate) fn open(&mut self) {
        self.at += 1;
    }

    /// Whether another member follows; otherwise the end is read. `is_first` before the first.
    pub(crate) fn more(&mut self, end: u8, is_first: bool) -> Result<bool, EncodeError> {
        self.skip_space();
        if self.text.get(self.at) == Some(&end) {
            self.at += 1;
            return Ok(false);
        }
        if !is_first {
            self.expect(b',')?;
            self.skip_space();
        }
        Ok(true)
    }

    /// A member's name.
    pub(crate) fn key(&mut self) -> Result<Cow<'a, str>, EncodeError> {
        if self.peek()? != Next::Text {
            return Err(self.unexpected());
        }
        let key = self.text()?;
        self.skip_space();
        self.expect(b':')?;
        Ok(key)
    }

    /// A text.
    pub(crate) fn text(&mut self) -> Result<Cow<'a, str>, EncodeError> {
        self.expect(b'"')?;
        let start = self.at;
        let length = self.text[start..].iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
        let end = start + length.ok_or_else(|| self.unexpected())?;
        let plain = self.utf8(start, end)?;
        self.at = end;
        if self.text[end] == b'"' {
            self.at += 1;
            return Ok(Cow::Borrowed(plain));
        }
        self.escaped(plain.to_owned()).map(Cow::Owned)
    }

    fn escaped(&mut self, mut text: String) -> Result<String, EncodeError> {
        loop {
            let start = self.at;
            let length = self.text[start..].iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
            self.at = start + length.ok_or_else(|| self.unexpected())?;
            text.push_str(self.utf8(start, self.at)?);
            match self.text[self.at] {
                b'"' => {
                    self.at += 1;
                    return Ok(text);
                }
                b'\\' => {
                    self.at += 1;
                    text.push(self.escape()?);
                }
                _ => return Err(self.unexpected()),
            }
        }
    }

    fn escape(&mut self) -> Result<char, EncodeError> {
        let byte = *self.text.get(self.at).ok_or_else(|| self.unexpected())?;
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => byte.into(),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => self.unicode()?,
            _ => return Err(self.unexpected()),
        })
    }

    /// `XXXX` and perhaps the second half of a pair; half a pair becomes the replacement character.
    fn unicode(&mut self) -> Result<char, EncodeError> {
        let first = self.hex()?;
        if !(0xd800..0xdc00).contains(&first) || !self.text[self.at..].starts_with(b"\\u") {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let before = self.at;
        self.at += 2;
        let second = self.hex()?;
        if !(0xdc00..0xe000).contains(&second) {
            self.at = before;
            return Ok(char::REPLACEMENT_CHARACTER);
        }
        let whole = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        Ok(char::from_u32(whole).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Result<u32, EncodeError> {
        let digits = self.text.get(self.at..self.at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let number = number.ok_or_else(|| self.unexpected())?;
        self.at += 4;
        Ok(number)
    }

    /// A number as it is written.
    pub(crate) fn number(&mut self) -> Result<&'a str, EncodeError> {
        let start = self.at;
        let is_of_number = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        self.at += self.text[start..].iter().take_while(is_of_number).count();
        self.utf8(start, self.at)
    }

    /// `true`, `false` or `null`.
    pub(crate) fn word(&mut self, word: &str) -> Result<(), EncodeError> {
        if !self.text[self.at..].starts_with(word.as_bytes()) {
            return Err(self.unexpected());
        }
        self.at += word.len();
        Ok(())
    }

    /// Skips the next value, however deep it is, and returns its text.
    pub(crate) fn skip(&mut self) -> Result<&'a str, EncodeError> {
        let kind = self.peek()?;
        let start = self.at;
        match kind {
            Next::Text => drop(self.text()?),
            Next::Number => drop(self.number()?),
            Next::True => self.word("true")?,
            Next::False => self.word("false")?,
            Next::Null => self.word("null")?,
            Next::Object | Next::Array => self.skip_nested()?,
        }
        self.utf8(start, self.at)
    }

    fn skip_nested(&mut self) -> Result<(), EncodeError> {
        let mut depth = 0_usize;
        loop {
            match self.text.get(self.at) {
                Some(b'"') => drop(self.text()?),
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') => {
                    depth -= 1;
                    self.at += 1;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                Some(_) => self.at += 1,
                None => return Err(self.unexpected()),
            }
        }
    }

    /// Makes sure that nothing follows.
    pub(crate) fn end(&mut self) -> Result<(), EncodeError> {
        self.skip_space();
        if self.at == self.text.len() { Ok(()) } else { Err(self.unexpected()) }
    }

    fn expect(&mut self, byte: u8) -> Result<(), EncodeError> {
        if self.text.get(self.at) != Some(&byte) {
            return Err(self.unexpected());
        }
        self.at += 1;
        Ok(())
    }

    fn skip_space(&mut self) {
        let is_space = |byte: &&u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        self.at += self.text[self.at..].iter().take_while(is_space).count();
    }

    fn utf8(&self, start: usize, end: usize) -> Result<&'a str, EncodeError> {
        std::str::from_utf8(&self.text[start..end]).map_err(|_| EncodeError::value("proto: invalid UTF-8"))
    }

    fn unexpected(&self) -> EncodeError {
        let rest = &self.text[self.at.min(self.text.len())..];
        let shown: String = String::from_utf8_lossy(rest).chars().take(TOKEN_CHARS_MAX).collect();
        let column = self.at + 1;
        match shown.as_str() {
            "" => {
                EncodeError::value(format!("proto: syntax error (line 1:{column}): unexpected end of JSON"))
            }
            shown => {
                EncodeError::value(format!("proto: syntax error (line 1:{column}): unexpected token {shown}"))
            }
        }
    }
}
