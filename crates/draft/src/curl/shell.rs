//! Words of a shell's command lines: quotes of POSIX shells and of bash (`$'…'`), carets of cmd, and variables.

use std::iter::Peekable;
use std::str::Chars;

use crate::plan::Plan;
use crate::text::Text;
use crate::{DraftError, js};

/// The words of each command.
pub(super) fn commands(text: &str, plan: &mut Plan) -> Result<Vec<Vec<Text>>, DraftError> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let text = if is_cmd(&text) { without_carets(&text) } else { text };
    let mut reader = Reader {
        letters: text.chars().peekable(),
        line: 1,
        commands: Vec::new(),
        words: Vec::new(),
        word: None,
        plan,
    };
    reader.read()?;
    Ok(reader.commands)
}

/// Whether lines are continued as in cmd of Windows.
fn is_cmd(text: &str) -> bool {
    text.lines().any(|line| line.ends_with(" ^") || line.contains("^\""))
}

/// `^` escapes the next character, also inside of quotes as browsers write them; at the end of a line it continues it.
fn without_carets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '^' => match letters.next() {
                Some('\n') | None => out.push(' '),
                // Browsers write a line break in a value as `^`, a line break and an empty line.
                Some(next) => out.push(next),
            },
            letter => out.push(letter),
        }
    }
    out
}

struct Reader<'a, 'b> {
    letters: Peekable<Chars<'a>>,
    line: usize,
    commands: Vec<Vec<Text>>,
    words: Vec<Text>,
    /// The word that is being read; empty quotes are a word, too.
    word: Option<Text>,
    plan: &'b mut Plan,
}

impl Reader<'_, '_> {
    fn next(&mut self) -> Option<char> {
        let letter = self.letters.next()?;
        self.line += usize::from(letter == '\n');
        Some(letter)
    }

    fn read(&mut self) -> Result<(), DraftError> {
        while let Some(letter) = self.next() {
            match letter {
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(next) => self.push(next),
                },
                '\'' => self.single()?,
                '"' => self.double()?,
                '$' if self.letters.peek() == Some(&'\'') => self.ansi()?,
                '$' => self.variable(),
                '#' if self.word.is_none() => {
                    while self.letters.peek().is_some_and(|letter| *letter != '\n') {
                        self.next();
                    }
                }
                ';' | '\n' | '&' | '|' => {
                    // Behind a pipe stands a program that reads the response.
                    self.end_command();
                    if letter == '|' && self.letters.peek() != Some(&'|') {
                        self.skip_command()?;
                    }
                }
                '>' | '<' => {
                    // The number before it is a file descriptor, the word behind it a file.
                    if self
                        .word
                        .as_ref()
                        .and_then(Text::as_literal)
                        .is_some_and(|word| word.parse::<u8>().is_ok())
                    {
                        self.word = None;
                    }
                    self.end_word();
                    self.skip_redirection();
                }
                letter if letter.is_whitespace() => self.end_word(),
                letter => self.push(letter),
            }
        }
        self.end_command();
        Ok(())
    }

    fn push(&mut self, letter: char) {
        let mut bytes = [0; 4];
        self.word.get_or_insert_default().push_literal(letter.encode_utf8(&mut bytes));
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        // The prompt of a shell that was copied, too.
        if self.words.first().and_then(Text::as_literal).is_some_and(|word| ["$", ">", "%"].contains(&word)) {
            self.words.remove(0);
        }
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }

    fn skip_command(&mut self) -> Result<(), DraftError> {
        let kept = std::mem::take(&mut self.commands);
        let mut is_over = false;
        while !is_over {
            match self.next() {
                None | Some('\n' | ';') => is_over = true,
                Some('\'') => self.single()?,
                Some('"') => self.double()?,
                Some('\\') => {
                    self.next();
                }
                Some(_) => {}
            }
        }
        self.word = None;
        self.words.clear();
        self.commands = kept;
        Ok(())
    }

    fn skip_redirection(&mut self) {
        while self.letters.peek().is_some_and(|letter| matches!(letter, '>' | '<' | '&' | ' ')) {
            self.next();
        }
        while self
            .letters
            .peek()
            .is_some_and(|letter| !letter.is_whitespace() && !matches!(letter, ';' | '|' | '&'))
        {
            self.next();
        }
    }

    fn single(&mut self) -> Result<(), DraftError> {
        let line = self.line;
        self.word.get_or_insert_default();
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some(letter) => self.push(letter),
                None => return Err(DraftError::Quote { line }),
            }
        }
    }

    fn double(&mut self) -> Result<(), DraftError> {
        let line = self.line;
        self.word.get_or_insert_default();
        loop {
            match self.next() {
                Some('"') => return Ok(()),
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(next @ ('"' | '\\' | '$' | '`')) => self.push(next),
                    Some(next) => {
                        self.push('\\');
                        self.push(next);
                    }
                    None => return Err(DraftError::Quote { line }),
                },
                Some('$') => self.variable(),
                Some(letter) => self.push(letter),
                None => return Err(DraftError::Quote { line }),
            }
        }
    }

    /// `$'…'` with the escapes of C.
    fn ansi(&mut self) -> Result<(), DraftError> {
        let line = self.line;
        self.next();
        self.word.get_or_insert_default();
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some('\\') => {
                    let Some(escape) = self.next() else { return Err(DraftError::Quote { line }) };
                    match escape {
                        'n' => self.push('\n'),
                        'r' => self.push('\r'),
                        't' => self.push('\t'),
                        'a' => self.push('\u{7}'),
                        'b' => self.push('\u{8}'),
                        'f' => self.push('\u{c}'),
                        'v' => self.push('\u{b}'),
                        'e' | 'E' => self.push('\u{1b}'),
                        'x' => self.number(16, 2),
                        'u' => self.number(16, 4),
                        'U' => self.number(16, 8),
                        other => self.push(other),
                    }
                }
                Some(letter) => self.push(letter),
                None => return Err(DraftError::Quote { line }),
            }
        }
    }

    /// Digits of an escape. Halves of a surrogate pair, which Chromium writes, are put together.
    fn number(&mut self, radix: u32, digits_max: usize) {
        let first = self.digits(radix, digits_max);
        if (0xd800..0xdc00).contains(&first) {
            let mut ahead = self.letters.clone();
            if ahead.next() == Some('\\') && ahead.next() == Some('u') {
                self.next();
                self.next();
                let second = self.digits(radix, digits_max);
                let whole = 0x10000 + ((first - 0xd800) << 10) + (second.wrapping_sub(0xdc00) & 0x3ff);
                return self.push(char::from_u32(whole).unwrap_or('\u{fffd}'));
            }
        }
        self.push(char::from_u32(first).unwrap_or('\u{fffd}'));
    }

    fn digits(&mut self, radix: u32, digits_max: usize) -> u32 {
        let mut number = 0;
        for _ in 0..digits_max {
            let Some(digit) = self.letters.peek().and_then(|letter| letter.to_digit(radix)) else { break };
            number = number * radix + digit;
            self.next();
        }
        number
    }

    /// `$NAME` and `${NAME}` become variables of the environment; `$(…)` is named.
    fn variable(&mut self) {
        let is_braced = self.letters.peek() == Some(&'{');
        if is_braced {
            self.next();
        }
        let mut name = String::new();
        while self.letters.peek().is_some_and(|letter| letter.is_ascii_alphanumeric() || *letter == '_') {
            name.extend(self.next());
        }
        if is_braced {
            // `${NAME:-default}`
            while self.letters.peek().is_some_and(|letter| *letter != '}' && *letter != '\n') {
                self.next();
            }
            if self.letters.peek() == Some(&'}') {
                self.next();
            }
        }
        if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
            self.push('$');
            name.chars().for_each(|letter| self.push(letter));
            return;
        }
        self.plan.notes.add(format!(
            "variable ${0} of the shell is read from the environment: -e {0}=VALUE",
            js::label(&name)
        ));
        self.word.get_or_insert_default().push(Text::constant(format!("__ENV.{name}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&[&str]]) {
        let found = commands(text, &mut Plan::default()).expect("command lines");
        let plain: Vec<Vec<String>> =
            found.iter().map(|words| words.iter().map(Text::outline).collect()).collect();
        assert_eq!(plain, expect, "{text}");
    }

    #[test]
    fn words_are_those_of_the_shell() {
        check("curl 'a b' \"c \\\"d\\\"\" e\\ f", &[&["curl", "a b", "c \"d\"", "e f"]]);
        check("curl a \\\n  -H 'b: c'\ncurl d", &[&["curl", "a", "-H", "b: c"], &["curl", "d"]]);
        check("curl $'it\\'s \\u00e9\\n\\x41 \\ud83d\\ude00'", &[&["curl", "it's é\nA 😀"]]);
        check("$ curl a | jq '.b; c' && echo\ncurl b", &[&["curl", "a"], &["curl", "b"]]);
        check("curl a > out.json 2>/dev/null; curl b", &[&["curl", "a"], &["curl", "b"]]);
        check("# comment\ncurl \"$HOST/x\" ''", &[&["curl", "{HOST}/x", ""]]);
        check(
            "curl ^\"https://h/?a=1^&b=2^\" ^\r\n  -H ^\"a: b^\"",
            &[&["curl", "https://h/?a=1&b=2", "-H", "a: b"]],
        );
    }

    #[test]
    fn open_quotes_are_errors() {
        for text in ["curl 'a", "\ncurl \"a", "curl $'a"] {
            assert!(matches!(commands(text, &mut Plan::default()), Err(DraftError::Quote { .. })), "{text}");
        }
    }
}
