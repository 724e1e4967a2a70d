//! Settings of exports, read from environment variables.

use std::time::Duration;

use crate::net::{self, is_true};
use crate::{Context, OutputError};

/// The variable's value; an empty one counts as unset.
pub(crate) fn text(context: &Context, name: &str) -> Option<String> {
    (context.env)(name).filter(|value| !value.is_empty())
}

/// The first of these variables that is set, with its name.
pub(crate) fn first<'a>(context: &Context, names: &[&'a str]) -> Option<(&'a str, String)> {
    names.iter().find_map(|name| Some((*name, text(context, name)?)))
}

/// A switch; off if it is unset.
///
/// # Errors
/// It is neither on nor off in any spelling of Go's.
pub(crate) fn switch(context: &Context, name: &str) -> Result<bool, OutputError> {
    let Some(value) = text(context, name) else { return Ok(false) };
    is_true(&value).ok_or_else(|| refuse(name, &value, "true or false"))
}

/// A duration.
///
/// # Errors
/// It is none, or not longer than nothing.
pub(crate) fn duration(context: &Context, name: &str, default: Duration) -> Result<Duration, OutputError> {
    let Some(value) = text(context, name) else { return Ok(default) };
    net::duration(&value).ok_or_else(|| refuse(name, &value, "a duration such as 500ms or 1s"))
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
        check("on", on, "read X of the output: \"on\" is not true or false");
        let interval = |context: &Context| duration(context, "X", Duration::from_secs(5));
        check("", interval, "5s");
        check("250", interval, "250ms");
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
