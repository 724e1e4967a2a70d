//! Values of PostgreSQL from their binary form, and parameters as texts whose type the server infers.

use std::error::Error;

use tokio_postgres::types::{Format, FromSql, IsNull, Kind, ToSql, Type, to_sql_checked};

use super::{Value, numeric};

/// Milliseconds from 1970 to 2000, where PostgreSQL's times begin.
const EPOCH_MS: f64 = 946_684_800_000.0;

/// Milliseconds of a day.
const DAY_MS: f64 = 86_400_000.0;

type Failure = Box<dyn Error + Sync + Send>;

/// A value of any type.
pub(super) struct Received(pub(super) Value);

impl<'a> FromSql<'a> for Received {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Received, Failure> {
        value(ty, raw).map(Received)
    }

    fn from_sql_null(_: &Type) -> Result<Received, Failure> {
        Ok(Received(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

fn value(ty: &Type, raw: &[u8]) -> Result<Value, Failure> {
    match ty.kind() {
        Kind::Enum(_) => return text(raw),
        Kind::Domain(base) => return value(base, raw),
        Kind::Array(_) => {
            let members = Vec::<Received>::from_sql(ty, raw)?;
            return Ok(Value::List(members.into_iter().map(|member| member.0).collect()));
        }
        _ => {}
    }
    Ok(match *ty {
        Type::BOOL => Value::Bool(bool::from_sql(ty, raw)?),
        Type::INT2 => Value::Integer(i16::from_sql(ty, raw)?.into()),
        Type::INT4 => Value::Integer(i32::from_sql(ty, raw)?.into()),
        Type::INT8 => Value::Integer(i64::from_sql(ty, raw)?),
        Type::OID => Value::Integer(u32::from_sql(ty, raw)?.into()),
        Type::FLOAT4 => Value::Float(f32::from_sql(ty, raw)?.into()),
        Type::FLOAT8 => Value::Float(f64::from_sql(ty, raw)?),
        Type::NUMERIC => Value::Text(numeric::text(raw).ok_or("invalid numeric")?),
        Type::BYTEA => Value::Bytes(raw.to_vec()),
        Type::JSONB => return text(raw.get(1..).unwrap_or_default()),
        Type::UUID => Value::Text(uuid(raw)),
        Type::DATE => {
            let days = i32::from_be_bytes(raw.try_into()?);
            Value::Time(EPOCH_MS + f64::from(days) * DAY_MS)
        }
        Type::TIMESTAMP | Type::TIMESTAMPTZ => {
            let micros = i64::from_be_bytes(raw.try_into()?);
            Value::Time(EPOCH_MS + micros as f64 / 1e3)
        }
        Type::TIME => Value::Text(time_of_day(i64::from_be_bytes(raw.try_into()?))),
        Type::VOID => Value::Null,
        _ if <&str as FromSql<'_>>::accepts(ty) || is_text(ty) => return text(raw),
        _ => {
            return Err(
                format!("values of type {ty} are not supported; select them as text (column::text)").into()
            );
        }
    })
}

fn is_text(ty: &Type) -> bool {
    matches!(*ty, Type::JSON | Type::XML | Type::CHAR | Type::BPCHAR) || matches!(ty.name(), "citext")
}

fn text(raw: &[u8]) -> Result<Value, Failure> {
    Ok(Value::Text(std::str::from_utf8(raw)?.to_owned()))
}

fn uuid(raw: &[u8]) -> String {
    let mut text = String::with_capacity(36);
    for (index, byte) in raw.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

fn time_of_day(micros: i64) -> String {
    let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if rest == 0 { time } else { format!("{time}.{rest:06}").trim_end_matches('0').to_owned() }
}

/// A parameter, sent as text.
#[derive(Debug)]
pub(super) struct Sent(pub(super) Value);

impl ToSql for Sent {
    fn to_sql(&self, _: &Type, out: &mut bytes::BytesMut) -> Result<IsNull, Failure> {
        let text = match &self.0 {
            Value::Null => return Ok(IsNull::Yes),
            Value::Bool(flag) => flag.to_string(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Text(text) => text.clone(),
            Value::Bytes(bytes) | Value::Octets(bytes) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("\\x{hex}")
            }
            Value::Time(_) | Value::List(_) => {
                return Err("a parameter is a text, number, boolean or bytes".into());
            }
        };
        out.extend_from_slice(text.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_day() {
        assert_eq!(time_of_day(3_723_000_000), "01:02:03");
        assert_eq!(time_of_day(3_723_500_000), "01:02:03.5");
    }
}
