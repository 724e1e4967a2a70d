//! From protobuf to JSON (ProtoJSON, with unset fields written as k6 has them).

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::Pause;
use crate::error::DecodeError;
use crate::limits::{JSON_BYTES_MAX, MESSAGE_DEPTH_MAX, STEPS_PER_PAUSE};
use crate::number::{write, write_double, write_float};
use crate::raw::{Packed, Raw, Reader, unzigzag};
use crate::schema::{Field, Kind, Message, MessageId, Schema, Shape, WhenUnset};
use crate::well_known::write_loose_any;

impl Schema {
    /// The JSON of a message. `types` are searched for what an `Any` holds, besides this schema.
    ///
    /// Unset fields are written as zero, `null`, `[]` or `{}`; those of a oneof and `optional` ones are left out.
    ///
    /// # Errors
    /// The bytes are no such message or lack a required field, or the JSON is longer than [`JSON_BYTES_MAX`], or `pause` ended it.
    pub fn decode(
        &self,
        types: &[Arc<Schema>],
        message: MessageId,
        bytes: &[u8],
        pause: Pause<'_>,
    ) -> Result<Vec<u8>, DecodeError> {
        let out = Vec::with_capacity(bytes.len() * 2 + 64);
        let mut writer = Writer { out, types, depth: 0, steps: 0, pause };
        writer.message(self, message, bytes)?;
        Ok(writer.out)
    }
}

/// The JSON of a serialized `google.protobuf.Any` whose type one of `types` declares.
///
/// # Errors
/// As [`Schema::decode`].
pub fn decode_any(types: &[Arc<Schema>], any: &[u8], pause: Pause<'_>) -> Result<Vec<u8>, DecodeError> {
    let mut writer = Writer { out: Vec::new(), types, depth: 0, steps: 0, pause };
    write_loose_any(&mut writer, any)?;
    Ok(writer.out)
}

pub(crate) struct Writer<'a> {
    pub(crate) out: Vec<u8>,
    pub(crate) types: &'a [Arc<Schema>],
    depth: u32,
    steps: u32,
    pause: Pause<'a>,
}

/// One value of one field.
#[derive(Clone, Copy)]
pub(crate) struct Occurrence<'a> {
    field: u16,
    /// Its place among all of its message.
    place: u32,
    pub(crate) raw: Raw<'a>,
}

/// All values of a message, those of a field together.
pub(crate) struct Found<'a> {
    values: Vec<Occurrence<'a>>,
    /// The member that each oneof has, and since which place.
    oneofs: Vec<Option<(u16, u32)>>,
}

impl<'a> Found<'a> {
    /// The values of the field at `index` that still count; removes them from `rest`, which begins with them.
    fn split<'v>(&self, index: u16, field: &Field, rest: &mut &'v [Occurrence<'a>]) -> &'v [Occurrence<'a>] {
        let (own, after) = rest.split_at(rest.partition_point(|value| value.field <= index));
        *rest = after;
        let Some(oneof) = field.oneof else { return own };
        match self.oneofs.get(usize::from(oneof)) {
            Some(Some((member, since))) if *member == index => {
                &own[own.partition_point(|value| value.place < *since)..]
            }
            _ => &[],
        }
    }

    /// The values of the field with that number.
    pub(crate) fn of(&self, message: &Message, number: u32) -> &[Occurrence<'a>] {
        let Some((index, field)) = message.field(number) else { return &[] };
        let mut rest = &self.values[self.values.partition_point(|value| value.field < index)..];
        self.split(index, field, &mut rest)
    }

    /// The last varint of the field with that number; 0 where there is none.
    pub(crate) fn varint(&self, message: &Message, number: u32) -> u64 {
        match self.of(message, number).last().map(|value| value.raw) {
            Some(Raw::Varint(value)) => value,
            _ => 0,
        }
    }

    /// The last bytes of the field with that number; none where there are none.
    pub(crate) fn bytes(&self, message: &Message, number: u32) -> &'a [u8] {
        match self.of(message, number).last().map(|value| value.raw) {
            Some(Raw::Bytes(bytes)) => bytes,
            _ => &[],
        }
    }
}

impl Writer<'_> {
    /// Writes a message.
    pub(crate) fn message(
        &mut self,
        schema: &Schema,
        id: MessageId,
        bytes: &[u8],
    ) -> Result<(), DecodeError> {
        if self.depth >= MESSAGE_DEPTH_MAX {
            return Err(DecodeError::bytes("proto: exceeded maximum recursion depth"));
        }
        self.depth += 1;
        let message = schema.message(id);
        match message.well_known {
            Some(kind) => kind.write(self, schema, message, bytes)?,
            None => {
                self.out.push(b'{');
                self.fields(schema, message, bytes, true)?;
                self.out.push(b'}');
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Writes the members of a message's object.
    pub(crate) fn fields(
        &mut self,
        schema: &Schema,
        message: &Message,
        bytes: &[u8],
        mut is_first: bool,
    ) -> Result<(), DecodeError> {
        let found = self.gather(message, bytes)?;
        let mut rest = &found.values[..];
        for (field, index) in message.fields.iter().zip(0_u16..) {
            let own = found.split(index, field, &mut rest);
            if own.is_empty() && message.required.contains(&index) {
                return Err(DecodeError::bytes(format!("proto: required field {} not set", field.full_name)));
            }
            if own.is_empty() && field.when_unset == WhenUnset::Absent {
                continue;
            }
            self.step()?;
            if !std::mem::take(&mut is_first) {
                self.out.push(b',');
            }
            self.text(&field.json_name);
            self.out.push(b':');
            self.field(schema, field, own)?;
        }
        Ok(())
    }

    /// Reads all values of a message.
    pub(crate) fn gather<'b>(
        &mut self,
        message: &Message,
        bytes: &'b [u8],
    ) -> Result<Found<'b>, DecodeError> {
        let mut found = Found { values: Vec::new(), oneofs: Vec::new() };
        if message.oneof_count > 0 {
            found.oneofs.resize(message.oneof_count.into(), None);
        }
        let (mut reader, mut place, mut is_sorted) = (Reader::new(bytes), 0, true);
        while let Some((number, raw)) = reader.next_field()? {
            self.step()?;
            // As everywhere in protobuf, what is not known or written in another way is skipped.
            let Some((index, field)) = message.field(number).filter(|(_, field)| fits(field, raw)) else {
                continue;
            };
            if let Some(oneof) = field.oneof {
                let member = &mut found.oneofs[usize::from(oneof)];
                if member.is_none_or(|(known, _)| known != index) {
                    *member = Some((index, place));
                }
            }
            is_sorted &= found.values.last().is_none_or(|last| last.field <= index);
            found.values.push(Occurrence { field: index, place, raw });
            place += 1;
        }
        if !is_sorted {
            found.values.sort_unstable_by_key(|value| (value.field, value.place));
        }
        Ok(found)
    }

    /// Writes a field's value.
    pub(crate) fn field(
        &mut self,
        schema: &Schema,
        field: &Field,
        values: &[Occurrence<'_>],
    ) -> Result<(), DecodeError> {
        match field.shape {
            Shape::List => self.list(schema, field, values),
            Shape::Map => self.map(schema, field, values),
            Shape::Single => match values {
                [] if field.when_unset == WhenUnset::Null => {
                    self.out.extend_from_slice(b"null");
                    Ok(())
                }
                [] => self.zero(schema, field.kind),
                [.., last] => match field.kind {
                    // The parts of a message are one message (Protocol Buffers, "Last One Wins").
                    Kind::Message(id) | Kind::Group(id) if values.len() > 1 => {
                        self.message(schema, id, &joined(values))
                    }
                    kind => self.value(schema, kind, last.raw, field),
                },
            },
        }
    }

    fn list(&mut self, schema: &Schema, field: &Field, values: &[Occurrence<'_>]) -> Result<(), DecodeError> {
        self.out.push(b'[');
        let mut is_first = true;
        for occurrence in values {
            match (occurrence.raw, field.kind.packed()) {
                (Raw::Bytes(bytes), Some(like)) => {
                    let mut reader = Reader::new(bytes);
                    while let Some(raw) = reader.next_packed(like)? {
                        self.element(schema, field, raw, &mut is_first)?;
                    }
                }
                (raw, _) => self.element(schema, field, raw, &mut is_first)?,
            }
        }
        self.out.push(b']');
        Ok(())
    }

    fn element(
        &mut self,
        schema: &Schema,
        field: &Field,
        raw: Raw<'_>,
        is_first: &mut bool,
    ) -> Result<(), DecodeError> {
        self.step()?;
        if !std::mem::take(is_first) {
            self.out.push(b',');
        }
        self.value(schema, field.kind, raw, field)
    }

    /// Writes a map in the order of its keys; of several entries with one key the last counts.
    fn map(&mut self, schema: &Schema, field: &Field, values: &[Occurrence<'_>]) -> Result<(), DecodeError> {
        let Kind::Message(id) = field.kind else {
            return Err(DecodeError::bytes(format!("proto: {} is no map", field.full_name)));
        };
        let entry = schema.message(id);
        let (Some((_, key)), Some((_, value))) = (entry.field(1), entry.field(2)) else {
            return Err(DecodeError::bytes(format!("proto: {} is no map", field.full_name)));
        };
        let mut entries = Vec::with_capacity(values.len());
        for occurrence in values {
            let Raw::Bytes(bytes) = occurrence.raw else { continue };
            let found = self.gather(entry, bytes)?;
            let raw = found.of(entry, 1).last().map(|found| found.raw);
            entries.push((self.key(key, raw)?, found));
        }
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        self.out.push(b'{');
        let mut is_first = true;
        for (index, (name, found)) in entries.iter().enumerate() {
            if entries.get(index + 1).is_some_and(|(next, _)| next == name) {
                continue;
            }
            self.step()?;
            if !std::mem::take(&mut is_first) {
                self.out.push(b',');
            }
            self.text(&name.text());
            self.out.push(b':');
            match (found.of(entry, 2), value.kind) {
                ([], Kind::Message(inner)) => self.message(schema, inner, &[])?,
                ([], kind) => self.zero(schema, kind)?,
                (values, _) => self.field(schema, value, values)?,
            }
        }
        self.out.push(b'}');
        Ok(())
    }

    fn key(&self, field: &Field, raw: Option<Raw<'_>>) -> Result<Key, DecodeError> {
        let raw = raw.unwrap_or(match field.kind.packed() {
            Some(Packed::Varint) => Raw::Varint(0),
            Some(Packed::Fixed32) => Raw::Fixed32(0),
            Some(Packed::Fixed64) => Raw::Fixed64(0),
            None => Raw::Bytes(&[]),
        });
        Ok(match (field.kind, raw) {
            (Kind::String, Raw::Bytes(bytes)) => Key::Text(utf8(field, bytes)?.into()),
            (Kind::Bool, Raw::Varint(value)) => Key::Bool(value != 0),
            (kind, raw) => Key::Number(integer(kind, raw)),
        })
    }

    fn value(&mut self, schema: &Schema, kind: Kind, raw: Raw<'_>, field: &Field) -> Result<(), DecodeError> {
        match (kind, raw) {
            (Kind::Double, Raw::Fixed64(bits)) => write_double(&mut self.out, f64::from_bits(bits)),
            (Kind::Float, Raw::Fixed32(bits)) => write_float(&mut self.out, f32::from_bits(bits)),
            (Kind::Bool, Raw::Varint(value)) => {
                self.out.extend_from_slice(if value != 0 { b"true" } else { b"false" });
            }
            (Kind::String, Raw::Bytes(bytes)) => self.text(utf8(field, bytes)?),
            (Kind::Bytes, Raw::Bytes(bytes)) => self.base64(bytes),
            (Kind::Message(id), Raw::Bytes(bytes)) | (Kind::Group(id), Raw::Group(bytes)) => {
                self.message(schema, id, bytes)?;
            }
            (Kind::Enum(id), Raw::Varint(number)) => {
                let declared = schema.enumeration(id);
                // Negative ones are written in 64 bits.
                let number = number as i32;
                match declared.name_of(number) {
                    _ if declared.is_null_value => self.out.extend_from_slice(b"null"),
                    Some(name) => self.text(name),
                    None => write(&mut self.out, format_args!("{number}")),
                }
            }
            (Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 | Kind::Uint64 | Kind::Fixed64, raw) => {
                write(&mut self.out, format_args!("\"{}\"", integer(kind, raw)));
            }
            (kind, raw) => write(&mut self.out, format_args!("{}", integer(kind, raw))),
        }
        Ok(())
    }

    fn zero(&mut self, schema: &Schema, kind: Kind) -> Result<(), DecodeError> {
        match kind {
            Kind::Message(id) | Kind::Group(id) => return self.message(schema, id, &[]),
            Kind::String | Kind::Bytes => self.out.extend_from_slice(b"\"\""),
            Kind::Bool => self.out.extend_from_slice(b"false"),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 | Kind::Uint64 | Kind::Fixed64 => {
                self.out.extend_from_slice(b"\"0\"");
            }
            Kind::Enum(id) => {
                let declared = schema.enumeration(id);
                match declared.name_of(declared.zero) {
                    _ if declared.is_null_value => self.out.extend_from_slice(b"null"),
                    Some(name) => self.text(name),
                    None => self.out.push(b'0'),
                }
            }
            _ => self.out.push(b'0'),
        }
        Ok(())
    }

    /// Writes a text in quotes.
    pub(crate) fn text(&mut self, text: &str) {
        // Writing to a vector cannot fail.
        let _ = serde_json::to_writer(&mut self.out, text);
    }

    fn base64(&mut self, bytes: &[u8]) {
        self.out.push(b'"');
        let start = self.out.len();
        self.out.resize(start + bytes.len().div_ceil(3) * 4, 0);
        // The place is exactly as long as the text.
        let _ = STANDARD.encode_slice(bytes, &mut self.out[start..]);
        self.out.push(b'"');
    }

    /// Counts one piece of work, and gives way now and then.
    fn step(&mut self) -> Result<(), DecodeError> {
        self.steps += 1;
        if self.steps < STEPS_PER_PAUSE {
            return Ok(());
        }
        self.steps = 0;
        if self.out.len() > JSON_BYTES_MAX {
            let text = format!(
                "the message is larger than {JSON_BYTES_MAX} bytes as JSON; discard it, or ask for less"
            );
            return Err(DecodeError::bytes(text));
        }
        if (self.pause)() { Ok(()) } else { Err(DecodeError::Interrupted) }
    }
}

/// A map's key, in the order that maps are written in.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Bool(bool),
    Number(i128),
    Text(Box<str>),
}

impl Key {
    fn text(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Key::Bool(value) => value.to_string().into(),
            Key::Number(number) => number.to_string().into(),
            Key::Text(text) => (&**text).into(),
        }
    }
}

/// Whether a value is written as the field's type is.
fn fits(field: &Field, raw: Raw<'_>) -> bool {
    let like = field.kind.packed();
    match raw {
        Raw::Varint(_) => like == Some(Packed::Varint),
        Raw::Fixed32(_) => like == Some(Packed::Fixed32),
        Raw::Fixed64(_) => like == Some(Packed::Fixed64),
        Raw::Group(_) => matches!(field.kind, Kind::Group(_)),
        Raw::Bytes(_) => match field.kind {
            Kind::Group(_) => false,
            _ => like.is_none() || field.shape == Shape::List,
        },
    }
}

fn integer(kind: Kind, raw: Raw<'_>) -> i128 {
    match (kind, raw) {
        (Kind::Int32, Raw::Varint(value)) => (value as i32).into(),
        (Kind::Int64, Raw::Varint(value)) => (value as i64).into(),
        (Kind::Uint32, Raw::Varint(value)) => (value as u32).into(),
        (Kind::Sint32, Raw::Varint(value)) => (unzigzag(u64::from(value as u32)) as i32).into(),
        (Kind::Sint64, Raw::Varint(value)) => unzigzag(value).into(),
        (Kind::Sfixed32, Raw::Fixed32(value)) => (value as i32).into(),
        (Kind::Sfixed64, Raw::Fixed64(value)) => (value as i64).into(),
        (_, Raw::Varint(value) | Raw::Fixed64(value)) => value.into(),
        (_, Raw::Fixed32(value)) => value.into(),
        // Of another form than the type; gathered values never are.
        (_, Raw::Bytes(_) | Raw::Group(_)) => 0,
    }
}

fn joined(values: &[Occurrence<'_>]) -> Vec<u8> {
    let mut whole = Vec::new();
    for occurrence in values {
        if let Raw::Bytes(bytes) | Raw::Group(bytes) = occurrence.raw {
            whole.extend_from_slice(bytes);
        }
    }
    whole
}

fn utf8<'a>(field: &Field, bytes: &'a [u8]) -> Result<&'a str, DecodeError> {
    std::str::from_utf8(bytes)
        .map_err(|_| DecodeError::bytes(format!("proto: field {} contains invalid UTF-8", field.full_name)))
}
