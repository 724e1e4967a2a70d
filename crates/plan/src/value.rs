//! The kinds of option values, each with its parser from JSON, its parser from text and its echo.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::GoDuration;
use crate::error::Problem;
use crate::json;

/// The most characters of a wrong value that a message repeats.
const QUOTED_CHARS_MAX: usize = 60;

/// A kind of value that an option can have.
pub(crate) trait OptionValue: Sized + Clone {
    /// Reads the value from JSON; `at` is the option's path. The value is never `null`: that means unset.
    fn read(value: &Value, at: &str) -> Result<Self, Vec<Problem>>;

    /// Reads the value from an environment variable or a flag. Most kinds are written there as JSON.
    fn parse(text: &str, at: &str) -> Result<Self, Vec<Problem>> {
        match serde_json::from_str(text) {
            Ok(value) => Self::read(&value, at),
            Err(error) => Err(invalid(at, format!("must be JSON, {error}"))),
        }
    }

    /// The value as JSON text, in k6's shape.
    fn echo(&self) -> String;

    /// Takes over what a higher source says.
    fn overlay(&mut self, higher: &Self) {
        *self = higher.clone();
    }
}

/// The problem of a value of a wrong type.
pub(crate) fn wrong_type(at: &str, expected: &'static str, got: &Value) -> Vec<Problem> {
    let mut got = got.to_string();
    if let Some((end, _)) = got.char_indices().nth(QUOTED_CHARS_MAX) {
        got.truncate(end);
        got.push('…');
    }
    vec![Problem::WrongType { option: at.to_owned(), expected, got }]
}

/// The problem of a value that cannot be.
pub(crate) fn invalid(at: &str, reason: impl ToString) -> Vec<Problem> {
    vec![Problem::Invalid { option: at.to_owned(), reason: reason.to_string() }]
}

/// Reads a list, item by item, and gathers what is wrong with all of them.
pub(crate) fn read_list<T>(
    items: &[Value],
    at: &str,
    read: impl Fn(&Value, &str) -> Result<T, Vec<Problem>>,
) -> Result<Vec<T>, Vec<Problem>> {
    gather(items.iter().enumerate().map(|(index, item)| read(item, &format!("{at}[{index}]"))))
}

/// All values, or all problems.
pub(crate) fn gather<T>(
    results: impl Iterator<Item = Result<T, Vec<Problem>>>,
) -> Result<Vec<T>, Vec<Problem>> {
    let (mut values, mut problems) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

/// A field of an object; `None` where it is missing or `null`. Names match without regard to case, as in Go's JSON.
pub(crate) fn field<'a>(object: &'a serde_json::Map<String, Value>, name: &str) -> Option<&'a Value> {
    let exact = object.get(name);
    let found = exact
        .or_else(|| object.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value));
    found.filter(|value| !value.is_null())
}

/// Reads a field of an object; `None` where it is missing or `null`.
pub(crate) fn read_field<T: OptionValue>(
    object: &serde_json::Map<String, Value>,
    name: &str,
    at: &str,
) -> Result<Option<T>, Vec<Problem>> {
    field(object, name).map(|value| T::read(value, &format!("{at}.{name}"))).transpose()
}

impl OptionValue for bool {
    fn read(value: &Value, at: &str) -> Result<bool, Vec<Problem>> {
        value.as_bool().ok_or_else(|| wrong_type(at, "true or false", value))
    }

    fn parse(text: &str, at: &str) -> Result<bool, Vec<Problem>> {
        text.parse().map_err(|_| wrong_type(at, "true or false", &text.into()))
    }

    fn echo(&self) -> String {
        self.to_string()
    }
}

impl OptionValue for i64 {
    /// k6 takes whole numbers, also as text.
    fn read(value: &Value, at: &str) -> Result<i64, Vec<Problem>> {
        let number = match value {
            Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        number.ok_or_else(|| wrong_type(at, expected_number(value), value))
    }

    fn parse(text: &str, at: &str) -> Result<i64, Vec<Problem>> {
        i64::read(&text.into(), at)
    }

    fn echo(&self) -> String {
        self.to_string()
    }
}

/// A value such as `5.0`, which scripts get from a division.
fn whole(number: f64) -> Option<i64> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() <= EXACT_MAX).then_some(number as i64)
}

fn expected_number(got: &Value) -> &'static str {
    match got {
        Value::Number(_) => "a whole number",
        Value::String(text) if text.parse::<f64>().is_ok() => "a whole number",
        _ => "a number",
    }
}

impl OptionValue for String {
    fn read(value: &Value, at: &str) -> Result<String, Vec<Problem>> {
        value.as_str().map(str::to_owned).ok_or_else(|| wrong_type(at, "a string", value))
    }

    fn parse(text: &str, _at: &str) -> Result<String, Vec<Problem>> {
        Ok(text.to_owned())
    }

    fn echo(&self) -> String {
        json::string(self)
    }
}

impl OptionValue for GoDuration {
    fn read(value: &Value, at: &str) -> Result<GoDuration, Vec<Problem>> {
        let duration = match value {
            Value::Number(ms) => ms.as_f64().and_then(GoDuration::from_ms),
            Value::String(text) => GoDuration::parse(text),
            _ => None,
        };
        duration
            .ok_or_else(|| wrong_type(at, "a duration such as \"1m30s\" or a number of milliseconds", value))
    }

    fn parse(text: &str, at: &str) -> Result<GoDuration, Vec<Problem>> {
        GoDuration::read(&text.into(), at)
    }

    fn echo(&self) -> String {
        json::string(&self.to_string())
    }
}

impl OptionValue for Vec<String> {
    fn read(value: &Value, at: &str) -> Result<Vec<String>, Vec<Problem>> {
        let items = value.as_array().ok_or_else(|| wrong_type(at, "a list of strings", value))?;
        read_list(items, at, String::read)
    }

    fn parse(text: &str, _at: &str) -> Result<Vec<String>, Vec<Problem>> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        Ok(items.map(str::to_owned).collect())
    }

    fn echo(&self) -> String {
        json::array(self.iter().map(|item| json::string(item)))
    }
}

impl OptionValue for BTreeMap<String, String> {
    fn read(value: &Value, at: &str) -> Result<Self, Vec<Problem>> {
        let object = value.as_object().ok_or_else(|| wrong_type(at, "an object of strings", value))?;
        let entries = object
            .iter()
            .map(|(name, value)| Ok((name.clone(), String::read(value, &format!("{at}.{name}"))?)));
        Ok(gather(entries)?.into_iter().collect())
    }

    /// k6 writes `a:b,c:d` in the environment and `a=b` in flags; both are read in both, and JSON too.
    fn parse(text: &str, at: &str) -> Result<Self, Vec<Problem>> {
        if text.trim_start().starts_with('{') {
            return match serde_json::from_str(text) {
                Ok(value) => Self::read(&value, at),
                Err(error) => Err(invalid(at, format!("must be JSON, {error}"))),
            };
        }
        let pairs = text.split(',').filter(|pair| !pair.trim().is_empty()).map(|pair| {
            let split = pair.split_once('=').or_else(|| pair.split_once(':'));
            match split.map(|(name, value)| (name.trim(), value.trim())) {
                Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                    Ok((name.to_owned(), value.to_owned()))
                }
                _ => Err(invalid(at, format!("{pair:?} must be name=value"))),
            }
        });
        Ok(gather(pairs)?.into_iter().collect())
    }

    fn echo(&self) -> String {
        json::object(self.iter().map(|(name, value)| (name.as_str(), json::string(value))))
    }
}

impl OptionValue for Value {
    fn read(value: &Value, _at: &str) -> Result<Value, Vec<Problem>> {
        Ok(value.clone())
    }

    fn echo(&self) -> String {
        self.to_string()
    }
}

/// The echo of a value that may be unset.
pub(crate) fn echo_or_null<T: OptionValue>(value: &Option<T>) -> String {
    value.as_ref().map_or_else(|| "null".to_owned(), T::echo)
}
