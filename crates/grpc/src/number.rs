//! Numbers between JSON and protobuf.

use std::io::Write as _;

/// Digits of a number in JSON that are looked at; no number of 64 bits needs as many.
const DIGITS_MAX: usize = 400;

/// The integer that a JSON number is: `12`, `-3`, `1.50e2`; `None` for a fraction and for what is no number.
pub(crate) fn integer(text: &str) -> Option<i128> {
    if !is_number(text) {
        return None;
    }
    if let Ok(plain) = text.parse::<i64>() {
        return Some(plain.into());
    }
    let (is_negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let zeros = exponent.checked_sub(fraction.len() as i64)?;
    let magnitude: i128 = if zeros >= 0 {
        let zeros = u32::try_from(zeros).ok()?;
        digits.parse::<i128>().ok()?.checked_mul(10_i128.checked_pow(zeros)?)?
    } else {
        let dropped = usize::try_from(-zeros).ok()?;
        let (kept, dropped) = digits.split_at_checked(digits.len().checked_sub(dropped)?)?;
        if dropped.bytes().any(|digit| digit != b'0') {
            return None;
        }
        if kept.is_empty() { 0 } else { kept.parse().ok()? }
    };
    Some(if is_negative { -magnitude } else { magnitude })
}

/// The number that a JSON number or one of ProtoJSON's words is.
pub(crate) fn double(text: &str, is_quoted: bool) -> Option<f64> {
    match text {
        "NaN" if is_quoted => Some(f64::NAN),
        "Infinity" if is_quoted => Some(f64::INFINITY),
        "-Infinity" if is_quoted => Some(f64::NEG_INFINITY),
        text if is_number(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

/// The same in 32 bits; `None` where it is beyond them.
pub(crate) fn float(text: &str, is_quoted: bool) -> Option<f32> {
    let wide = double(text, is_quoted)?;
    let narrow = wide as f32;
    (narrow.is_finite() || !wide.is_finite()).then_some(narrow)
}

/// Whether a text is a number by JSON's grammar (RFC 8259, 6).
fn is_number(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest.starts_with('0')) || text.len() > DIGITS_MAX {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let count = digits(exponent);
        return count > 0 && count == exponent.len();
    }
    rest.is_empty()
}

/// Writes a number as JSON; what JSON has no number for as a text.
pub(crate) fn write_double(out: &mut Vec<u8>, number: f64) {
    match number {
        number if number.is_finite() => write(out, format_args!("{number:?}")),
        number => out.extend_from_slice(word_of(number).as_bytes()),
    }
}

/// The same with no more digits than 32 bits need.
pub(crate) fn write_float(out: &mut Vec<u8>, number: f32) {
    match number {
        number if number.is_finite() => write(out, format_args!("{number:?}")),
        number => out.extend_from_slice(word_of(number.into()).as_bytes()),
    }
}

fn word_of(number: f64) -> &'static str {
    match number {
        number if number.is_nan() => "\"NaN\"",
        number if number > 0.0 => "\"Infinity\"",
        _ => "\"-Infinity\"",
    }
}

/// Writes what is formatted.
pub(crate) fn write(out: &mut Vec<u8>, arguments: std::fmt::Arguments<'_>) {
    // Writing to a vector cannot fail.
    let _ = out.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers() {
        let check = |text: &str, expect: Option<i128>| assert_eq!(integer(text), expect, "{text}");
        check("0", Some(0));
        check("-12", Some(-12));
        check("18446744073709551615", Some(u64::MAX.into()));
        check("1.0", Some(1));
        check("1.50e2", Some(150));
        check("1e21", Some(10_i128.pow(21)));
        check("-0.0", Some(0));
        check("100e-2", Some(1));
        check("15e-1", None);
        check("1.5", None);
        check("1e99999", None);
        check("1e99999999999999999999", None);
        check("", None);
        check("+1", None);
        check("01", None);
        check(".5", None);
        check("1.", None);
        check("0x1", None);
        check("NaN", None);
    }

    #[test]
    fn floats() {
        let check = |text: &str, is_quoted, expect: Option<f64>| {
            assert_eq!(double(text, is_quoted), expect, "{text}");
        };
        check("1.5", false, Some(1.5));
        check("-1E3", true, Some(-1000.0));
        check("Infinity", true, Some(f64::INFINITY));
        check("Infinity", false, None);
        check("inf", true, None);
        check("1e999", false, None);
        assert!(double("NaN", true).is_some_and(f64::is_nan));
        assert_eq!(float("3.4e38", false), Some(3.4e38));
        assert_eq!(float("3.5e38", false), None);
    }

    #[test]
    fn written_numbers_are_json() {
        let check = |number: f64, expect: &str| {
            let mut out = Vec::new();
            write_double(&mut out, number);
            assert_eq!(String::from_utf8_lossy(&out), expect);
        };
        check(1.0, "1.0");
        check(0.1, "0.1");
        check(1e300, "1e300");
        check(-5e-324, "-5e-324");
        check(f64::NAN, "\"NaN\"");
        check(f64::NEG_INFINITY, "\"-Infinity\"");
        let mut out = Vec::new();
        write_float(&mut out, 0.1);
        assert_eq!(out, b"0.1");
    }
}
