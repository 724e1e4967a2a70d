//! Settings of exports, read from environment variables.

use std::time::Duration;

use crate::{Context, OutputError};

/// The variable's value; an empty one counts as unset.
pub(crate) fn text(context: &Context, name: &str) -> Option<String> {
    (context.env)(name).filter(|value| !value.is_empty())
}

/// The first of these variables that is set, with its name.
pub(crate) fn first<'a>(context: &Context, names: &[&'a str]) -> Option<(&'a str, String)> {
    names.iter().find_map(|name| Some((*name, text(context, name)?)))
}

/// The result of `read`, without the space around it; `None` if it is unset.
///
/// # Errors
/// `read` makes nothing of it.
pub(crate) fn parsed<T>(
    context: &Context,
    name: &str,
    expected: &'static str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, OutputError> {
    let Some(value) = text(context, name) else { return Ok(None) };
    read(value.trim()).map(Some).ok_or_else(|| refuse(name, &value, expected))
}

/// A switch; off if it is unset.
///
/// # Errors
/// It is neither on nor off in any spelling of Go's.
pub(crate) fn switch(context: &Context, name: &str) -> Result<bool, OutputError> {
    Ok(parsed(context, name, "true or false", is_true)?.unwrap_or(false))
}

/// A duration.
///
/// # Errors
/// It is none, or not longer than nothing.
pub(crate) fn duration(context: &Context, name: &str, default: Duration) -> Result<Duration, OutputError> {
    Ok(parsed(context, name, "a duration such as 500ms or 1s", parse_duration)?.unwrap_or(default))
}

/// A list of `name<separator>value`, separated by commas; empty if it is unset.
///
/// # Errors
/// One of them has no name or no separator.
pub(crate) fn pairs(
    context: &Context,
    name: &str,
    separator: char,
    expected: &'static str,
) -> Result<Vec<(String, String)>, OutputError> {
    let Some(value) = text(context, name) else { return Ok(Vec::new()) };
    let pair = |pair: &str| {
        let (name, value) = pair.split_once(separator)?;
        let name = name.trim();
        (!name.is_empty()).then(|| (name.to_owned(), value.trim().to_owned()))
    };
    let pairs: Option<Vec<_>> = value.split(',').filter(|one| !one.trim().is_empty()).map(pair).collect();
    pairs.ok_or_else(|| refuse(name, &value, expected))
}

/// The setting cannot have this value.
pub(crate) fn refuse(setting: &str, value: &str, expected: &'static str) -> OutputError {
    OutputError::Setting { setting: setting.to_owned(), value: value.to_owned(), expected }
}

/// `true` or `false` in the spellings that Go's `strconv.ParseBool` documents.
pub(crate) fn is_true(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// A number with `ms`, `s` or `m`, or of milliseconds; more than nothing.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|glyph: char| glyph.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "" | "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        _ => return None,
    };
    let seconds = digits.parse::<f64>().ok()? * seconds;
    Duration::try_from_secs_f64(seconds).ok().filter(|duration| !duration.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::tests::context;

    #[track_caller]
    fn check<T: std::fmt::Debug>(
        value: &str,
        read: impl Fn(&Context) -> Result<T, OutputError>,
        expect: &str,
    ) {
        let actual = match read(&context(&[("X", value)])) {
            Ok(value) => format!("{value:?}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(actual, expect, "{value:?}");
    }

    #[test]
    fn settings_are_read_or_refused() {
        let on = |context: &Context| switch(context, "X");
        check("", on, "false");
        check("T", on, "true");
        check(" true ", on, "true");
        check("on", on, "read X of the output: \"on\" is not true or false");
        let interval = |context: &Context| duration(context, "X", Duration::from_secs(5));
        check("", interval, "5s");
        check("250", interval, "250ms");
        check("2m ", interval, "120s");
        check("0s", interval, "read X of the output: \"0s\" is not a duration such as 500ms or 1s");
        let list = |context: &Context| pairs(context, "X", '=', "k=v");
        check("", list, "[]");
        check("a=b, c=d=e,", list, r#"[("a", "b"), ("c", "d=e")]"#);
        check("a", list, "read X of the output: \"a\" is not k=v");
        check("=a", list, "read X of the output: \"=a\" is not k=v");
    }

    #[test]
    fn the_first_that_is_set_counts() {
        let context = context(&[("A", ""), ("B", "b"), ("C", "c")]);
        assert_eq!(first(&context, &["A", "B", "C"]), Some(("B", "b".to_owned())));
        assert_eq!(first(&context, &["A"]), None);
    }
}
