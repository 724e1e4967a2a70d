//! `k6/x/dotenv`: `parse(text)` of a `.env` file.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::rc::Rc;
use std::str::Chars;

use rquickjs::{Ctx, Object, Value};

use super::notation::limited;
use crate::js::registry::Builtin;
use crate::js::{self, Args};
use crate::state::VuState;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/x/dotenv", build };

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    js::set_natives(&module, vu, &[("parse", parse)])?;
    Ok(module)
}

/// `parse(text)`: an object of its variables.
fn parse<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let text = limited(args, "dotenv")?;
    let variables = variables(&text).map_err(|problem| args.error(problem))?;
    let object = Object::new(args.ctx.clone())?;
    for (name, value) in variables {
        object.set(name, value)?;
    }
    Ok(object.into_value())
}

/// The variables of a text: `NAME=value`, after `export` where that stands, with comments behind `#`. Values in single quotes
/// mean themselves; others may have escapes in double quotes, and `${NAME}` of variables before them.
fn variables(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    let mut letters = text.chars().peekable();
    let mut line = 1;
    while letters.peek().is_some() {
        let name = take_while(&mut letters, |letter| !matches!(letter, '=' | ':' | '\n' | '#'));
        let name = name.trim().strip_prefix("export ").unwrap_or(name.trim()).trim().to_owned();
        let assigns = letters.next_if(|letter| matches!(letter, '=' | ':')).is_some();
        if !assigns {
            take_while(&mut letters, |letter| letter != '\n');
            if !name.is_empty() {
                return Err(format!("dotenv: line {line} is no assignment; write NAME=value"));
            }
        } else if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(format!("dotenv: line {line} has no variable's name before ="));
        } else {
            let (value, lines) = value(&mut letters, &found).ok_or_else(|| {
                format!("dotenv: the quoted value in line {line} has no end, or something follows it")
            })?;
            line += lines;
            found.insert(name, value);
        }
        letters.next_if_eq(&'\n');
        line += 1;
    }
    Ok(found)
}

/// A value up to the end of its line, and the number of line ends in it; `None` where a quote has no partner.
fn value(letters: &mut Peekable<Chars<'_>>, known: &BTreeMap<String, String>) -> Option<(String, usize)> {
    take_while(letters, |letter| letter == ' ' || letter == '\t');
    let Some(quote) = letters.next_if(|letter| matches!(letter, '"' | '\'')) else {
        let rest = take_while(letters, |letter| letter != '\n');
        // A comment begins behind a blank.
        let end = rest.find(" #").or(rest.starts_with('#').then_some(0)).unwrap_or(rest.len());
        return Some((expanded(rest[..end].trim(), known), 0));
    };
    let mut raw = String::new();
    loop {
        match letters.next()? {
            letter if letter == quote => break,
            '\\' if quote == '"' => match letters.next()? {
                'n' => raw.push('\n'),
                'r' => raw.push('\r'),
                't' => raw.push('\t'),
                // A dollar that means itself; no text has this letter.
                '$' => raw.push('\0'),
                other => raw.push(other),
            },
            letter => raw.push(letter),
        }
    }
    let rest = take_while(letters, |letter| letter != '\n');
    let rest = rest.trim();
    if !rest.is_empty() && !rest.starts_with('#') {
        return None;
    }
    let lines = raw.matches('\n').count();
    Some((if quote == '"' { expanded(&raw, known).replace('\0', "$") } else { raw }, lines))
}

/// The text with `${NAME}` and `$NAME` replaced; unknown variables are empty.
fn expanded(text: &str, known: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '$' {
            out.push(letter);
            continue;
        }
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let has_brace = letters.next_if_eq(&'{').is_some();
        let name = take_while(&mut letters, is_name);
        if has_brace {
            letters.next_if_eq(&'}');
        } else if name.is_empty() {
            out.push('$');
        }
        out.push_str(known.get(&name).map_or("", String::as_str));
    }
    out
}

fn take_while(letters: &mut Peekable<Chars<'_>>, wanted: impl Fn(char) -> bool) -> String {
    let mut taken = String::new();
    while let Some(letter) = letters.next_if(|letter| wanted(*letter)) {
        taken.push(letter);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[track_caller]
    fn check(text: &str, expect: Result<&str, &str>) {
        let shown = variables(text).map(|found| {
            let pairs: Vec<String> = found.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
            pairs.join(" ")
        });
        match (shown, expect) {
            (Ok(shown), Ok(expect)) => assert_eq!(shown, expect),
            (Err(error), Err(expect)) => assert!(error.contains(expect), "{error}"),
            (got, expect) => panic!("{got:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn assignments() {
        check("", Ok(""));
        check("# a comment\n\nA=1\r\nexport B = two words # so\n", Ok(r#"A="1" B="two words""#));
        check("A='a $B # c'\nB=\"x\\n\\$y\" # z", Ok(r#"A="a $B # c" B="x\n$y""#));
        check("A=1\nB=${A}-$A-$C-\"", Ok(r#"A="1" B="1-1--\"""#));
        check("A=\"two\nlines\"\nB=http://h/#f\nC:", Ok(r#"A="two\nlines" B="http://h/#f" C="""#));
        check("A=1\nnonsense\n", Err("line 2 is no assignment"));
        check("A='x", Err("line 1 has no end"));
        check("=x", Err("no variable's name"));
    }
}
