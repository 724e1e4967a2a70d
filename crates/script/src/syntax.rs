//! Is a file an ES module or CommonJS? k6's rule: a file with `import`, `export` or a top-level `await` is a module.

/// Whether the text has an `import` or `export` statement, or an `await`, outside of any bracket.
///
/// A scanner, not a parser: it skips comments, strings, templates and regular expressions and looks at words at
/// depth zero.
pub(crate) fn is_module(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut scan = Scan { bytes, at: 0, depth: 0, before: Before::Statement };
    while scan.at < bytes.len() {
        if scan.step() {
            return true;
        }
    }
    false
}

/// The kind of the previous token: decides whether `/` divides or opens a regular expression, and whether a
/// word begins a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Statement,
    Operator,
    Value,
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    before: Before,
}

impl Scan<'_> {
    /// Takes one token; true when it settles that the text is a module.
    fn step(&mut self) -> bool {
        let byte = self.bytes[self.at];
        match byte {
            b'\n' | b'\r' => {
                self.at += 1;
                if self.depth == 0 && self.before == Before::Value {
                    // A line break may end a statement; a word after it may begin one.
                    self.before = Before::Statement;
                }
            }
            _ if byte.is_ascii_whitespace() => self.at += 1,
            b'/' if self.next_is(b'/') => self.skip_to(b"\n"),
            b'/' if self.next_is(b'*') => self.skip_past(b"*/"),
            b'/' if self.before != Before::Value => self.regex(),
            b'"' | b'\'' => self.string(byte),
            b'`' => self.template(),
            b'{' | b'(' | b'[' => {
                self.depth += 1;
                self.at += 1;
                self.before = Before::Statement;
            }
            b'}' | b')' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.at += 1;
                self.before = if byte == b'}' && self.depth == 0 { Before::Statement } else { Before::Value };
            }
            b';' => {
                self.at += 1;
                self.before = Before::Statement;
            }
            _ if is_word(byte) => return self.word(),
            _ => {
                self.at += 1;
                self.before = Before::Operator;
            }
        }
        false
    }

    fn word(&mut self) -> bool {
        let start = self.at;
        while self.at < self.bytes.len() && is_word(self.bytes[self.at]) {
            self.at += 1;
        }
        let word = &self.bytes[start..self.at];
        let after_dot = start > 0 && self.bytes[start - 1] == b'.';
        let begins = self.before == Before::Statement;
        // After these a `/` opens a regular expression.
        let is_keyword = matches!(
            word,
            b"return"
                | b"typeof"
                | b"case"
                | b"in"
                | b"of"
                | b"delete"
                | b"void"
                | b"throw"
                | b"new"
                | b"else"
                | b"do"
                | b"await"
                | b"yield"
        );
        self.before = if is_keyword && !after_dot { Before::Operator } else { Before::Value };
        if self.depth > 0 || after_dot {
            return false;
        }
        match word {
            b"export" => begins,
            // `import(…)` and `import.meta` are expressions; the latter exists in modules only.
            b"import" => begins && self.peek() != Some(b'('),
            b"await" => self.peek() != Some(b':') && self.peek() != Some(b'='),
            _ => false,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes[self.at..].iter().copied().find(|byte| !byte.is_ascii_whitespace())
    }

    fn next_is(&self, byte: u8) -> bool {
        self.bytes.get(self.at + 1) == Some(&byte)
    }

    fn skip_to(&mut self, end: &[u8]) {
        let rest = &self.bytes[self.at..];
        self.at += rest.windows(end.len()).position(|window| window == end).unwrap_or(rest.len());
    }

    fn skip_past(&mut self, end: &[u8]) {
        self.at += 2;
        self.skip_to(end);
        self.at = (self.at + end.len()).min(self.bytes.len());
    }

    fn string(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == quote || byte == b'\n' {
                break;
            }
        }
        self.before = Before::Value;
    }

    fn template(&mut self) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 2,
                b'`' => {
                    self.at += 1;
                    break;
                }
                b'$' if self.next_is(b'{') => {
                    self.at += 2;
                    let outer = std::mem::replace(&mut self.depth, 1);
                    self.before = Before::Operator;
                    // Code inside a placeholder is never at the top level, so its verdict is no verdict.
                    while self.depth > 0 && self.at < self.bytes.len() {
                        self.step();
                    }
                    self.depth = outer;
                }
                _ => self.at += 1,
            }
        }
        self.before = Before::Value;
    }

    fn regex(&mut self) {
        self.at += 1;
        let mut in_class = false;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += if byte == b'\\' { 2 } else { 1 };
            match byte {
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => break,
                b'\n' => break,
                _ => {}
            }
        }
        self.before = Before::Value;
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: bool) {
        assert_eq!(is_module(text), expect, "{text}");
    }

    #[test]
    fn modules() {
        check("import http from 'k6/http';", true);
        check("/* c */ import{a}from'./a.js'", true);
        check("const a = 1\nexport default function () {}", true);
        check("var a=1;export{a as b};", true);
        check("function f(){}export default f", true);
        check("const x = await f();", true);
        check("const r = /[/'\"]/g\nexport const a = 1", true);
        check("const s = `${`${1}`}`; export {s}", true);
    }

    #[test]
    fn common_js() {
        check("const http = require('k6/http'); module.exports.default = function () {};", false);
        check("// import x from 'y'\nmodule.exports = {}", false);
        check("const s = \"export default 1\"; exports.a = s", false);
        check("const s = `\nimport a from 'b'\n`;", false);
        check("(function () { async function f() { await g() } })()", false);
        check("const p = import('x')", false);
        check("x.import = 1; y.export = 2", false);
        check("var a = b / c; var d = '/'; exports.e = /export default/", false);
        check("", false);
    }
}
