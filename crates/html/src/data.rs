//! `data-*` attributes as values, as jQuery and k6 read them.

/// The meaning of an attribute's text.
#[derive(Clone, Debug, PartialEq)]
pub enum DataValue<'a> {
    /// Empty, `null` or `undefined`.
    Undefined,
    /// `true` or `false`.
    Bool(bool),
    /// A number that is written the way it is printed; `1e3` and `007` are texts.
    Number(f64),
    /// It begins like an object or an array; whether it is JSON has to be tried.
    Json(&'a str),
    /// Anything else.
    Text(&'a str),
}

/// The value that an attribute's text means.
pub fn data_value(text: &str) -> DataValue<'_> {
    match text {
        "" | "null" | "undefined" => return DataValue::Undefined,
        "true" => return DataValue::Bool(true),
        "false" => return DataValue::Bool(false),
        _ => {}
    }
    if text.starts_with(['{', '[']) {
        return DataValue::Json(text);
    }
    match text.parse::<f64>() {
        Ok(number) if !number.is_infinite() && number.to_string() == text => DataValue::Number(number),
        _ => DataValue::Text(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_mean_values() {
        for (text, expect) in [
            ("42", DataValue::Number(42.0)),
            ("-1.5", DataValue::Number(-1.5)),
            ("1e3", DataValue::Text("1e3")),
            ("007", DataValue::Text("007")),
            ("Infinity", DataValue::Text("Infinity")),
            ("12345678901234567890", DataValue::Text("12345678901234567890")),
            ("true", DataValue::Bool(true)),
            ("TRUE", DataValue::Text("TRUE")),
            ("null", DataValue::Undefined),
            ("", DataValue::Undefined),
            ("{a", DataValue::Json("{a")),
            (" 5 ", DataValue::Text(" 5 ")),
        ] {
            assert_eq!(data_value(text), expect, "{text}");
        }
    }
}
