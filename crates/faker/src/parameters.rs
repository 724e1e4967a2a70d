//! Parameters of functions, and the arguments for them.

use std::str::FromStr;

use crate::FakerError;

/// An argument as text: a single value, or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A single value.
    One(String),
    /// A list.
    Many(Vec<String>),
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in messages.
    pub name: &'static str,
    /// Its value where there is no argument; none where one is needed.
    pub default: Option<&'static str>,
}

/// A parameter with a default.
pub(crate) const fn optional(name: &'static str, default: &'static str) -> Parameter {
    Parameter { name, default: Some(default) }
}

/// A parameter without a default.
pub(crate) const fn required(name: &'static str) -> Parameter {
    Parameter { name, default: None }
}

/// The arguments of a call.
pub(crate) struct Given<'a> {
    pub(crate) parameters: &'a [Parameter],
    pub(crate) arguments: &'a [Argument],
}

impl Given<'_> {
    /// The values for parameter `index`.
    pub(crate) fn texts(&self, index: usize) -> Result<Vec<String>, FakerError> {
        match self.arguments.get(index) {
            Some(Argument::One(text)) => return Ok(vec![text.clone()]),
            Some(Argument::Many(texts)) => return Ok(texts.clone()),
            None => {}
        }
        let parameter = &self.parameters[index];
        match parameter.default {
            Some(default) => Ok(vec![default.to_owned()]),
            None => Err(FakerError::Missing(parameter.name)),
        }
    }

    pub(crate) fn text(&self, index: usize) -> Result<String, FakerError> {
        Ok(self.texts(index)?.into_iter().next().unwrap_or_default())
    }

    /// The value for parameter `index`, read as a number or a boolean.
    pub(crate) fn parsed<T: FromStr + Kind>(&self, index: usize) -> Result<T, FakerError> {
        let name = self.parameters[index].name;
        let text = self.text(index)?;
        let invalid =
            |_| FakerError::Argument(format!("{name} field could not parse to {} value", T::NAMES[0]));
        text.parse().map_err(invalid)
    }

    pub(crate) fn all_parsed<T: FromStr + Kind>(&self, index: usize) -> Result<Vec<T>, FakerError> {
        let parse = |text: &String| {
            let invalid =
                |_| FakerError::Argument(format!("{text} value could not parse to {}", T::NAMES[1]));
            text.parse().map_err(invalid)
        };
        self.texts(index)?.iter().map(parse).collect()
    }

    /// A count of things of `kind`, from `min` to `max`.
    pub(crate) fn count(&self, index: usize, kind: &str, min: i64, max: i64) -> Result<i64, FakerError> {
        let count: i64 = self.parsed(index)?;
        if (min..=max).contains(&count) {
            return Ok(count);
        }
        Err(FakerError::Argument(format!("invalid {kind} {count}: expected {min} to {max}")))
    }
}

/// The type that a text is read as.
pub(crate) trait Kind {
    /// Its name in messages about a single value, and about one of a list.
    const NAMES: [&'static str; 2];
}

impl Kind for i64 {
    const NAMES: [&'static str; 2] = ["int", "int"];
}

impl Kind for u64 {
    const NAMES: [&'static str; 2] = ["int", "uint"];
}

impl Kind for f64 {
    const NAMES: [&'static str; 2] = ["float", "float"];
}

impl Kind for f32 {
    const NAMES: [&'static str; 2] = ["float", "float"];
}

impl Kind for bool {
    const NAMES: [&'static str; 2] = ["bool", "bool"];
}
