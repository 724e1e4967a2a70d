//! Numbers of YAML 1.1 that YAML 1.2 has no more, and that the extension of k6 reads: `1_000`, `0x1_F`, and `014`, which is octal.

use serde_json::{Number, Value};

/// The number that a text without quotes means. None if it is none; numbers of YAML 1.2 are not asked for.
pub(super) fn parse(text: &str) -> Option<Value> {
    let plain = text.replace('_', "");
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let is_begun = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.');
    if !is_begun(digits) || !is_begun(text.trim_start_matches(['+', '-'])) {
        return None;
    }
    let is_whole = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let whole = match digits.as_bytes() {
        [b'0', b'x', ..] => i64::from_str_radix(&digits[2..], 16).ok(),
        [b'0', b'o', ..] => i64::from_str_radix(&digits[2..], 8).ok(),
        [b'0', b'b', ..] => i64::from_str_radix(&digits[2..], 2).ok(),
        [b'0', _, ..] => i64::from_str_radix(digits, 8).ok(),
        _ => digits.parse().ok(),
    };
    let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    let fraction = || digits.parse::<f64>().ok().filter(|number| is_decimal && number.is_finite());
    match whole.filter(|_| is_whole) {
        Some(number) => Some(Value::from(sign * number)),
        None => {
            fraction().and_then(|number| Number::from_f64(f64::from(sign as i32) * number)).map(Value::Number)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let shown = parse(text).map_or_else(|| "none".to_owned(), |number| number.to_string());
        assert_eq!(shown, expect, "{text}");
    }

    #[test]
    fn numbers_as_the_extension_reads_them() {
        for (text, number) in [
            ("1_000", "1000"),
            ("-1_000", "-1000"),
            ("1_", "1"),
            ("0x1_F", "31"),
            ("0b1_1", "3"),
            ("0o1_4", "12"),
        ] {
            check(text, number);
        }
        for (text, number) in [
            ("014", "12"),
            ("-014", "-12"),
            ("00", "0"),
            ("089", "89.0"),
            ("1_000.5", "1000.5"),
            ("1_e3", "1000.0"),
        ] {
            check(text, number);
        }
        for text in ["_1", "1_000_x", "x", "", "-", "1:30", "0x", "1e", "é", "0-1", "0x-1", "--1", "- 1"] {
            check(text, "none");
        }
    }
}
