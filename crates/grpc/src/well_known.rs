//! Types that have a JSON of their own.

use crate::decode::Writer;
use crate::encode::Encoder;
use crate::error::{DecodeError, EncodeError};
use crate::json::{Json, Next};
use crate::raw::{Raw, Reader, put_bytes, put_tag, put_varint};
use crate::schema::{Message, MessageId, Schema};
use crate::time;

/// A message type whose JSON is no object of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WellKnown {
    Any,
    Timestamp,
    Duration,
    FieldMask,
    Struct,
    Value,
    ListValue,
    /// One of `google.protobuf.DoubleValue` and its like.
    Wrapper,
    /// It has no fields, and an `Any` writes it as the others here.
    Empty,
}

impl WellKnown {
    pub(crate) fn named(name: &str) -> Option<WellKnown> {
        Some(match name.strip_prefix("google.protobuf.")? {
            "Any" => WellKnown::Any,
            "Timestamp" => WellKnown::Timestamp,
            "Duration" => WellKnown::Duration,
            "FieldMask" => WellKnown::FieldMask,
            "Struct" => WellKnown::Struct,
            "Value" => WellKnown::Value,
            "ListValue" => WellKnown::ListValue,
            "Empty" => WellKnown::Empty,
            "DoubleValue" | "FloatValue" | "Int64Value" | "UInt64Value" | "Int32Value" | "UInt32Value"
            | "BoolValue" | "StringValue" | "BytesValue" => WellKnown::Wrapper,
            _ => return None,
        })
    }

    /// Writes the JSON of a message of this type.
    pub(crate) fn write(
        self,
        writer: &mut Writer<'_>,
        schema: &Schema,
        message: &Message,
        bytes: &[u8],
    ) -> Result<(), DecodeError> {
        if self == WellKnown::Any {
            return write_any(writer, schema, message, bytes);
        }
        let found = writer.gather(message, bytes)?;
        match self {
            WellKnown::Timestamp | WellKnown::Duration => {
                let seconds = found.varint(message, 1) as i64;
                let nanos = i64::from(found.varint(message, 2) as i32);
                let text = match self {
                    WellKnown::Timestamp => time::write_timestamp(seconds, nanos),
                    _ => time::write_duration(seconds, nanos),
                };
                let text = text.ok_or_else(|| {
                    DecodeError::bytes(format!("proto: {}: seconds out of range {seconds}", message.name))
                })?;
                writer.text(&text);
            }
            WellKnown::FieldMask => {
                let mut paths = Vec::new();
                for path in found.of(message, 1) {
                    let Raw::Bytes(path) = path.raw else { continue };
                    let path = std::str::from_utf8(path).map_err(|_| {
                        DecodeError::bytes(format!(
                            "proto: field {}.paths contains invalid UTF-8",
                            message.name
                        ))
                    })?;
                    let written = camel(path);
                    if path.is_empty() || path.contains(',') || snake(&written).as_deref() != Some(path) {
                        let text =
                            format!("proto: {}.paths contains irreversible value {path:?}", message.name);
                        return Err(DecodeError::bytes(text));
                    }
                    paths.push(written);
                }
                writer.text(&paths.join(","));
            }
            WellKnown::Struct | WellKnown::ListValue | WellKnown::Wrapper => {
                let number = if self == WellKnown::Wrapper { "value" } else { "" };
                let own = message.fields.iter().find(|field| field.number == 1);
                let own = own.ok_or_else(|| {
                    DecodeError::bytes(format!("proto: {} has no field {number}", message.name))
                })?;
                writer.field(schema, own, found.of(message, 1))?;
            }
            WellKnown::Value => {
                for number in 1..=6 {
                    let values = found.of(message, number);
                    if let (false, Some((_, field))) = (values.is_empty(), message.field(number)) {
                        return writer.field(schema, field, values);
                    }
                }
                writer.out.extend_from_slice(b"null");
            }
            WellKnown::Empty | WellKnown::Any => writer.out.extend_from_slice(b"{}"),
        }
        Ok(())
    }

    /// Reads the JSON of a message of this type.
    pub(crate) fn read(
        self,
        encoder: &mut Encoder<'_>,
        schema: &Schema,
        message: &Message,
        json: &mut Json<'_>,
    ) -> Result<(), EncodeError> {
        match self {
            WellKnown::Any => read_any(encoder, schema, json),
            WellKnown::Timestamp | WellKnown::Duration => read_time(self, encoder, message, json),
            WellKnown::FieldMask => {
                let text = expect_text(message, json)?;
                for path in text.split(',').filter(|path| !path.is_empty()) {
                    let path = snake(path).ok_or_else(|| invalid(message, path))?;
                    put_bytes(&mut encoder.out, 1, path.as_bytes());
                }
                Ok(())
            }
            WellKnown::Struct | WellKnown::ListValue | WellKnown::Wrapper => {
                let is_right = match self {
                    WellKnown::Struct => json.peek()? == Next::Object,
                    WellKnown::ListValue => json.peek()? == Next::Array,
                    _ => true,
                };
                match message.field(1).filter(|_| is_right) {
                    Some((_, field)) => encoder.field(schema, field, json),
                    None => Err(invalid(message, json.skip()?)),
                }
            }
            WellKnown::Value => {
                let number = match json.peek()? {
                    Next::Null => 1,
                    Next::Number => 2,
                    Next::Text => 3,
                    Next::True | Next::False => 4,
                    Next::Object => 5,
                    Next::Array => 6,
                };
                match message.field(number) {
                    Some((_, field)) => encoder.field(schema, field, json),
                    None => Err(invalid(message, json.skip()?)),
                }
            }
            WellKnown::Empty => encoder.object(schema, message, json),
        }
    }
}

fn read_time(
    kind: WellKnown,
    encoder: &mut Encoder<'_>,
    message: &Message,
    json: &mut Json<'_>,
) -> Result<(), EncodeError> {
    let text = expect_text(message, json)?;
    let parts = match kind {
        WellKnown::Timestamp => time::read_timestamp(&text),
        _ => time::read_duration(&text),
    };
    let (seconds, nanos) = parts.ok_or_else(|| invalid(message, &text))?;
    for (number, value) in [(1, seconds), (2, nanos)] {
        if value != 0 {
            put_tag(&mut encoder.out, number, 0);
            put_varint(&mut encoder.out, value as u64);
        }
    }
    Ok(())
}

/// The member that names an `Any`'s type.
const TYPE_KEY: &str = "@type";

fn write_any(
    writer: &mut Writer<'_>,
    schema: &Schema,
    message: &Message,
    bytes: &[u8],
) -> Result<(), DecodeError> {
    let found = writer.gather(message, bytes)?;
    let (url, content) = (found.bytes(message, 1), found.bytes(message, 2));
    if url.is_empty() && content.is_empty() {
        writer.out.extend_from_slice(b"{}");
        return Ok(());
    }
    write_any_of(writer, Some(schema), url, content)
}

/// Writes what a serialized `google.protobuf.Any` holds, whether or not a schema declares that type itself.
pub(crate) fn write_loose_any(writer: &mut Writer<'_>, any: &[u8]) -> Result<(), DecodeError> {
    let (mut reader, mut url, mut content) = (Reader::new(any), &[][..], &[][..]);
    while let Some((number, raw)) = reader.next_field()? {
        match (number, raw) {
            (1, Raw::Bytes(bytes)) => url = bytes,
            (2, Raw::Bytes(bytes)) => content = bytes,
            _ => {}
        }
    }
    write_any_of(writer, None, url, content)
}

fn write_any_of(
    writer: &mut Writer<'_>,
    schema: Option<&Schema>,
    url: &[u8],
    content: &[u8],
) -> Result<(), DecodeError> {
    let url = std::str::from_utf8(url).map_err(|_| {
        DecodeError::bytes("proto: field google.protobuf.Any.type_url contains invalid UTF-8")
    })?;
    let types = writer.types;
    let Some((owner, id)) = resolve(schema, types, url) else {
        return Err(DecodeError::bytes(unresolved(url)));
    };
    writer.out.extend_from_slice(b"{\"@type\":");
    writer.text(url);
    if owner.message(id).well_known.is_some() {
        writer.out.extend_from_slice(b",\"value\":");
        writer.message(owner, id, content)?;
    } else {
        // Begins with a comma unless nothing follows.
        let before = writer.out.len();
        writer.message(owner, id, content)?;
        match writer.out.get(before + 1) {
            Some(b'}') => writer.out.truncate(before),
            _ => {
                writer.out[before] = b',';
                writer.out.pop();
            }
        }
    }
    writer.out.push(b'}');
    Ok(())
}

fn read_any(encoder: &mut Encoder<'_>, schema: &Schema, json: &mut Json<'_>) -> Result<(), EncodeError> {
    let mut members = json.clone();
    let whole = json.skip()?;
    if members.peek()? != Next::Object {
        return Err(EncodeError::value(format!("proto: invalid value for google.protobuf.Any: {whole}")));
    }
    members.open();
    let (mut url, mut value, mut is_first) = (None, None, true);
    while members.more(b'}', is_first)? {
        is_first = false;
        let key = members.key()?;
        match &*key {
            TYPE_KEY if members.peek()? == Next::Text => url = Some(members.text()?.into_owned()),
            "value" => {
                value = Some(members.clone());
                members.skip()?;
            }
            _ => drop(members.skip()?),
        }
    }
    let Some(url) = url else {
        let is_empty = whole.bytes().all(|byte| matches!(byte, b'{' | b'}' | b' '));
        let missing = "proto: google.protobuf.Any: missing \"@type\" field";
        return if is_empty { Ok(()) } else { Err(EncodeError::value(missing)) };
    };
    let types = encoder.types;
    let (owner, id) =
        resolve(Some(schema), types, &url).ok_or_else(|| EncodeError::value(unresolved(&url)))?;
    put_bytes(&mut encoder.out, 1, url.as_bytes());
    let content = encoder.apart(|encoder| {
        if owner.message(id).well_known.is_none() {
            return encoder.object_without(
                owner,
                owner.message(id),
                &mut Json::new(whole.as_bytes()),
                TYPE_KEY,
            );
        }
        match value {
            Some(mut value) => encoder.message(owner, id, &mut value),
            None => Err(EncodeError::value("proto: google.protobuf.Any: missing \"value\" field")),
        }
    })?;
    if !content.is_empty() {
        put_bytes(&mut encoder.out, 2, &content);
    }
    Ok(())
}

/// The type that a URL names, in the message's own schema first.
fn resolve<'a>(
    schema: Option<&'a Schema>,
    types: &'a [std::sync::Arc<Schema>],
    url: &str,
) -> Option<(&'a Schema, MessageId)> {
    let name = url.rsplit('/').next().unwrap_or_default();
    let all = schema.into_iter().chain(types.iter().map(|schema| &**schema));
    all.filter_map(|schema| Some((schema, schema.message_named(name)?))).next()
}

fn unresolved(url: &str) -> String {
    format!("proto: google.protobuf.Any: unable to resolve {url:?}: no loaded file declares this type")
}

fn expect_text<'a>(message: &Message, json: &mut Json<'a>) -> Result<std::borrow::Cow<'a, str>, EncodeError> {
    if json.peek()? == Next::Text {
        return json.text();
    }
    Err(invalid(message, json.skip()?))
}

fn invalid(message: &Message, text: &str) -> EncodeError {
    let shown: String = text.chars().take(100).collect();
    EncodeError::value(format!("proto: invalid {} value {shown}", message.name))
}

/// `a_b.c_d` → `aB.cD`
fn camel(path: &str) -> String {
    let (mut text, mut is_upper) = (String::with_capacity(path.len()), false);
    for letter in path.chars() {
        match letter {
            '_' => is_upper = true,
            letter if std::mem::take(&mut is_upper) => text.push(letter.to_ascii_uppercase()),
            letter => text.push(letter),
        }
    }
    text
}

/// `aB.cD` → `a_b.c_d`; `None` for what no path becomes.
fn snake(path: &str) -> Option<String> {
    let mut text = String::with_capacity(path.len() + 4);
    for letter in path.chars() {
        match letter {
            '_' => return None,
            letter if letter.is_ascii_uppercase() => {
                text.push('_');
                text.push(letter.to_ascii_lowercase());
            }
            letter => text.push(letter),
        }
    }
    Some(text)
}

/// The URLs and contents of serialized `Any` messages in a field of a message; for the details of a status.
pub(crate) fn anys_in(bytes: &[u8], number: u32) -> Vec<&[u8]> {
    let (mut reader, mut found) = (Reader::new(bytes), Vec::new());
    while let Ok(Some((known, raw))) = reader.next_field() {
        if let (true, Raw::Bytes(any)) = (known == number, raw) {
            found.push(any);
        }
    }
    found
}
