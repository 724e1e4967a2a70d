//! Texts with computed parts, from which values in a script are written.

use crate::js;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// It stands in the script as it is.
    Literal(String),
    /// An expression of JavaScript.
    Code {
        /// The expression.
        code: String,
        /// Whether it has its value before the first iteration.
        is_constant: bool,
    },
}

/// Literals and expressions, one behind the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text(Vec<Piece>);

impl Text {
    /// A literal.
    pub(crate) fn literal(text: impl Into<String>) -> Text {
        let text = text.into();
        Text(if text.is_empty() { Vec::new() } else { vec![Piece::Literal(text)] })
    }

    /// An expression that differs between iterations.
    pub(crate) fn code(code: impl Into<String>) -> Text {
        Text(vec![Piece::Code { code: code.into(), is_constant: false }])
    }

    /// An expression that has its value before the first iteration.
    pub(crate) fn constant(code: impl Into<String>) -> Text {
        Text(vec![Piece::Code { code: code.into(), is_constant: true }])
    }

    /// Appends a text.
    pub(crate) fn push(&mut self, other: Text) {
        for piece in other.0 {
            match (self.0.last_mut(), piece) {
                (Some(Piece::Literal(last)), Piece::Literal(text)) => last.push_str(&text),
                (_, piece) => self.0.push(piece),
            }
        }
    }

    /// The same, with a literal.
    pub(crate) fn push_literal(&mut self, text: &str) {
        self.push(Text::literal(text));
    }

    /// The two one behind the other.
    pub(crate) fn then(mut self, other: Text) -> Text {
        self.push(other);
        self
    }

    /// Its parts.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text, if no part is computed.
    pub(crate) fn as_literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether a part differs between iterations.
    pub(crate) fn is_variable(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Code { is_constant: false, .. }))
    }

    /// The text for people, with `{name}` for what is computed.
    pub(crate) fn outline(&self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Literal(text) => text.clone(),
            Piece::Code { code, .. } => format!("{{{}}}", innermost(code)),
        };
        self.0.iter().map(piece).collect()
    }

    /// The expression of JavaScript.
    pub(crate) fn js(&self) -> String {
        match self.0.as_slice() {
            [] => "''".to_owned(),
            [Piece::Literal(text)] => js::quoted(text),
            [Piece::Code { code, .. }] => code.clone(),
            pieces => template(pieces),
        }
    }

    /// The same, always a text: an expression alone may have a number.
    pub(crate) fn js_string(&self) -> String {
        match self.0.as_slice() {
            // Constants are texts.
            [Piece::Code { code, is_constant: false }] => format!("`${{{code}}}`"),
            _ => self.js(),
        }
    }

    /// Replaces every part of literals that equals `value`.
    pub(crate) fn replace(&mut self, value: &str, with: &Text) -> bool {
        if value.is_empty()
            || !self.0.iter().any(|piece| matches!(piece, Piece::Literal(text) if text.contains(value)))
        {
            return false;
        }
        let mut out = Text::default();
        for piece in std::mem::take(&mut self.0) {
            let Piece::Literal(text) = piece else {
                out.push(Text(vec![piece]));
                continue;
            };
            for (nth, part) in text.split(value).enumerate() {
                if nth > 0 {
                    out.push(with.clone());
                }
                out.push_literal(part);
            }
        }
        *self = out;
        true
    }
}

fn template(pieces: &[Piece]) -> String {
    let mut out = String::from("`");
    for piece in pieces {
        match piece {
            Piece::Literal(text) => js::escape_into(&mut out, text, '`'),
            Piece::Code { code, .. } => {
                out.push_str("${");
                out.push_str(code);
                out.push('}');
            }
        }
    }
    out.push('`');
    out
}

/// The name in an expression: `encodeURIComponent(orderId)` → `orderId`.
fn innermost(code: &str) -> &str {
    let inner = code.rsplit('(').next().unwrap_or(code).trim_end_matches(')');
    let inner = inner.rsplit('.').next().unwrap_or(inner);
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if !inner.is_empty() && inner.chars().all(is_name) { inner } else { "value" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_expressions() {
        assert_eq!(Text::literal("a'b").js(), r"'a\'b'");
        assert_eq!(Text::code("id").js(), "id");
        assert_eq!(Text::code("id").js_string(), "`${id}`");
        assert_eq!(Text::literal("/o/").then(Text::code("id")).js(), "`/o/${id}`");
        assert_eq!(Text::literal("/o/").then(Text::code("encodeURIComponent(id)")).outline(), "/o/{id}");
        assert_eq!(Text::default().js(), "''");
    }

    #[test]
    fn values_are_replaced_in_literals_alone() {
        let mut text = Text::literal("Bearer abc abc").then(Text::code("abc"));
        assert!(text.replace("abc", &Text::code("token")));
        assert_eq!(text.js(), "`Bearer ${token} ${token}${abc}`");
        assert!(!text.replace("abc", &Text::code("token")));
    }
}
