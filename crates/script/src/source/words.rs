//! Words in the text of a script: enough to know what it cannot ask for.

/// Whether a text has this identifier.
pub(crate) fn has(text: &str, word: &str) -> bool {
    let bytes = text.as_bytes();
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"_$".contains(byte))
    };
    text.match_indices(word).any(|(start, _)| {
        let before = start.checked_sub(1).and_then(|before| bytes.get(before));
        !is_part(before) && !is_part(bytes.get(start + word.len()))
    })
}

/// Whether a text may import all that a module exports, without a word for each: by `* as`, `export *` or `import()`. A text with
/// escapes may write any word in another way.
pub(crate) fn imports_whole(text: &str) -> bool {
    let is_star = |(start, _): (usize, &str)| {
        let rest = text[start + 1..].trim_start();
        rest.starts_with("as") || rest.starts_with("from")
    };
    let is_call = |(start, _): (usize, &str)| {
        let rest = text[start + "import".len()..].trim_start();
        rest.starts_with('(') || rest.starts_with('/')
    };
    text.contains("\\u") || text.match_indices('*').any(is_star) || text.match_indices("import").any(is_call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_identifiers() {
        let check = |text: &str, expect: bool| assert_eq!(has(text, "get"), expect, "{text}");
        check("http.get(url)", true);
        check("get", true);
        check("target forget gets _get get$ gété", false);
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
}
