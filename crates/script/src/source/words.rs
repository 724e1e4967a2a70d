//! Words in the text of a script: enough to know what it cannot ask for.

/// Whether a text has this word. Where it is in doubt whether it is part of a longer one, it is not.
pub(crate) fn has(text: &str, word: &str) -> bool {
    places(text, word).next().is_some()
}

/// How often it has it.
pub(crate) fn count(text: &str, word: &str) -> usize {
    places(text, word).count()
}

/// Where it is.
fn places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = text.as_bytes();
    let is_part =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_$".contains(byte));
    text.match_indices(word).map(|(start, _)| start).filter(move |start| {
        let before = start.checked_sub(1).and_then(|before| bytes.get(before));
        !is_part(before) && !is_part(bytes.get(start + word.len()))
    })
}

/// Whether a text may import all that a module exports, where no word stands for each: by `* as`, `export *` or `import()`.
pub(crate) fn imports_whole(text: &str) -> bool {
    let is_star = |(start, _): (usize, &str)| {
        let rest = text[start + 1..].trim_start();
        rest.starts_with("as") || rest.starts_with("from")
    };
    let is_call = |(start, _): (usize, &str)| {
        let rest = text[start + "import".len()..].trim_start();
        rest.starts_with('(') || rest.starts_with('/')
    };
    has_escapes(text) || text.match_indices('*').any(is_star) || text.match_indices("import").any(is_call)
}

/// Whether a text may run code that is in none of the files, such as `eval(open('lib.js'))`.
pub(crate) fn runs_text(text: &str) -> bool {
    has(text, "eval") || has(text, "Function")
}

/// Whether a text may write letters in another way.
fn has_escapes(text: &str) -> bool {
    ["\\u", "\\x"].iter().any(|escape| text.contains(escape))
}

/// Whether a text uses an object only to read members by names that are written there: `object.name` or `object['name']`.
pub(crate) fn reads_members_by_name(text: &str, object: &str) -> bool {
    let is_by_name = |start: usize| {
        let rest = &text[start + object.len()..];
        let member = rest.strip_prefix("?.").or_else(|| rest.strip_prefix('.'));
        match member {
            Some(member) if !member.starts_with('[') => {
                member.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            }
            member => member.unwrap_or(rest).strip_prefix('[').is_some_and(is_literal_key),
        }
    };
    !has_escapes(text) && places(text, object).all(is_by_name)
}

/// Whether a text begins with a literal and the end of its brackets.
fn is_literal_key(text: &str) -> bool {
    let Some(quote) = text.chars().next().filter(|first| ['\'', '"'].contains(first)) else { return false };
    text[1..].split_once(quote).is_some_and(|(name, rest)| !name.contains('\\') && rest.starts_with(']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_identifiers() {
        let check = |text: &str, expect: bool| assert_eq!(has(text, "get"), expect, "{text}");
        check("http.get(url)", true);
        check("get", true);
        check("target forget gets _get get$ $get", false);
        check("import {\u{a0}get\u{a0}}", true);
        check("budget; http['get']", true);
    }

    #[test]
    fn whole_modules_are_imported_by_stars_and_calls() {
        let check = |text: &str, expect: bool| assert_eq!(imports_whole(text), expect, "{text}");
        check("import http, { get } from 'k6/http'; const a = 2 * 3 ** 4", false);
        check("import * as http from 'k6/http'", true);
        check("import http,*as all from 'k6/http'", true);
        check("export *\nfrom 'k6/http'", true);
        check("await import ('k6/http')", true);
        check("import { g\\u0065t } from 'k6/http'", true);
    }

    #[test]
    fn code_from_elsewhere_is_expected_where_text_can_be_run() {
        let check = |text: &str, expect: bool| assert_eq!(runs_text(text), expect, "{text}");
        check("eval(open('./lib.js'))", true);
        check("new Function('return __ENV.URL')", true);
        check("evaluate(function () {})", false);
    }

    #[test]
    fn members_are_read_by_name_or_not() {
        let check = |text: &str, expect: bool| {
            assert_eq!(reads_members_by_name(text, "__ENV"), expect, "{text}");
        };
        check("const url = __ENV.URL || __ENV['HOST'] || __ENV?.X || __ENV?.[\"Y\"]", true);
        check("nothing", true);
        check("my__ENV", true);
        check("const { URL } = __ENV", false);
        check("__ENV[name]", false);
        check("Object.keys(__ENV)", false);
        check("`${__ENV}`", false);
        check("__ENV\n.URL", false);
        check("__ENV['URL_' + region]", false);
        check("__ENV['\\\\x55RL']", false);
        check("__ENV['U", false);
        check("__ENV?.[`${x}`]", false);
        check("__ENV.URL + '\\u0041'", false);
    }
}
