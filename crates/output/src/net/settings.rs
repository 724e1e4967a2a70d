//! How exports read their environment variables.

use std::time::Duration;

use crate::{Context, OutputError};

/// Environment variables that share a prefix such as `K6_STATSD_`.
pub(crate) struct Settings<'a> {
    context: &'a Context,
    prefix: &'static str,
}

impl<'a> Settings<'a> {
    /// The variables with this prefix.
    pub(crate) fn new(context: &'a Context, prefix: &'static str) -> Settings<'a> {
        Settings { context, prefix }
    }

    /// A variable's text; `None` where it is unset or empty.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        (self.context.env)(&format!("{}{name}", self.prefix)).filter(|text| !text.is_empty())
    }

    /// A variable read by `read`.
    ///
    /// # Errors
    /// It is set, and `read` makes nothing of it.
    pub(crate) fn read<T>(
        &self,
        name: &str,
        expected: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, OutputError> {
        let Some(value) = self.text(name) else { return Ok(None) };
        match read(value.trim()) {
            Some(read) => Ok(Some(read)),
            None => Err(OutputError::Setting { setting: format!("{}{name}", self.prefix), value, expected }),
        }
    }

    /// A duration such as `500ms` or `1s`.
    ///
    /// # Errors
    /// It is set and no duration above zero.
    pub(crate) fn duration(&self, name: &str, default: Duration) -> Result<Duration, OutputError> {
        Ok(self.read(name, "a duration such as 500ms or 1s", duration)?.unwrap_or(default))
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// It is set to something else.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, OutputError> {
        Ok(self.read(name, "true or false", is_true)?.unwrap_or(false))
    }
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
pub(crate) fn duration(text: &str) -> Option<Duration> {
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
