//! Moments in the proleptic Gregorian calendar, and layouts as Go has them: `2006-01-02 15:04:05`.

/// Names of the months.
pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Names of the days, from Sunday.
pub(crate) const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const SECONDS_PER_DAY: i64 = 86_400;

/// A moment in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    unix_s: i64,
    nanosecond: i64,
}

impl Moment {
    pub(crate) fn at(unix_s: i64, nanosecond: i64) -> Moment {
        Moment { unix_s, nanosecond }
    }

    /// Days after a month's end are those of the next.
    pub(crate) fn new(
        (year, month, day): (i64, i64, i64),
        (hour, minute, second): (i64, i64, i64),
        nanosecond: i64,
    ) -> Moment {
        let days = days_of(year, month, 1) + day - 1;
        Moment { unix_s: days * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second, nanosecond }
    }

    pub(crate) fn year(self) -> i64 {
        self.date().0
    }

    /// Nanoseconds since 1970, as far as they fit.
    pub(crate) fn unix_ns(self) -> i64 {
        self.unix_s.saturating_mul(1_000_000_000).saturating_add(self.nanosecond)
    }

    /// Year, month and day.
    fn date(self) -> (i64, i64, i64) {
        // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
        let days = self.unix_s.div_euclid(SECONDS_PER_DAY) + 719_468;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * day_of_year + 2) / 153;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
    }

    /// The moment as a layout shows it.
    pub(crate) fn layout(self, layout: &str) -> String {
        let (year, month, day) = self.date();
        let seconds = self.unix_s.rem_euclid(SECONDS_PER_DAY);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let (month_name, weekday) = (
            MONTHS[month as usize - 1],
            WEEKDAYS[(self.unix_s.div_euclid(SECONDS_PER_DAY) + 4).rem_euclid(7) as usize],
        );
        let half = if hour % 12 == 0 { 12 } else { hour % 12 };
        let mut out = String::new();
        for piece in pieces(layout) {
            let shown = match piece {
                Piece::Letter(letter) => {
                    out.push(letter);
                    continue;
                }
                Piece::Part("2006") => format!("{year:04}"),
                Piece::Part("06") => format!("{:02}", year.rem_euclid(100)),
                Piece::Part("January") => month_name.to_owned(),
                Piece::Part("Jan") => month_name[..3].to_owned(),
                Piece::Part("01") => format!("{month:02}"),
                Piece::Part("1") => month.to_string(),
                Piece::Part("Monday") => weekday.to_owned(),
                Piece::Part("Mon") => weekday[..3].to_owned(),
                Piece::Part("02") => format!("{day:02}"),
                Piece::Part("_2") => format!("{day:2}"),
                Piece::Part("2") => day.to_string(),
                Piece::Part("15") => format!("{hour:02}"),
                Piece::Part("03") => format!("{half:02}"),
                Piece::Part("3") => half.to_string(),
                Piece::Part("04") => format!("{minute:02}"),
                Piece::Part("4") => minute.to_string(),
                Piece::Part("05") => format!("{second:02}"),
                Piece::Part("5") => second.to_string(),
                Piece::Part("PM") => if hour < 12 { "AM" } else { "PM" }.to_owned(),
                Piece::Part("pm") => if hour < 12 { "am" } else { "pm" }.to_owned(),
                Piece::Part("MST") => "UTC".to_owned(),
                Piece::Part("Z07:00" | "Z0700") => "Z".to_owned(),
                Piece::Part("-07:00") => "+00:00".to_owned(),
                Piece::Part("-0700") => "+0000".to_owned(),
                Piece::Part(".999999999") => {
                    let fraction = format!(".{:09}", self.nanosecond);
                    fraction.trim_end_matches('0').trim_end_matches('.').to_owned()
                }
                Piece::Part(_) => "+00".to_owned(),
            };
            out.push_str(&shown);
        }
        out
    }

    /// The moment that a text means by a layout of numbers; `None` where it has none.
    pub(crate) fn parse(text: &str, layout: &str) -> Option<Moment> {
        let (mut date, mut time) = ((1970, 1, 1), (0, 0, 0));
        let mut rest = text;
        for piece in pieces(layout) {
            let part = match piece {
                Piece::Letter(letter) => {
                    rest = rest.strip_prefix(letter)?;
                    continue;
                }
                Piece::Part(part) => part,
            };
            let digits = rest.bytes().take(if part == "2006" { 4 } else { 2 });
            let digits = digits.take_while(u8::is_ascii_digit).count();
            let (number, after) = rest.split_at(digits);
            let named = |names: &[&str]| {
                let index =
                    names.iter().position(|name| rest.starts_with(name) || rest.starts_with(&name[..3]))?;
                let length = if rest.starts_with(names[index]) { names[index].len() } else { 3 };
                Some((index as i64, &rest[length..]))
            };
            match part {
                "January" | "Jan" => {
                    let (index, after) = named(&MONTHS)?;
                    date.1 = index + 1;
                    rest = after;
                    continue;
                }
                "Monday" | "Mon" => {
                    rest = named(&WEEKDAYS)?.1;
                    continue;
                }
                "Z07:00" | "Z0700" => {
                    rest = rest.strip_prefix('Z')?;
                    continue;
                }
                "2006" => date.0 = number.parse().ok()?,
                "06" => {
                    let year: i64 = number.parse().ok()?;
                    date.0 = if year >= 69 { 1900 + year } else { 2000 + year };
                }
                "01" | "1" => date.1 = number.parse().ok()?,
                "02" | "_2" | "2" => date.2 = number.parse().ok()?,
                "15" | "03" | "3" => time.0 = number.parse().ok()?,
                "04" | "4" => time.1 = number.parse().ok()?,
                "05" | "5" => time.2 = number.parse().ok()?,
                _ => return None,
            }
            rest = after;
        }
        let is_date = (1..=12).contains(&date.1) && (1..=31).contains(&date.2);
        let is_time = time.0 < 24 && time.1 < 60 && time.2 < 60;
        (rest.is_empty() && is_date && is_time).then(|| Moment::new(date, time, 0))
    }
}

/// Days from 1970-01-01 to a date.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    // As above, days_from_civil.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// A piece of a layout.
enum Piece {
    /// A part of the moment.
    Part(&'static str),
    /// A letter that means itself.
    Letter(char),
}

/// Parts of layouts; one that begins with another comes first.
const PARTS: &[&str] = &[
    "2006",
    "06",
    "January",
    "Jan",
    "Monday",
    "Mon",
    "MST",
    "01",
    "02",
    "03",
    "04",
    "05",
    "15",
    "1",
    "_2",
    "2",
    "3",
    "4",
    "5",
    "PM",
    "pm",
    "Z07:00",
    "Z0700",
    "-07:00",
    "-0700",
    "-07",
    ".999999999",
];

fn pieces(layout: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = layout;
    while let Some(letter) = rest.chars().next() {
        match PARTS.iter().find(|part| rest.starts_with(**part)) {
            Some(part) => {
                pieces.push(Piece::Part(part));
                rest = &rest[part.len()..];
            }
            None => {
                pieces.push(Piece::Letter(letter));
                rest = &rest[letter.len_utf8()..];
            }
        }
    }
    pieces
}

/// The layout of a format in Java's letters, such as `yyyy-MM-dd`. A layout stays as it is.
pub(crate) fn layout_of_java(format: &str) -> String {
    const LETTERS: &[(&str, &str)] = &[
        ("ddd", "_2"),
        ("dd", "02"),
        ("d", "2"),
        ("HH", "15"),
        ("hh", "03"),
        ("h", "3"),
        ("mm", "04"),
        ("m", "4"),
        ("ss", "05"),
        ("s", "5"),
        ("yyyy", "2006"),
        ("yy", "06"),
        ("y", "06"),
        ("SSS", "000"),
        ("a", "pm"),
        ("MMMM", "January"),
        ("MMM", "Jan"),
        ("MM", "01"),
        ("M", "1"),
        ("ZZ", "-0700"),
        ("zz:zz", "Z07:00"),
        ("zzzz", "Z0700"),
        ("z", "MST"),
        ("EEEE", "Monday"),
        ("E", "Mon"),
    ];
    let mut layout = String::new();
    let mut rest = format;
    while let Some(letter) = rest.chars().next() {
        // A layout's own words have letters that would be replaced.
        let word = ["January", "Jan", "Monday", "Mon", "MST", "PM", "pm"]
            .iter()
            .find(|word| rest.starts_with(**word));
        let (taken, shown) = match (word, LETTERS.iter().find(|(java, _)| rest.starts_with(java))) {
            (Some(word), _) => (word.len(), *word),
            (None, Some((java, part))) => (java.len(), *part),
            (None, None) => (letter.len_utf8(), &rest[..letter.len_utf8()]),
        };
        layout.push_str(shown);
        rest = &rest[taken..];
    }
    layout
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(moment: Moment, format: &str, expect: &str) {
        assert_eq!(moment.layout(&layout_of_java(format)), expect, "{format}");
    }

    #[test]
    fn layouts() {
        let moment = Moment::new((2024, 2, 29), (15, 4, 5), 120_000_000);
        check(moment, "yyyy-MM-dd", "2024-02-29");
        check(moment, "EEEE, MMMM d, yy HH:mm:ss a", "Thursday, February 29, 24 15:04:05 pm");
        check(moment, "hh:mm PM", "03:04 PM");
        check(moment, "2006-01-02T15:04:05Z07:00", "2024-02-29T15:04:05Z");
        check(moment, "Jan _2 06 3:4:5 MST -0700", "Feb 29 24 3:4:5 UTC +0000");
        assert_eq!(moment.layout("15:04:05.999999999"), "15:04:05.12");
        check(Moment::new((1900, 2, 31), (0, 0, 0), 0), "yyyy-M-d E h", "1900-3-3 Sat 12");
    }

    #[test]
    fn texts_are_read_by_their_layout() {
        let moment = |text, format| Moment::parse(text, &layout_of_java(format));
        assert_eq!(moment("1970-01-02", "yyyy-MM-dd"), Some(Moment::at(86_400, 0)));
        assert_eq!(moment("Thu, 01 Jan 1970 00:01:00", "Mon, dd MMM yyyy HH:mm:ss"), Some(Moment::at(60, 0)));
        for bad in ["1970-01-02x", "1970-13-01", "", "1970-01-0x", "é"] {
            assert_eq!(moment(bad, "yyyy-MM-dd"), None, "{bad}");
        }
    }

    #[test]
    fn dates_and_days_agree() {
        for unix_s in (-4_000_000_000..8_000_000_000_i64).step_by(98_765_431) {
            let (year, month, day) = Moment::at(unix_s, 0).date();
            assert_eq!(days_of(year, month, day), unix_s.div_euclid(SECONDS_PER_DAY));
        }
    }
}
