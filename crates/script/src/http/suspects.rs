//! URLs that hold `undefined` where a value was meant: which expression of the script has no value, and where.

use rquickjs::{Ctx, Value};

use crate::js::{self, Args};
use crate::source::places::{Place, Places, first_place};

/// Texts of values that no URL is meant to have.
const WORDS: [&str; 3] = ["undefined", "NaN", "[object Object]"];

/// Characters around a part of a URL.
const BORDERS: [char; 11] = ['/', '?', '&', '=', ':', '.', '@', '#', ',', ';', '-'];

/// Scripts with more bytes, which are bundles, are not searched.
const SOURCE_BYTES_MAX: usize = 1 << 20;

/// Returns the word in a URL that stands for a missing value: a whole segment, parameter or label of it.
pub(crate) fn word(url: &str) -> Option<&'static str> {
    WORDS.into_iter().find(|word| {
        url.match_indices(word).any(|(at, _)| {
            let before = url[..at].chars().next_back();
            let after = url[at + word.len()..].chars().next();
            let is_border = |letter: Option<char>| letter.is_none_or(|letter| BORDERS.contains(&letter));
            is_border(before) && is_border(after)
        })
    })
}

/// Warns of a URL with a missing value, once per place: names the expression and the line where they are found.
pub(crate) fn warn<'js>(args: &Args<'_, 'js>, given: &Value<'js>, shown: &str) -> rquickjs::Result<()> {
    let suspects = &args.vu.init.suspects;
    let is_missing = given.is_undefined() || given.is_null();
    let url = if is_missing { String::new() } else { js::to_string(args.ctx, given)? };
    if !(is_missing || word(&url).is_some()) || !suspects.may_look() {
        return Ok(());
    }
    let places = Places::new(&args.vu.init.sources);
    let Some(place) = caller(args.ctx, places) else { return Ok(()) };
    let source = places.text(&place.file).filter(|text| text.len() <= SOURCE_BYTES_MAX);
    let found = source.as_deref().and_then(|text| match is_missing {
        true => argument(text, place.line).map(|name| (name, place.line)),
        false => culprit(text, &url, place.line),
    });
    let problem = match is_missing {
        true => format!("the URL is {}", if given.is_null() { "null" } else { "undefined" }),
        false => format!("the URL \"{shown}\" contains \"{}\"", word(&url).unwrap_or_default()),
    };
    let (line, cause) = match &found {
        Some((name, line)) => (*line, format!(": `{name}` has no value{}", remedy(name))),
        None => (place.line, String::new()),
    };
    let text = format!("{problem}{cause} ({}:{line})", place.file);
    if suspects.is_new(&format!("{cause} {}:{line}", place.file)) {
        args.vu.warn(text);
    }
    Ok(())
}

/// Warns of a problem where the script calls the native function, once per place.
pub(crate) fn warn_at_caller(args: &Args<'_, '_>, problem: &str) {
    let suspects = &args.vu.init.suspects;
    if !suspects.may_look() {
        return;
    }
    let Some(place) = caller(args.ctx, Places::new(&args.vu.init.sources)) else { return };
    let place = format!("({}:{})", place.file, place.line);
    if suspects.is_new(&place) {
        args.vu.warn(format!("{problem} {place}"));
    }
}

/// Returns the place in the script that calls the native function.
fn caller(ctx: &Ctx<'_>, places: Places<'_>) -> Option<Place> {
    let stack: String = ctx.eval("new Error().stack").ok()?;
    first_place(&places.shown(&stack))
}

/// Returns how to give a value to a variable of the environment.
fn remedy(name: &str) -> String {
    match name.strip_prefix("__ENV.") {
        Some(variable) => format!("; set it with -e {variable}=VALUE"),
        None => String::new(),
    }
}

/// Returns the first argument of the request on a line, if it is one expression.
fn argument(source: &str, line: usize) -> Option<String> {
    const CALLS: [&str; 9] =
        [".get(", ".post(", ".put(", ".patch(", ".del(", ".head(", ".options(", ".request(", "asyncRequest("];
    let text = source.lines().nth(line.checked_sub(1)?)?;
    let call = CALLS.iter().find_map(|call| Some(text.find(call)? + call.len()))?;
    let mut rest = text[call..].trim_start();
    if text[..call].ends_with("equest(") {
        rest = rest.split_once(',')?.1.trim_start();
    }
    let (name, _) = operand(rest)?;
    (name != "undefined" && name != "null").then(|| name.to_owned())
}

/// A part of an expression that makes a text.
#[derive(Debug, PartialEq)]
enum Part<'a> {
    Text(String),
    Value(&'a str),
}

/// Returns the expression that is missing from a URL, and its line: of all texts in the script that could have made the URL, the
/// one nearest to the request.
fn culprit(source: &str, url: &str, line: usize) -> Option<(String, usize)> {
    let mut best: Option<(usize, String, usize)> = None;
    for (at, parts) in texts(source) {
        let Some(name) = missing(&parts, url) else { continue };
        let its_line = source[..at].matches('\n').count() + 1;
        // A text below the request made another one.
        let distance = if its_line <= line { line - its_line } else { its_line - line + 1000 };
        if best.as_ref().is_none_or(|(least, ..)| distance < *least) {
            best = Some((distance, name, its_line));
        }
    }
    best.map(|(_, name, line)| (name, line))
}

/// Returns the value of a text that is missing in `url`; `None` if the text cannot have made it.
fn missing(parts: &[Part<'_>], url: &str) -> Option<String> {
    let mut rest = url;
    let mut found = None;
    let mut parts = parts.iter().peekable();
    while let Some(part) = parts.next() {
        match part {
            Part::Text(text) => rest = rest.strip_prefix(text.as_str())?,
            Part::Value(name) => {
                let end = match parts.peek() {
                    Some(Part::Text(next)) => rest.find(next.as_str())?,
                    Some(Part::Value(_)) => WORDS.iter().find(|word| rest.starts_with(**word))?.len(),
                    None => rest.len(),
                };
                let value = &rest[..end];
                if found.is_none() && WORDS.contains(&value) {
                    found = Some((*name).to_owned());
                }
                rest = &rest[end..];
            }
        }
    }
    found.filter(|_| rest.is_empty())
}

/// Returns the template literals and the sums with texts of a source, each with its position.
fn texts(source: &str) -> Vec<(usize, Vec<Part<'_>>)> {
    let mut texts = Vec::new();
    let mut at = 0;
    while let Some(next) = source[at..].find(['`', '\'', '"']) {
        let start = at + next;
        let Some((parts, length)) = literal(&source[start..]) else {
            at = start + 1;
            continue;
        };
        let has_value = parts.iter().any(|part| matches!(part, Part::Value(_)));
        if has_value {
            texts.push((start, parts));
            at = start + length;
            continue;
        }
        let (first, parts, end) = sum(source, start, start + length, parts);
        if parts.len() > 1 {
            texts.push((first, parts));
        }
        at = end;
    }
    texts
}

/// Returns the parts of the literal at the beginning of a text, and its length.
fn literal(text: &str) -> Option<(Vec<Part<'_>>, usize)> {
    let quote = text.chars().next()?;
    let (mut parts, mut plain) = (Vec::new(), String::new());
    let mut at = 1;
    while let Some(letter) = text[at..].chars().next() {
        at += letter.len_utf8();
        match letter {
            '\\' => {
                let escaped = text[at..].chars().next()?;
                at += escaped.len_utf8();
                plain.push(escaped);
            }
            '\n' if quote != '`' => return None,
            '$' if quote == '`' && text[at..].starts_with('{') => {
                let length = text[at..].find('}')?;
                if !plain.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                }
                parts.push(Part::Value(text[at + 1..at + length].trim()));
                at += length + 1;
            }
            _ if letter == quote => {
                if !plain.is_empty() {
                    parts.push(Part::Text(plain));
                }
                return Some((parts, at));
            }
            _ => plain.push(letter),
        }
    }
    None
}

/// Extends a plain literal between `from` and `to` by what is added to it on both sides. Returns its beginning, parts and end.
fn sum<'a>(
    source: &'a str,
    from: usize,
    to: usize,
    mut parts: Vec<Part<'a>>,
) -> (usize, Vec<Part<'a>>, usize) {
    let mut first = from;
    if let Some(before) = source[..from].trim_end().strip_suffix('+') {
        let before = before.trim_end();
        let is_part = |letter: char| is_name(letter) || letter == '.';
        let start = before
            .rfind(|letter| !is_part(letter))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        if start < before.len() && !before[start..].starts_with(|letter: char| letter.is_ascii_digit()) {
            parts.insert(0, Part::Value(&before[start..]));
            first = start;
        }
    }
    let mut end = to;
    while let Some(rest) = source[end..].trim_start().strip_prefix('+') {
        let rest = rest.trim_start();
        let at = source.len() - rest.len();
        if rest.starts_with(['"', '\'']) {
            let Some((more, length)) = literal(rest) else { break };
            parts.extend(more);
            end = at + length;
        } else {
            let Some((value, length)) = operand(rest) else { break };
            parts.push(Part::Value(value));
            end = at + length;
        }
    }
    (first, parts, end)
}

/// Returns the name at the beginning of a text with its members, and its length: `user.id`, `__ENV.HOST`, `ids[0]`.
fn operand(text: &str) -> Option<(&str, usize)> {
    let is_first = |letter: char| letter.is_alphabetic() || letter == '_' || letter == '$';
    if !text.starts_with(is_first) {
        return None;
    }
    let mut depth = 0_usize;
    let mut length = text.len();
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' if depth > 0 => depth -= 1,
            _ if depth > 0 && letter != '\n' => {}
            _ if is_name(letter) || letter == '.' || letter == '?' && text[at..].starts_with("?.") => {}
            _ => {
                length = at;
                break;
            }
        }
    }
    Some((&text[..length], length))
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_parts_are_suspects() {
        for (url, expect) in [
            ("undefined/items", Some("undefined")),
            ("http://h/items/undefined", Some("undefined")),
            ("http://h/items/undefined?a=b", Some("undefined")),
            ("http://h/?user=undefined&x=1", Some("undefined")),
            ("http://undefined:80/", Some("undefined")),
            ("http://h/[object Object]/x", Some("[object Object]")),
            ("http://h/page/NaN", Some("NaN")),
            ("http://h/undefinedBehaviour", None),
            ("http://h/isundefined", None),
            ("http://h/NaNo", None),
            ("http://h/", None),
        ] {
            assert_eq!(word(url), expect, "{url}");
        }
    }

    #[track_caller]
    fn check(source: &str, url: &str, line: usize, expect: Option<(&str, usize)>) {
        let actual = culprit(source, url, line);
        assert_eq!(actual.as_ref().map(|(name, line)| (name.as_str(), *line)), expect, "{source}");
    }

    #[test]
    fn the_missing_value_is_found() {
        check("http.get(`${BASE}/items/${id}`)", "http://h/items/undefined", 1, Some(("id", 1)));
        check("http.get(`${__ENV.HOST}/items`)", "undefined/items", 1, Some(("__ENV.HOST", 1)));
        check("http.get(__ENV.HOST + '/items')", "undefined/items", 1, Some(("__ENV.HOST", 1)));
        check(
            "http.get(BASE + '/a/' + user.id + '?x=1')",
            "http://h/a/undefined?x=1",
            1,
            Some(("user.id", 1)),
        );
        check("http.get(BASE + \"/a/\" + ids[0])", "http://h/a/undefined", 1, Some(("ids[0]", 1)));
        check("const url = `/x/${a}`;\nhttp.get(B + url);", "/x/undefined", 2, Some(("a", 1)));
        check("g(`/x/${a}`);\ng(`/x/${b}`);\n", "/x/undefined", 2, Some(("b", 2)));
        check("g(`/x/${a}`);\ng(`/y/${b}`);\n", "/x/undefined", 2, Some(("a", 1)));
        check("// it's a comment\ng(`/x/${a}`)", "/x/undefined", 2, Some(("a", 2)));
        check("http.get(url)", "http://h/undefined", 1, None);
        check("http.get(`/x/${a}`)", "/x/5/undefined", 1, None);
        check("http.get(`/x/${", "/x/undefined", 1, None);
        check("", "/x/undefined", 1, None);
        check("g('é' + ü + 'ß')", "éundefinedß", 1, Some(("ü", 1)));
    }

    #[test]
    fn the_argument_of_a_request_is_found() {
        for (source, expect) in [
            ("http.get(url);", Some("url")),
            ("  const res = http.post( user.url, body);", Some("user.url")),
            ("http.request('GET', url)", Some("url")),
            ("http.get(undefined)", None),
            ("http.get('x')", None),
            ("get(url)", None),
        ] {
            assert_eq!(argument(source, 1).as_deref(), expect, "{source}");
        }
        assert_eq!(argument("", 7), None);
    }

    #[test]
    fn any_script_is_searched() {
        let letters: Vec<char> = "`'\"${}+ab\\\n.[]é?_ ".chars().collect();
        let mut state = 1_u64;
        for _ in 0..20_000 {
            let mut random = |below: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % below
            };
            let source: String = (0..random(40)).map(|_| letters[random(letters.len())]).collect();
            culprit(&source, "a/undefined", 1);
            argument(&format!("http.get({source}"), 1);
        }
    }
}
