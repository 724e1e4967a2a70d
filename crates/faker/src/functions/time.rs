//! Dates, times and their parts.

use super::{Function, Parameter, given, number, optional, pick, text};
use crate::FakerError;
use crate::dates::{Moment, layout_of_java};
use crate::lists::pick as draw_from;
use crate::parameters::Given;
use crate::random::Draw;
use crate::value::Value;

const FORMAT: &[Parameter] = &[optional("format", "RFC3339")];
/// The default end is today.
const RANGE: &[Parameter] =
    &[optional("startdate", "1970-01-01"), optional("enddate", ""), optional("format", "yyyy-MM-dd")];

/// Names of formats, and their layouts.
const LAYOUTS: &[(&str, &str)] = &[
    ("", "2006-01-02T15:04:05Z07:00"),
    ("ANSIC", "Mon Jan _2 15:04:05 2006"),
    ("RFC1123", "Mon, 02 Jan 2006 15:04:05 MST"),
    ("RFC1123Z", "Mon, 02 Jan 2006 15:04:05 -0700"),
    ("RFC3339", "2006-01-02T15:04:05Z07:00"),
    ("RFC3339Nano", "2006-01-02T15:04:05.999999999Z07:00"),
    ("RFC822", "02 Jan 06 15:04 MST"),
    ("RFC822Z", "02 Jan 06 15:04 -0700"),
    ("RFC850", "Monday, 02-Jan-06 15:04:05 MST"),
    ("RubyDate", "Mon Jan 02 15:04:05 -0700 2006"),
    ("UnixDate", "Mon Jan _2 15:04:05 MST 2006"),
];

const SECONDS_PER_HOUR: i64 = 3600;

pub(super) const FUNCTIONS: &[Function] = &[
    pick("timezone", "timezone.text"),
    pick("timezoneAbbreviation", "timezone.abr"),
    pick("timezoneFull", "timezone.full"),
    pick("timezoneRegion", "timezone.region"),
    given("date", FORMAT, |draw, given| {
        let format = given.text(0)?;
        let known = LAYOUTS.iter().find(|(name, _)| *name == format);
        let layout = known.map_or_else(|| layout_of_java(&format), |(_, layout)| (*layout).to_owned());
        Ok(moment(draw).layout(&layout).into())
    }),
    given("dateRange", RANGE, date_range),
    number("day", |draw| draw.between(1, 31) as f64),
    text("futureTime", |draw| hours_from_now(draw, 1)),
    number("hour", |draw| draw.between(0, 23) as f64),
    number("minute", |draw| draw.between(0, 59) as f64),
    number("month", |draw| draw.between(1, 12) as f64),
    text("monthString", |draw| crate::dates::MONTHS[draw.between(0, 11) as usize].to_owned()),
    number("nanosecond", |draw| draw.between(0, 999_999_999) as f64),
    text("pastTime", |draw| hours_from_now(draw, -1)),
    number("second", |draw| draw.between(0, 59) as f64),
    number("timezoneOffset", |draw| draw_from(draw, "timezone.offset").parse().unwrap_or_default()),
    text("weekday", |draw| crate::dates::WEEKDAYS[draw.between(0, 6) as usize].to_owned()),
    number("year", |draw| year(draw) as f64),
];

/// The year of the call.
pub(super) fn current_year(draw: &Draw) -> i64 {
    Moment::at(draw.now_unix_s, 0).year()
}

/// A year since 1900.
pub(super) fn year(draw: &mut Draw) -> i64 {
    let now = current_year(draw);
    draw.between(1900, now)
}

/// A moment since 1900.
pub(super) fn moment(draw: &mut Draw) -> Moment {
    let (year, month, day) = (year(draw), draw.between(1, 12), draw.between(1, 31));
    let (hour, minute, second) = (draw.between(0, 23), draw.between(0, 59), draw.between(0, 59));
    let nanosecond = draw.between(0, 999_999_999);
    Moment::new((year, month, day), (hour, minute, second), nanosecond)
}

/// One to twelve hours before or after the call.
fn hours_from_now(draw: &mut Draw, sign: i64) -> String {
    let hours = draw.between(1, 12);
    Moment::at(draw.now_unix_s + sign * hours * SECONDS_PER_HOUR, 0).layout("2006-01-02 15:04:05 -0700 MST")
}

fn date_range(draw: &mut Draw, given: &Given<'_>) -> Result<Value, FakerError> {
    let layout = layout_of_java(&given.text(2)?);
    let read = |text: &str| {
        let invalid =
            || FakerError::Argument(format!("parsing time {text:?} as {layout:?}: cannot parse it"));
        Moment::parse(text, &layout).ok_or_else(invalid)
    };
    let (start, end) = (given.text(0)?, given.text(1)?);
    let start = read(&start)?;
    let end = if end.is_empty() { Moment::at(draw.now_unix_s, 0) } else { read(&end)? };
    let drawn = draw.between(start.unix_ns(), end.unix_ns());
    Ok(Moment::at(drawn.div_euclid(1_000_000_000), drawn.rem_euclid(1_000_000_000)).layout(&layout).into())
}
