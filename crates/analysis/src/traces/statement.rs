//! Statements without what differs from call to call.

/// Bytes of a statement that are looked at; two that differ only later count as one.
const STATEMENT_BYTES_MAX: usize = 4096;

/// Returns a statement with each number, text and parameter as `?`, a list of them as one, and single spaces.
///
/// Names are distinguished from numbers; quoted names and comments are kept. It parses no grammar, because statements of one
/// template have enough in common without it.
pub fn normalised(statement: &str) -> String {
    let text = &statement[..statement.floor_char_boundary(STATEMENT_BYTES_MAX)];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let taken = match next {
            '\'' => quoted_bytes(rest),
            '0'..='9' => {
                rest.find(|mark: char| !mark.is_ascii_alphanumeric() && mark != '.').unwrap_or(rest.len())
            }
            '$' | ':' | '@' if rest[1..].starts_with(|mark: char| mark.is_ascii_digit()) => {
                1 + rest[1..].find(|mark: char| !mark.is_ascii_digit()).unwrap_or(rest.len() - 1)
            }
            '?' => 1,
            _ => 0,
        };
        if taken > 0 {
            value(&mut out);
            rest = &rest[taken..];
        } else if next.is_whitespace() {
            if !out.ends_with(' ') {
                out.push(' ');
            }
            rest = rest.trim_start();
        } else {
            // A name is taken whole, so that the numbers in it stay.
            let word = rest.find(|mark: char| !is_of_name(mark)).unwrap_or(rest.len()).max(next.len_utf8());
            out.push_str(&rest[..word]);
            rest = &rest[word..];
        }
    }
    out.trim().to_owned()
}

/// Writes a value, unless it is one more of a list.
fn value(out: &mut String) {
    let before = out.trim_end();
    if before.strip_suffix(',').is_some_and(|before| before.trim_end().ends_with('?')) {
        out.truncate(before.len() - 1);
        out.truncate(out.trim_end().len());
    } else {
        out.push('?');
    }
}

fn is_of_name(mark: char) -> bool {
    mark.is_alphanumeric() || mark == '_'
}

/// A text in quotes, in which two quotes are one.
fn quoted_bytes(rest: &str) -> usize {
    let mut at = 1;
    while let Some(end) = rest[at..].find('\'') {
        at += end + 1;
        if !rest[at..].starts_with('\'') {
            return at;
        }
        at += 1;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(statement: &str, expect: &str) {
        assert_eq!(normalised(statement), expect, "{statement}");
    }

    #[test]
    fn what_differs_from_call_to_call_goes() {
        check("select * from app where id = 17", "select * from app where id = ?");
        check("select *\n  from app\twhere id = $1 ", "select * from app where id = ?");
        check("where a = 'it''s' and b=\"c1\"", "where a = ? and b=\"c1\"");
        check("where id in (1, 2,3 , $4)", "where id in (?)");
        check("values ('a', 1.5e3, :2)", "values (?)");
        check("select t1.x2, 3 from t1", "select t1.x2, ? from t1");
        check("GET user:17:name", "GET user?:name");
        check("open 'quote", "open ?");
        check("", "");
        check("größe = 5", "größe = ?");
    }

    proptest! {
        #[test]
        fn a_statement_without_values_has_none(text in "\\PC{0,80}") {
            let once = normalised(&text);
            prop_assert_eq!(normalised(&once), once);
        }
    }
}
