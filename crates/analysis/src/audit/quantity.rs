//! Parsing of cells with their units.

/// The quantity of a column, which decides on the units of its cells and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Words.
    Text,
    /// A plain number.
    Count,
    /// A share, in percent.
    Share,
    /// A length of time; in seconds once read.
    Time,
    /// A frequency; per second once read.
    Rate,
    /// Processors; 250m is a quarter.
    Cores,
    /// A point in time: RFC 3339 with its offset, or seconds since 1970.
    Moment,
    /// Any number; two of them are compared only if their units are of one family.
    Any,
}

/// Units of one family count the same thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// No unit.
    #[default]
    Plain,
    /// Percent.
    Share,
    /// Seconds.
    Time,
    /// Per second.
    Rate,
    /// Processors.
    Cores,
    /// Bytes.
    Bytes,
}

/// A number as read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measure {
    /// In the family's base unit: percent, seconds, per second, processors, bytes.
    pub value: f64,
    /// Half a unit of the last digit that was written: how far the true value may be.
    pub half_digit: f64,
    /// Its unit.
    pub family: Family,
}

/// Units by what they mean. `m` is missing: it is minutes, milli and metres, and only a column can say which.
const UNITS: &[(&str, Family, f64)] = &[
    ("%", Family::Share, 1.0),
    ("pct", Family::Share, 1.0),
    ("percent", Family::Share, 1.0),
    ("ns", Family::Time, 1e-9),
    ("us", Family::Time, 1e-6),
    ("µs", Family::Time, 1e-6),
    ("μs", Family::Time, 1e-6),
    ("ms", Family::Time, 1e-3),
    ("s", Family::Time, 1.0),
    ("sec", Family::Time, 1.0),
    ("min", Family::Time, 60.0),
    ("h", Family::Time, 3600.0),
    ("/s", Family::Rate, 1.0),
    ("per_s", Family::Rate, 1.0),
    ("req/s", Family::Rate, 1.0),
    ("rps", Family::Rate, 1.0),
    ("tps", Family::Rate, 1.0),
    ("/min", Family::Rate, 1.0 / 60.0),
    ("/m", Family::Rate, 1.0 / 60.0),
    ("per_min", Family::Rate, 1.0 / 60.0),
    ("req/m", Family::Rate, 1.0 / 60.0),
    ("req/min", Family::Rate, 1.0 / 60.0),
    ("rpm", Family::Rate, 1.0 / 60.0),
    ("cores", Family::Cores, 1.0),
    ("core", Family::Cores, 1.0),
    ("vcpu", Family::Cores, 1.0),
    ("millicores", Family::Cores, 1e-3),
    ("b", Family::Bytes, 1.0),
    ("kb", Family::Bytes, 1e3),
    ("mb", Family::Bytes, 1e6),
    ("gb", Family::Bytes, 1e9),
    ("tb", Family::Bytes, 1e12),
    ("ki", Family::Bytes, 1024.0),
    ("kib", Family::Bytes, 1024.0),
    ("mi", Family::Bytes, 1048576.0),
    ("mib", Family::Bytes, 1048576.0),
    ("gi", Family::Bytes, 1073741824.0),
    ("gib", Family::Bytes, 1073741824.0),
];

/// Cells that stand for a missing value.
const MISSING: &[&str] = &["", "-", "–", "—", "n/a", "na", "null", "none", "?"];

impl Quantity {
    /// Its name in the description of columns.
    pub const fn as_str(self) -> &'static str {
        match self {
            Quantity::Text => "words",
            Quantity::Count => "number",
            Quantity::Share => "percent",
            Quantity::Time => "time",
            Quantity::Rate => "rate",
            Quantity::Cores => "processors",
            Quantity::Moment => "point in time",
            Quantity::Any => "number with its unit",
        }
    }

    /// The family of the column's numbers; `None` where any will do or there are none.
    const fn family(self) -> Option<Family> {
        match self {
            Quantity::Count => Some(Family::Plain),
            Quantity::Share => Some(Family::Share),
            Quantity::Time => Some(Family::Time),
            Quantity::Rate => Some(Family::Rate),
            Quantity::Cores => Some(Family::Cores),
            Quantity::Text | Quantity::Moment | Quantity::Any => None,
        }
    }

    /// The family and factor of a unit in such a column.
    pub(crate) fn unit(self, unit: &str) -> Option<(Family, f64)> {
        if unit == "m" {
            return match self {
                Quantity::Time => Some((Family::Time, 60.0)),
                Quantity::Cores => Some((Family::Cores, 1e-3)),
                _ => None,
            };
        }
        let unit = unit.to_lowercase();
        let (_, family, scale) = UNITS.iter().find(|known| known.0 == unit)?;
        match self.family() {
            Some(own) if own != *family => None,
            _ if matches!(self, Quantity::Text | Quantity::Moment) => None,
            _ => Some((*family, *scale)),
        }
    }

    /// The unit of bare numbers where neither the cell nor the column's name gives one.
    const fn bare(self) -> Option<(Family, f64)> {
        match self {
            Quantity::Count | Quantity::Any => Some((Family::Plain, 1.0)),
            Quantity::Cores => Some((Family::Cores, 1.0)),
            Quantity::Text | Quantity::Share | Quantity::Time | Quantity::Rate | Quantity::Moment => None,
        }
    }
}

/// Whether a cell says that there is no value.
pub(super) fn is_missing(cell: &str) -> bool {
    MISSING.contains(&cell.trim().to_lowercase().as_str())
}

/// The number of a cell. `column_unit` is the unit in the column's name, for numbers without one.
///
/// `None` where the cell holds no number, a number of the wrong kind, or one without a unit: units are not guessed.
/// Signs of "about" (`~`) and what follows in parentheses are skipped; commas between thousands are read.
pub(super) fn parse(cell: &str, quantity: Quantity, column_unit: Option<(Family, f64)>) -> Option<Measure> {
    let text = cell.trim().trim_start_matches(['~', '≈']).trim_start();
    let text = text.split('(').next().unwrap_or_default().trim_end();
    if let Some(measure) = composite(text, quantity) {
        return Some(measure);
    }
    let (number, unit) = split(text);
    let (value, half_digit) = number_of(number)?;
    let unit = unit.trim();
    let (family, scale) = match unit.is_empty() {
        true => column_unit.or(quantity.bare())?,
        false => quantity.unit(unit)?,
    };
    Some(Measure { value: value * scale, half_digit: half_digit * scale, family })
}

/// `1m51s`, as Go prints durations.
fn composite(text: &str, quantity: Quantity) -> Option<Measure> {
    if !matches!(quantity, Quantity::Time | Quantity::Any) {
        return None;
    }
    let mut rest = text;
    let (mut value, mut half_digit, mut parts) = (0.0, 0.0, 0);
    while !rest.is_empty() {
        let (number, after) = split(rest);
        let unit_end = after.find(|glyph: char| !glyph.is_alphabetic()).unwrap_or(after.len());
        let (_, scale) = Quantity::Time.unit(&after[..unit_end])?;
        let (part, half) = number_of(number)?;
        (value, half_digit, parts) = (value + part * scale, half * scale, parts + 1);
        rest = &after[unit_end..];
    }
    (parts > 1).then_some(Measure { value, half_digit, family: Family::Time })
}

/// The number at the beginning, and what follows.
fn split(text: &str) -> (&str, &str) {
    let is_number = |glyph: char| glyph.is_ascii_digit() || matches!(glyph, '.' | ',' | '+' | '-' | '−');
    let end = text.find(|glyph| !is_number(glyph)).unwrap_or(text.len());
    text.split_at(end)
}

/// A number and half a unit of its last digit.
fn number_of(text: &str) -> Option<(f64, f64)> {
    let plain = text.replace('−', "-");
    let plain = without_thousands(&plain)?;
    let value: f64 = plain.parse().ok()?;
    let decimals = plain.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let half_digit = 0.5 * 10f64.powi(-i32::try_from(decimals).ok()?);
    value.is_finite().then_some((value, half_digit))
}

/// Commas are accepted where they part thousands, and only there: `1,5` may be one and a half.
fn without_thousands(text: &str) -> Option<String> {
    let (whole, _) = text.split_once('.').unwrap_or((text, ""));
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default().trim_start_matches(['+', '-']);
    let mut more = groups.peekable();
    if more.peek().is_none() {
        return Some(text.to_owned());
    }
    let fits = (1..=3).contains(&first.len()) && more.all(|group| group.len() == 3);
    (fits && text.matches(',').count() == whole.matches(',').count()).then(|| text.replace(',', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cell: &str, quantity: Quantity, expect: Option<(f64, f64, Family)>) {
        let found = parse(cell, quantity, None);
        let Some((value, half_digit, family)) = expect else {
            assert_eq!(found, None, "{cell:?} as {quantity:?}");
            return;
        };
        let found = found.unwrap_or_else(|| panic!("{cell:?} as {quantity:?} is a number"));
        assert!((found.value - value).abs() <= 1e-9 * value.abs(), "{cell:?}: {found:?}");
        assert!((found.half_digit - half_digit).abs() <= 1e-9 * half_digit, "{cell:?}: {found:?}");
        assert_eq!(found.family, family, "{cell:?}");
    }

    #[test]
    fn cells_carry_their_units() {
        use Quantity::{Any, Cores, Count, Rate, Share, Time};
        check("83.3s", Time, Some((83.3, 0.05, Family::Time)));
        check("1m51s", Time, Some((111.0, 0.5, Family::Time)));
        check("5.27µs", Time, Some((5.27e-6, 5e-9, Family::Time)));
        check("2m", Time, Some((120.0, 30.0, Family::Time)));
        check("250m", Cores, Some((0.25, 0.0005, Family::Cores)));
        check("1.84", Cores, Some((1.84, 0.005, Family::Cores)));
        check("181,050", Count, Some((181_050.0, 0.5, Family::Plain)));
        check("0.08%(206)", Share, Some((0.08, 0.005, Family::Share)));
        check("−25.29 %", Share, Some((-25.29, 0.005, Family::Share)));
        check("+9%", Share, Some((9.0, 0.5, Family::Share)));
        check("367.9 req/m", Rate, Some((367.9 / 60.0, 0.05 / 60.0, Family::Rate)));
        check("~1.62GB", Any, Some((1.62e9, 5e6, Family::Bytes)));
        check("1Gi", Any, Some((1_073_741_824.0, 536_870_912.0, Family::Bytes)));
    }

    #[test]
    fn what_is_not_said_is_not_guessed() {
        use Quantity::{Any, Count, Rate, Share, Time};
        check("83.3", Time, None);
        check("12", Share, None);
        check("12", Rate, None);
        check("12 ms", Count, None);
        check("2m", Any, None);
        check("1,5", Count, None);
        check("1,234,56", Count, None);
        check("N/A", Count, None);
        check("", Any, None);
        check("1e999", Any, None);
        check(&"9".repeat(400), Count, None);
        assert_eq!(parse("12", Time, Some((Family::Time, 1e-3))).map(|it| it.value), Some(0.012));
        assert!(is_missing(" N/A ") && is_missing("-") && !is_missing("0"));
    }
}
