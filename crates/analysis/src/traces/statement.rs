//! Fingerprints of statements: their text without the values and placeholders that differ from call to call and from driver to
//! driver.

/// Bytes of a statement that are read.
const STATEMENT_BYTES_MAX: usize = 16_384;

/// Bytes of a fingerprint. It is cut after placeholders are gone, since those of drivers differ in length.
const FINGERPRINT_BYTES_MAX: usize = 4_096;

/// Returns a statement with each number, text and placeholder as `?`, a list of them as one, single spaces, and no comments.
///
/// The placeholders are those of drivers: `$1` (pgx, asyncpg, node-postgres, pg_stat_statements), `%s` and `%(name)s` (psycopg,
/// SQLAlchemy, Django), `:name` (SQLAlchemy, Hibernate), `@name` (SQL Server), `?` (JDBC, redis-py and ioredis). A cast of a
/// placeholder (`$1::VARCHAR`) belongs to it. Names are taken whole, so that numbers in them stay, quoted names stay, and no
/// grammar is read: the result is a key for joining two sources.
pub fn normalised(statement: &str) -> String {
    let text = &statement[..statement.floor_char_boundary(STATEMENT_BYTES_MAX)];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let comment = comment_bytes(rest);
        let taken = if comment > 0 { 0 } else { value_bytes(rest, &out) };
        if taken > 0 {
            value(&mut out);
            rest = &rest[taken..];
            rest = &rest[cast_bytes(rest)..];
        } else if comment > 0 || next.is_whitespace() {
            if !out.ends_with([' ', '(']) {
                out.push(' ');
            }
            rest = rest[comment..].trim_start();
        } else {
            if [')', ','].contains(&next) {
                out.truncate(out.trim_end().len());
            }
            // A name is taken whole, so that the numbers in it stay.
            let word = name_end(rest, is_of_name).max(next.len_utf8());
            out.push_str(&rest[..word]);
            rest = &rest[word..];
        }
    }
    out.truncate(out.floor_char_boundary(FINGERPRINT_BYTES_MAX));
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

/// Returns the length of the value or placeholder that a text begins with, after the fingerprint `out` of what came before.
fn value_bytes(rest: &str, out: &str) -> usize {
    let before = out.chars().next_back();
    let is_apart = before.is_none_or(|mark| !is_of_name(mark) && ![':', '@', '?'].contains(&mark));
    let is_operand = out.trim_end().ends_with(['(', ',', '=', '<', '>']);
    let mut marks = rest.chars();
    match (marks.next(), marks.next()) {
        (Some('\''), _) => quoted_bytes(rest),
        (Some('0'..='9'), _) => name_end(rest, |mark| mark.is_ascii_alphanumeric() || mark == '.'),
        (Some('-'), Some('0'..='9')) if is_operand => {
            1 + name_end(&rest[1..], |mark| mark.is_ascii_alphanumeric() || mark == '.')
        }
        (Some('$'), Some('0'..='9')) => 1 + name_end(&rest[1..], |mark| mark.is_ascii_digit()),
        (Some('%'), Some('s')) if !rest[2..].starts_with(is_of_name) => 2,
        (Some('%'), Some('(')) => {
            rest.find(")s").filter(|end| is_name(&rest[2..*end])).map_or(0, |end| end + 2)
        }
        // After a name or another colon it is a part of a key, a cast or a slice.
        (Some(':' | '@'), Some(first)) if is_of_name(first) && is_apart => {
            1 + name_end(&rest[1..], is_of_name)
        }
        (Some('?'), _) => 1,
        // PostgreSQL counts these as constants, except after IS and NOT.
        (Some('t' | 'T' | 'f' | 'F' | 'n' | 'N'), _) if is_operand => {
            let word = &rest[..name_end(rest, is_of_name)];
            let is_constant = ["true", "false", "null"].iter().any(|known| word.eq_ignore_ascii_case(known));
            if is_constant { word.len() } else { 0 }
        }
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
        check("GET user:17:name", "GET user:?:name");
        check("open 'quote", "open ?");
        check("", "");
        check("größe = 5", "größe = ?");
    }

    /// The statement of a span and that of the database's statistics.
    #[track_caller]
    fn joins(traced: &str, counted: &str) {
        assert_eq!(normalised(traced), normalised(counted));
        assert_eq!(normalised(traced).matches('$').count(), 0, "{traced}");
    }

    #[test]
    fn statements_of_drivers_join_those_of_the_database() {
        // SQLAlchemy with psycopg2, with psycopg 3 and with asyncpg.
        joins(
            "SELECT users.id AS users_id, users.name AS users_name \nFROM users \nWHERE users.id = %(id_1)s \n LIMIT %(param_1)s",
            "SELECT users.id AS users_id, users.name AS users_name \nFROM users \nWHERE users.id = $1 \n LIMIT $2",
        );
        joins(
            "SELECT users.id FROM users WHERE users.name = %(name_1)s::VARCHAR AND users.age > %(age_1)s::INTEGER",
            "SELECT users.id FROM users WHERE users.name = $1::VARCHAR AND users.age > $2::INTEGER",
        );
        joins(
            "SELECT users.id FROM users WHERE users.name = $1::VARCHAR",
            "SELECT users.id FROM users WHERE users.name = $1",
        );
        joins(
            "SELECT items.id FROM items WHERE items.id IN (%(id_1_1)s, %(id_1_2)s, %(id_1_3)s)",
            "SELECT items.id FROM items WHERE items.id IN ($1, $2)",
        );
        joins("SELECT a FROM b WHERE c = :c_1 AND d = :d", "SELECT a FROM b WHERE c = $1 AND d = $2");
        joins(
            "INSERT INTO t (a, b) VALUES (%(a__0)s, %(b__0)s), (%(a__1)s, %(b__1)s) RETURNING t.id",
            "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4), ($5, $6) RETURNING t.id",
        );
        // psycopg.
        joins("select * from t where a = %s and b like %s", "select * from t where a = $1 and b like $2");
        // Django.
        joins(
            r#"SELECT "shop_item"."id" FROM "shop_item" WHERE ("shop_item"."id" = %s AND "shop_item"."live") LIMIT 21"#,
            r#"SELECT "shop_item"."id" FROM "shop_item" WHERE ("shop_item"."id" = $1 AND "shop_item"."live") LIMIT $2"#,
        );
        joins(
            "SELECT a FROM b WHERE id = %s /*controller='items',framework='django%3A5'*/",
            "SELECT a FROM b WHERE id = $1",
        );
        // node-postgres, pgx: their own text, and constants in it.
        joins(
            "select id, name from app where live = true and kind = 'a' and size > -1 order by id limit 10;",
            "select id, name from app where live = $1 and kind = $2 and size > $3 order by id limit $4",
        );
        joins("select a from b where c = any($1)", "select a from b where c = any($1)");
        joins("-- name: GetUser :one\nselect a from b where c = $1", "select a from b where c = $1");
        joins("select a from b where c in ($1, $2, $3)", "select a from b where c in ($1 /*, ... */)");
        // Hibernate.
        joins(
            "select u1_0.id,u1_0.name from users u1_0 where u1_0.id=? and u1_0.gone is null",
            "select u1_0.id,u1_0.name from users u1_0 where u1_0.id=$1 and u1_0.gone is null",
        );
        joins("insert into t (a,b) values (?,null)", "insert into t (a,b) values ($1,$2)");
        // ioredis and redis-py.
        joins("get user:17", "get user:?");
        joins("hset cart:5 item ?", "hset cart:8 item ?");
        joins("MGET ? ? ?", "MGET ? ? ?");
    }

    #[test]
    fn casts_slices_and_conditions_are_no_placeholders() {
        check("select a::text from b", "select a::text from b");
        check("select now()::date", "select now()::date");
        check("select a[1:n] from b", "select a[?:n] from b");
        check("where a is null and b is not true", "where a is null and b is not true");
        check("select 10 % size from b", "select ? % size from b");
        check("user@example", "user@example");
    }

    proptest! {
        #[test]
        fn a_statement_without_values_has_none(text in "\\PC{0,80}") {
            let once = normalised(&text);
            prop_assert_eq!(normalised(&once), once);
        }
    }
}
