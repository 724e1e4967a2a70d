//! Fingerprints of statements: their text without the values and placeholders that differ from call to call and from driver to
//! driver.

/// Bytes of a statement that are looked at; two that differ only later count as one.
const STATEMENT_BYTES_MAX: usize = 4096;

/// Returns a statement with each number, text and placeholder as `?`, a list of them as one, single spaces, and no comments.
///
/// The placeholders are those of drivers: `$1` (pgx, asyncpg, node-postgres, pg_stat_statements), `%s` and `%(name)s` (psycopg,
/// SQLAlchemy, Django), `:name` (SQLAlchemy, Hibernate), `@name` (SQL Server), `?` (JDBC, redis-py and ioredis). A cast of a
/// placeholder (`$1::VARCHAR`) belongs to it, so that drivers that name types and those that do not join. Names are taken whole,
/// so that numbers in them stay, quoted names stay, and no grammar is read: the result is a key for joining two sources.
pub fn normalised(statement: &str) -> String {
    let text = &statement[..statement.floor_char_boundary(STATEMENT_BYTES_MAX)];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let comment = comment_bytes(rest);
        let taken = if comment > 0 { 0 } else { value_bytes(rest, out.chars().next_back()) };
        if taken > 0 {
            value(&mut out);
            rest = &rest[taken..];
            rest = &rest[cast_bytes(rest)..];
        } else if comment > 0 || next.is_whitespace() {
            if !out.ends_with(' ') {
                out.push(' ');
            }
            rest = rest[comment..].trim_start();
        } else {
            // A name is taken whole, so that the numbers in it stay.
            let word = rest.find(|mark: char| !is_of_name(mark)).unwrap_or(rest.len()).max(next.len_utf8());
            out.push_str(&rest[..word]);
            rest = &rest[word..];
        }
    }
    out.trim_end_matches([';', ' ']).trim().to_owned()
}

/// Returns the length of the comment that a text begins with: `/* … */`, as sqlcommenter appends it, or `-- …` up to the line's end.
fn comment_bytes(rest: &str) -> usize {
    if let Some(inside) = rest.strip_prefix("/*") {
        return inside.find("*/").map_or(rest.len(), |end| end + 4);
    }
    match rest.starts_with("-- ") {
        true => rest.find('\n').unwrap_or(rest.len()),
        false => 0,
    }
}

/// Returns the length of the value or placeholder that a text begins with, after the character `before`.
fn value_bytes(rest: &str, before: Option<char>) -> usize {
    let digits = |from: usize| from + name_end(&rest[from..], |mark| mark.is_ascii_digit());
    let mut marks = rest.chars();
    match (marks.next(), marks.next()) {
        (Some('\''), _) => quoted_bytes(rest),
        (Some('0'..='9'), _) => name_end(rest, |mark| mark.is_ascii_alphanumeric() || mark == '.'),
        (Some('$' | ':' | '@'), Some('0'..='9')) => digits(1),
        (Some('%'), Some('s')) if !rest[2..].starts_with(is_of_name) => 2,
        (Some('%'), Some('(')) => rest.find(")s").filter(|end| is_name(&rest[2..*end])).map_or(0, |end| end + 2),
        // `::` is a cast, and what stands before a name without a space may be a part of a key or of an array's bounds.
        (Some(':' | '@'), Some(first))
            if (first.is_alphabetic() || first == '_')
                && before.is_none_or(|mark| mark.is_whitespace() || "(,=<>+-*/|".contains(mark)) =>
        {
            1 + name_end(&rest[1..], is_of_name)
        }
        (Some('?'), _) => 1,
        _ => 0,
    }
}

/// Returns the length of the cast that a text begins with: `::VARCHAR`, `::timestamp with time zone`, `::text[]`.
fn cast_bytes(rest: &str) -> usize {
    let Some(kind) = rest.strip_prefix("::") else { return 0 };
    let mut end = name_end(kind, is_of_name);
    for more in [" with time zone", " without time zone", " varying", " precision", "[]"] {
        let found = kind.get(end..end + more.len()).is_some_and(|text| text.eq_ignore_ascii_case(more));
        end += if found { more.len() } else { 0 };
    }
    if end == 0 { 0 } else { 2 + end }
}

fn name_end(text: &str, is_of_it: impl Fn(char) -> bool) -> usize {
    text.find(|mark: char| !is_of_it(mark)).unwrap_or(text.len())
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_of_name)
}

/// Writes a value, unless it is one more of a list.
fn value(out: &mut String) {
    let before = out.trim_end();
    let is_list = before.strip_suffix(',').is_some_and(|before| before.trim_end().ends_with('?'));
    if is_list {
        out.truncate(before.len() - 1);
        out.truncate(out.trim_end().len());
        return;
    }
    // Rows of a multi-row insert are one.
    let row = before.strip_suffix('(').map(str::trim_end).and_then(|before| before.strip_suffix(','));
    if let Some(rows) = row.filter(|rows| rows.trim_end().ends_with("?)")) {
        let keep = rows.trim_end().len() - 1;
        out.truncate(keep);
        return;
    }
    out.push('?');
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
