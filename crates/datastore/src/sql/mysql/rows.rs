//! Columns and rows, in their text and binary forms, and parameters.

use super::packets::{Packet, Reader, malformed, push_counted};
use crate::sql::{SqlError, Value};

/// Types of columns, as the protocol numbers them.
mod types {
    pub(super) const TINY: u8 = 1;
    pub(super) const SHORT: u8 = 2;
    pub(super) const LONG: u8 = 3;
    pub(super) const FLOAT: u8 = 4;
    pub(super) const DOUBLE: u8 = 5;
    pub(super) const NULL: u8 = 6;
    pub(super) const TIMESTAMP: u8 = 7;
    pub(super) const LONGLONG: u8 = 8;
    pub(super) const INT24: u8 = 9;
    pub(super) const DATE: u8 = 10;
    pub(super) const TIME: u8 = 11;
    pub(super) const DATETIME: u8 = 12;
    pub(super) const YEAR: u8 = 13;
    pub(super) const STRING: u8 = 254;
}

/// A column is unsigned.
const UNSIGNED: u16 = 32;

const DAY_MS: f64 = 86_400_000.0;

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowFormat {
    /// Values as texts.
    Text,
    /// Values by their types, of prepared statements.
    Binary,
}

/// A column of a result.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    kind: u8,
    is_unsigned: bool,
    /// Digits of a second's fraction.
    decimals: u8,
}

impl Column {
    pub(super) fn read(packet: &Packet) -> Result<Column, SqlError> {
        packet.check()?;
        let mut reader = packet.reader();
        // Catalogue, schema, table, and the table's own name.
        for _ in 0..4 {
            reader.counted()?;
        }
        let name = String::from_utf8_lossy(reader.counted()?).into_owned();
        reader.counted()?;
        reader.length()?;
        reader.skip(6)?;
        let (kind, flags, decimals) = (reader.u8()?, reader.u16()?, reader.u8()?);
        Ok(Column { name, kind, is_unsigned: flags & UNSIGNED != 0, decimals })
    }

    fn is_time(&self) -> bool {
        matches!(self.kind, types::TIMESTAMP | types::DATE | types::DATETIME)
    }
}

/// The values of a row.
pub(super) fn row(
    payload: &[u8],
    format: RowFormat,
    columns: &[Column],
    parses_times: bool,
) -> Result<Vec<Value>, SqlError> {
    let mut reader = Reader(payload);
    if format == RowFormat::Text {
        return columns.iter().map(|column| text_value(&mut reader, column, parses_times)).collect();
    }
    reader.skip(1)?;
    let nulls = reader.take((columns.len() + 2).div_ceil(8))?;
    let is_null = |index: usize| nulls[(index + 2) / 8] >> ((index + 2) % 8) & 1 == 1;
    let value = |(index, column)| match is_null(index) {
        true => Ok(Value::Null),
        false => binary_value(&mut reader, column, parses_times),
    };
    columns.iter().enumerate().map(value).collect()
}

fn text_value(reader: &mut Reader<'_>, column: &Column, parses_times: bool) -> Result<Value, SqlError> {
    if reader.0.first() == Some(&0xfb) {
        reader.skip(1)?;
        return Ok(Value::Null);
    }
    let bytes = reader.counted()?;
    let text = || std::str::from_utf8(bytes).map_err(|_| malformed());
    Ok(match column.kind {
        types::TINY | types::SHORT | types::LONG | types::LONGLONG | types::INT24 | types::YEAR => {
            match text()?.parse() {
                Ok(number) => Value::Integer(number),
                Err(_) => Value::Float(text()?.parse().map_err(|_| malformed())?),
            }
        }
        types::FLOAT => Value::Float(text()?.parse::<f32>().map_err(|_| malformed())?.into()),
        types::DOUBLE => Value::Float(text()?.parse().map_err(|_| malformed())?),
        _ if column.is_time() && parses_times => moment(text()?).map_or(Value::Null, Value::Time),
        _ => Value::Octets(bytes.to_vec()),
    })
}

fn binary_value(reader: &mut Reader<'_>, column: &Column, parses_times: bool) -> Result<Value, SqlError> {
    let signed = !column.is_unsigned;
    Ok(match column.kind {
        types::NULL => Value::Null,
        types::TINY => Value::Integer(match reader.u8()? {
            byte if signed => i64::from(byte as i8),
            byte => byte.into(),
        }),
        types::SHORT | types::YEAR => Value::Integer(match reader.u16()? {
            number if signed => i64::from(number as i16),
            number => number.into(),
        }),
        types::LONG | types::INT24 => Value::Integer(match reader.u32()? {
            number if signed => i64::from(number as i32),
            number => number.into(),
        }),
        types::LONGLONG => match u64::from_le_bytes(reader.array()?) {
            // k6's driver has no number for these.
            number if !signed && number > i64::MAX as u64 => Value::Octets(number.to_string().into_bytes()),
            number => Value::Integer(number as i64),
        },
        types::FLOAT => Value::Float(f32::from_le_bytes(reader.array()?).into()),
        types::DOUBLE => Value::Float(f64::from_le_bytes(reader.array()?)),
        types::DATE | types::DATETIME | types::TIMESTAMP => {
            let text = date_text(reader.counted()?, column)?;
            match parses_times {
                true => moment(&text).map_or(Value::Null, Value::Time),
                false => Value::Octets(text.into_bytes()),
            }
        }
        types::TIME => Value::Octets(time_text(reader.counted()?, column.decimals)?.into_bytes()),
        _ => Value::Octets(reader.counted()?.to_vec()),
    })
}

/// A date with its time, as the text form writes it.
fn date_text(bytes: &[u8], column: &Column) -> Result<String, SqlError> {
    let mut reader = Reader(bytes);
    let (mut date, mut time, mut micros) = ((0, 0, 0), (0, 0, 0), 0);
    if !reader.0.is_empty() {
        date = (reader.u16()?, reader.u8()?, reader.u8()?);
    }
    if !reader.0.is_empty() {
        time = (reader.u8()?, reader.u8()?, reader.u8()?);
    }
    if !reader.0.is_empty() {
        micros = reader.u32()?;
    }
    let date = format!("{:04}-{:02}-{:02}", date.0, date.1, date.2);
    if column.kind == types::DATE {
        return Ok(date);
    }
    let fraction = fraction(micros, column.decimals);
    Ok(format!("{date} {:02}:{:02}:{:02}{fraction}", time.0, time.1, time.2))
}

fn time_text(bytes: &[u8], decimals: u8) -> Result<String, SqlError> {
    let mut reader = Reader(bytes);
    if reader.0.is_empty() {
        return Ok(format!("00:00:00{}", fraction(0, decimals)));
    }
    let sign = if reader.u8()? == 1 { "-" } else { "" };
    let (days, hours, minutes, seconds) = (reader.u32()?, reader.u8()?, reader.u8()?, reader.u8()?);
    let micros = if reader.0.is_empty() { 0 } else { reader.u32()? };
    let hours = u64::from(days) * 24 + u64::from(hours);
    Ok(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{}", fraction(micros, decimals)))
}

fn fraction(micros: u32, decimals: u8) -> String {
    // 31 means that the number of digits is not fixed.
    let digits = if decimals > 6 { 0 } else { usize::from(decimals) };
    if digits == 0 {
        return String::new();
    }
    format!(".{}", &format!("{micros:06}")[..digits])
}

/// Milliseconds since 1970 (UTC) of a text such as `2024-02-03 04:05:06.5`; none for zero dates.
fn moment(text: &str) -> Option<f64> {
    let (date, time) = text.split_once(' ').unwrap_or((text, "00:00:00"));
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let mut parts = time.split(':').map(|part| part.parse::<f64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
    let shifted = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days =
        era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    Some(days as f64 * DAY_MS + hours * 3_600_000.0 + minutes * 60_000.0 + (seconds * 1e3).round())
}

/// A time as a parameter; midnight is a date alone.
fn moment_text(ms: f64) -> String {
    let days = (ms / DAY_MS).floor();
    let rest = (ms - days * DAY_MS) as u64;
    let shifted = days as i64 + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_shifted = (5 * day_of_year + 2) / 153;
    let month = if month_shifted < 10 { month_shifted + 3 } else { month_shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let date = format!("{year:04}-{month:02}-{:02}", day_of_year - (153 * month_shifted + 2) / 5 + 1);
    if rest == 0 {
        return date;
    }
    let (seconds, millis) = (rest / 1000, rest % 1000);
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if millis == 0 { format!("{date} {time}") } else { format!("{date} {time}.{millis:03}") }
}

/// The argument of `COM_STMT_EXECUTE`.
pub(super) fn execution(statement: u32, parameters: &[Value]) -> Vec<u8> {
    let mut out = statement.to_le_bytes().to_vec();
    // No cursor, one iteration.
    out.extend_from_slice(&[0, 1, 0, 0, 0]);
    let mut nulls = vec![0_u8; parameters.len().div_ceil(8)];
    let mut kinds = Vec::with_capacity(parameters.len() * 2);
    let mut values = Vec::new();
    for (index, parameter) in parameters.iter().enumerate() {
        let kind = match parameter {
            Value::Null => {
                nulls[index / 8] |= 1 << (index % 8);
                types::NULL
            }
            Value::Bool(flag) => {
                values.push(u8::from(*flag));
                types::TINY
            }
            Value::Integer(number) => {
                values.extend_from_slice(&number.to_le_bytes());
                types::LONGLONG
            }
            Value::Float(number) => {
                values.extend_from_slice(&number.to_le_bytes());
                types::DOUBLE
            }
            Value::Text(text) => {
                push_counted(&mut values, text.as_bytes());
                types::STRING
            }
            Value::Bytes(bytes) | Value::Octets(bytes) => {
                push_counted(&mut values, bytes);
                types::STRING
            }
            Value::Time(ms) => {
                push_counted(&mut values, moment_text(*ms).as_bytes());
                types::STRING
            }
            // Scripts' arrays are texts before they come here.
            Value::List(_) => types::NULL,
        };
        kinds.extend_from_slice(&[kind, 0]);
    }
    out.extend_from_slice(&nulls);
    out.push(1);
    out.extend_from_slice(&kinds);
    out.extend_from_slice(&values);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: u8, decimals: u8) -> Column {
        Column { name: "c".to_owned(), kind, is_unsigned: false, decimals }
    }

    #[test]
    fn dates_and_times_as_texts() {
        let date = |bytes: &[u8], kind, decimals| date_text(bytes, &column(kind, decimals)).unwrap();
        assert_eq!(date(&[0xe8, 7, 2, 3], types::DATE, 0), "2024-02-03");
        assert_eq!(date(&[0xe8, 7, 2, 3], types::DATETIME, 0), "2024-02-03 00:00:00");
        let with_time = [0xe8, 7, 2, 3, 4, 5, 6, 0x20, 0xa1, 7, 0];
        assert_eq!(date(&with_time, types::DATETIME, 3), "2024-02-03 04:05:06.500");
        assert_eq!(date(&[], types::DATETIME, 6), "0000-00-00 00:00:00.000000");
        assert_eq!(time_text(&[1, 1, 0, 0, 0, 2, 3, 4], 0).unwrap(), "-26:03:04");
        assert_eq!(time_text(&[], 0).unwrap(), "00:00:00");
    }

    #[test]
    fn moments() {
        for text in ["1970-01-01", "2024-02-29 04:05:06", "1969-12-31 23:59:59.500", "9999-12-31 23:59:59"] {
            assert_eq!(moment_text(moment(text).expect(text)), text);
        }
        assert_eq!(moment("0000-00-00 00:00:00"), None);
        assert_eq!(moment("x"), None);
    }

    #[test]
    fn truncated_rows_are_refused() {
        let columns = [column(types::LONGLONG, 0), column(types::STRING, 0)];
        for (payload, format) in [
            (&[0_u8, 0, 1, 2][..], RowFormat::Binary),
            (&[0][..], RowFormat::Binary),
            (&[1, b'5'][..], RowFormat::Text),
            (&[1, b'x', 0][..], RowFormat::Text),
            (&[0xfe, 255, 255, 255, 255, 255, 255, 255, 255, 1][..], RowFormat::Text),
        ] {
            assert!(matches!(row(payload, format, &columns, false), Err(SqlError::Lost(_))), "{payload:?}");
        }
    }
}
