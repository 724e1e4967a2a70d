//! Times in YAML: the forms that the extension of k6 reads as times. Others are texts.

use serde_json::{Value, json};

/// Digits of a fraction that count; a clock's second has as many nanoseconds.
const FRACTION_DIGITS: u32 = 9;

/// The parts of a time: year, month, day, hour, minute, second, nanosecond, and seconds east of UTC or `null` for UTC. None if
/// the text is no time. The forms are those of `https://yaml.org/type/timestamp.html`, but for a blank before the zone, a zone after
/// a time that a blank separates, and a time with a `T` that has no zone.
pub(super) fn parse(text: &str) -> Option<Value> {
    let mut rest = Rest(text);
    let year = rest.digits(4..=4)?;
    let month = rest.after("-")?.digits(1..=2)?;
    let day = rest.after("-")?.digits(1..=2)?;
    if !(1..=12).contains(&month) || !(1..=days(year, month)).contains(&day) {
        return None;
    }
    if rest.0.is_empty() {
        return Some(json!([year, month, day, 0, 0, 0, 0, null]));
    }
    let has_zone = !rest.0.starts_with(' ');
    rest.0 = rest.0.strip_prefix([' ', 'T', 't'])?;
    let hour = rest.digits(1..=2)?;
    let minute = rest.after(":")?.digits(1..=2)?;
    let second = rest.after(":")?.digits(1..=2)?;
    let nanosecond = rest.fraction()?;
    let zone = if has_zone { rest.zone()? } else { None };
    let is_time = hour < 24 && minute < 60 && second < 60 && rest.0.is_empty();
    is_time.then(|| json!([year, month, day, hour, minute, second, nanosecond, zone]))
}

fn days(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The part of a text that is not read yet.
struct Rest<'a>(&'a str);

impl Rest<'_> {
    fn after(&mut self, start: &str) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(start)?;
        Some(self)
    }

    /// Reads a number of so many digits.
    fn digits(&mut self, count: std::ops::RangeInclusive<usize>) -> Option<i64> {
        let found = self.0.bytes().take(*count.end()).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at(found);
        self.0 = rest;
        digits.parse().ok().filter(|_| count.contains(&found))
    }

    /// Reads a fraction of a second, in nanoseconds; 0 if there is none.
    fn fraction(&mut self) -> Option<i64> {
        if self.after(".").is_none() {
            return Some(0);
        }
        let found = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at(found);
        self.0 = rest;
        let counted = &digits[..found.min(FRACTION_DIGITS as usize)];
        let unit = 10_i64.pow(FRACTION_DIGITS - counted.len() as u32);
        counted.parse::<i64>().ok().map(|number| number * unit)
    }

    /// Reads a zone, in seconds east of UTC.
    fn zone(&mut self) -> Option<Option<i64>> {
        if self.after("Z").is_some() {
            return Some(None);
        }
        let sign = if self.after("+").is_some() { 1 } else { self.after("-").map(|_| -1)? };
        let hours = self.digits(2..=2)?;
        let minutes = self.after(":")?.digits(2..=2)?;
        let is_zone = hours <= 24 && minutes < 60;
        let seconds = sign * (hours * 3600 + minutes * 60);
        is_zone.then(|| Some(seconds).filter(|seconds| *seconds != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(
            parse(text).map_or_else(|| "none".to_owned(), |parts| parts.to_string()),
            expect,
            "{text}"
        );
    }

    #[test]
    fn times_as_the_extension_reads_them() {
        check("2022-08-06", "[2022,8,6,0,0,0,0,null]");
        check("2022-8-6", "[2022,8,6,0,0,0,0,null]");
        check("2022-08-06 10:20:30.5", "[2022,8,6,10,20,30,500000000,null]");
        check("2022-08-06T10:20:30.123456789123Z", "[2022,8,6,10,20,30,123456789,null]");
        check("2022-08-06t1:2:3-08:30", "[2022,8,6,1,2,3,0,-30600]");
        check("2022-08-06T10:20:30+00:00", "[2022,8,6,10,20,30,0,null]");
        check("2024-02-29", "[2024,2,29,0,0,0,0,null]");
        for text in
            ["2022-13-06", "2022-02-30", "2100-02-29", "22-08-06", "2022-08-06 10:20", "2022-08-06T10:20:30"]
        {
            check(text, "none");
        }
        for text in
            ["2022-08-06 10:20:30Z", "2022-08-06 10:20:30 +2", "2022-08-06T24:00:00Z", "2022-08-06x", "", "é"]
        {
            check(text, "none");
        }
        check("2022-08-06T10:20:30.Z", "none");
    }
}
