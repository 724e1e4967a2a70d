//! From JSON to protobuf (ProtoJSON).

use std::sync::Arc;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::Pause;
use crate::error::EncodeError;
use crate::json::{Json, Next};
use crate::limits::{MESSAGE_DEPTH_MAX, STEPS_PER_PAUSE};
use crate::number::{double, float, integer};
use crate::raw::{put_bytes, put_tag, put_varint, zigzag};
use crate::schema::{Field, Kind, Message, MessageId, Schema, Shape};
use crate::well_known::WellKnown;

impl Schema {
    /// The bytes of the message that a JSON text describes. `types` are searched for what an `Any` holds, besides this
    /// schema.
    ///
    /// # Errors
    /// The JSON does not fit the type, or `pause` ended it.
    pub fn encode(
        &self,
        types: &[Arc<Schema>],
        message: MessageId,
        json: &[u8],
        pause: Pause<'_>,
    ) -> Result<Vec<u8>, EncodeError> {
        let out = Vec::with_capacity(json.len());
        let mut encoder = Encoder { out, types, depth: 0, steps: 0, pause };
        let mut json = Json::new(json);
        encoder.message(self, message, &mut json)?;
        json.end()?;
        Ok(encoder.out)
    }
}

pub(crate) struct Encoder<'a> {
    pub(crate) out: Vec<u8>,
    pub(crate) types: &'a [Arc<Schema>],
    depth: u32,
    steps: u32,
    pause: Pause<'a>,
}

/// A value that is not of variable length before it is known, without its tag.
enum Scalar<'a> {
    Varint(u64),
    Fixed32(u32),
    Fixed64(u64),
    Bytes(std::borrow::Cow<'a, [u8]>),
}

impl Scalar<'_> {
    fn is_zero(&self) -> bool {
        match self {
            Scalar::Varint(value) | Scalar::Fixed64(value) => *value == 0,
            Scalar::Fixed32(value) => *value == 0,
            Scalar::Bytes(bytes) => bytes.is_empty(),
        }
    }

    fn wire_type(&self) -> u8 {
        match self {
            Scalar::Varint(_) => 0,
            Scalar::Fixed64(_) => 1,
            Scalar::Bytes(_) => 2,
            Scalar::Fixed32(_) => 5,
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Scalar::Varint(value) => put_varint(out, *value),
            Scalar::Fixed64(value) => out.extend_from_slice(&value.to_le_bytes()),
            Scalar::Fixed32(value) => out.extend_from_slice(&value.to_le_bytes()),
            Scalar::Bytes(bytes) => {
                put_varint(out, bytes.len() as u64);
                out.extend_from_slice(bytes);
            }
        }
    }
}

impl Encoder<'_> {
    /// Reads a message.
    pub(crate) fn message(
        &mut self,
        schema: &Schema,
        id: MessageId,
        json: &mut Json<'_>,
    ) -> Result<(), EncodeError> {
        if self.depth >= MESSAGE_DEPTH_MAX {
            return Err(EncodeError::value("proto: exceeded max recursion depth"));
        }
        self.depth += 1;
        let message = schema.message(id);
        match message.well_known {
            Some(kind) => kind.read(self, schema, message, json)?,
            None => self.object(schema, message, json)?,
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads the object of a message's fields.
    pub(crate) fn object(
        &mut self,
        schema: &Schema,
        message: &Message,
        json: &mut Json<'_>,
    ) -> Result<(), EncodeError> {
        self.object_without(schema, message, json, "")
    }

    /// The same where one member is no field.
    pub(crate) fn object_without(
        &mut self,
        schema: &Schema,
        message: &Message,
        json: &mut Json<'_>,
        skipped: &str,
    ) -> Result<(), EncodeError> {
        if json.peek()? != Next::Object {
            let (column, token) = (json.column(), json.token());
            let text = format!("proto: syntax error (line 1:{column}): unexpected token {token}");
            return Err(EncodeError::value(text));
        }
        json.open();
        let (mut seen, mut is_first) = (Seen::default(), true);
        while json.more(b'}', is_first)? {
            is_first = false;
            self.step()?;
            let column = json.column();
            let key = json.key()?;
            if !skipped.is_empty() && key == skipped {
                json.skip()?;
                continue;
            }
            let Some((index, field)) = message.field_named(&key) else {
                return Err(EncodeError::value(format!("proto: (line 1:{column}): unknown field \"{key}\"")));
            };
            if is_unset(schema, field, json)? {
                continue;
            }
            seen.add(message, index, field, column)?;
            self.field(schema, field, json)?;
        }
        match message.required.iter().find(|index| !seen.has(**index)) {
            Some(missing) => {
                let name = &message.fields[usize::from(*missing)].full_name;
                Err(EncodeError::value(format!("proto: required field {name} not set")))
            }
            None => Ok(()),
        }
    }

    /// Reads a field's value.
    pub(crate) fn field(
        &mut self,
        schema: &Schema,
        field: &Field,
        json: &mut Json<'_>,
    ) -> Result<(), EncodeError> {
        match field.shape {
            Shape::List => self.list(schema, field, json),
            Shape::Map => self.map(schema, field, json),
            Shape::Single => self.single(schema, field, json, !field.has_presence),
        }
    }

    /// Reads one value with its tag; zeros are left out where unset is the same.
    fn single(
        &mut self,
        schema: &Schema,
        field: &Field,
        json: &mut Json<'_>,
        omits_zero: bool,
    ) -> Result<(), EncodeError> {
        const START_GROUP: u8 = 3;
        const END_GROUP: u8 = 4;
        match field.kind {
            Kind::Message(id) => {
                let content = self.apart(|encoder| encoder.message(schema, id, json))?;
                put_bytes(&mut self.out, field.number, &content);
            }
            Kind::Group(id) => {
                put_tag(&mut self.out, field.number, START_GROUP);
                self.message(schema, id, json)?;
                put_tag(&mut self.out, field.number, END_GROUP);
            }
            kind => {
                let value = scalar(schema, kind, field, json)?;
                if !(omits_zero && value.is_zero()) {
                    put_tag(&mut self.out, field.number, value.wire_type());
                    value.put(&mut self.out);
                }
            }
        }
        Ok(())
    }

    /// What `write` writes, and not into what is written already.
    pub(crate) fn apart(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), EncodeError>,
    ) -> Result<Vec<u8>, EncodeError> {
        let outer = std::mem::take(&mut self.out);
        let written = write(self);
        let inner = std::mem::replace(&mut self.out, outer);
        written.map(|()| inner)
    }

    fn list(&mut self, schema: &Schema, field: &Field, json: &mut Json<'_>) -> Result<(), EncodeError> {
        if json.peek()? != Next::Array {
            return Err(invalid(field, "list", json));
        }
        json.open();
        let is_packed = field.is_packed && field.kind.packed().is_some();
        let (mut packed, mut is_first) = (Vec::new(), true);
        while json.more(b']', is_first)? {
            is_first = false;
            self.step()?;
            if is_packed {
                scalar(schema, field.kind, field, json)?.put(&mut packed);
            } else {
                self.single(schema, field, json, false)?;
            }
        }
        if !packed.is_empty() {
            put_bytes(&mut self.out, field.number, &packed);
        }
        Ok(())
    }

    fn map(&mut self, schema: &Schema, field: &Field, json: &mut Json<'_>) -> Result<(), EncodeError> {
        let entry = match field.kind {
            Kind::Message(id) => schema.message(id),
            _ => return Err(invalid(field, "map", json)),
        };
        let (Some((_, key)), Some((_, value))) = (entry.field(1), entry.field(2)) else {
            return Err(invalid(field, "map", json));
        };
        if json.peek()? != Next::Object {
            return Err(invalid(field, "map", json));
        }
        json.open();
        let mut is_first = true;
        while json.more(b'}', is_first)? {
            is_first = false;
            self.step()?;
            let name = json.key()?;
            let content = self.apart(|encoder| {
                let name = map_key(key, &name)?;
                put_tag(&mut encoder.out, 1, name.wire_type());
                name.put(&mut encoder.out);
                encoder.single(schema, value, json, false)
            })?;
            put_bytes(&mut self.out, field.number, &content);
        }
        Ok(())
    }

    /// Counts one piece of work, and gives way now and then.
    fn step(&mut self) -> Result<(), EncodeError> {
        self.steps += 1;
        if self.steps < STEPS_PER_PAUSE {
            return Ok(());
        }
        self.steps = 0;
        if (self.pause)() { Ok(()) } else { Err(EncodeError::Interrupted) }
    }
}

/// Reads `null` where it means that the field is not set.
fn is_unset(schema: &Schema, field: &Field, json: &mut Json<'_>) -> Result<bool, EncodeError> {
    if json.peek()? != Next::Null {
        return Ok(false);
    }
    let is_value = match (field.shape, field.kind) {
        (Shape::Single, Kind::Message(id)) => schema.message(id).well_known == Some(WellKnown::Value),
        (Shape::Single, Kind::Enum(id)) => schema.enumeration(id).is_null_value,
        _ => false,
    };
    if !is_value {
        json.word("null")?;
    }
    Ok(!is_value)
}

/// The fields and oneofs of one object that have a value already.
#[derive(Default)]
struct Seen {
    first: u64,
    /// Those beyond the 64th.
    others: Vec<u16>,
    oneofs: Vec<u16>,
}

impl Seen {
    fn has(&self, index: u16) -> bool {
        if index < 64 { self.first & 1 << index != 0 } else { self.others.contains(&index) }
    }

    fn add(
        &mut self,
        message: &Message,
        index: u16,
        field: &Field,
        column: usize,
    ) -> Result<(), EncodeError> {
        if self.has(index) {
            return Err(EncodeError::value(format!(
                "proto: (line 1:{column}): duplicate field \"{}\"",
                field.json_name
            )));
        }
        if index < 64 {
            self.first |= 1 << index;
        } else {
            self.others.push(index);
        }
        let Some(oneof) = field.oneof else { return Ok(()) };
        if self.oneofs.contains(&oneof) {
            let text = format!(
                "proto: (line 1:{column}): \"{}\" is set besides another field of its oneof in {}",
                field.json_name, message.name
            );
            return Err(EncodeError::value(text));
        }
        self.oneofs.push(oneof);
        Ok(())
    }
}

fn scalar<'a>(
    schema: &Schema,
    kind: Kind,
    field: &Field,
    json: &mut Json<'a>,
) -> Result<Scalar<'a>, EncodeError> {
    let mut before = json.clone();
    let next = json.peek()?;
    let bad = |type_name: &str, before: &mut Json<'_>| invalid(field, type_name, before);
    match (kind, next) {
        (Kind::Bool, Next::True) => json.word("true").map(|()| Scalar::Varint(1)),
        (Kind::Bool, Next::False) => json.word("false").map(|()| Scalar::Varint(0)),
        (Kind::Bool, _) => Err(bad("bool", &mut before)),
        (Kind::String, Next::Text) => Ok(Scalar::Bytes(match json.text()? {
            std::borrow::Cow::Borrowed(text) => text.as_bytes().into(),
            std::borrow::Cow::Owned(text) => text.into_bytes().into(),
        })),
        (Kind::String, _) => Err(bad("string", &mut before)),
        (Kind::Bytes, Next::Text) => {
            let bytes = base64(&json.text()?).ok_or_else(|| bad("bytes", &mut before))?;
            Ok(Scalar::Bytes(bytes.into()))
        }
        (Kind::Bytes, _) => Err(bad("bytes", &mut before)),
        (Kind::Enum(id), next) => {
            let declared = schema.enumeration(id);
            let number = match next {
                Next::Text => declared.number_of(&json.text()?),
                Next::Number => integer(json.number()?).and_then(|number| i32::try_from(number).ok()),
                Next::Null if declared.is_null_value => json.word("null").map(|()| Some(0))?,
                _ => None,
            };
            let number = number.ok_or_else(|| bad("enum", &mut before))?;
            Ok(Scalar::Varint(i64::from(number) as u64))
        }
        (kind, Next::Text) => {
            let text = json.text()?;
            numeric(kind, &text, true).ok_or_else(|| bad(type_name(kind), &mut before))
        }
        (kind, Next::Number) => {
            let text = json.number()?;
            numeric(kind, text, false).ok_or_else(|| bad(type_name(kind), &mut before))
        }
        (kind, _) => Err(bad(type_name(kind), &mut before)),
    }
}

/// The number that a text is; `None` where it is none of its type.
fn numeric(kind: Kind, text: &str, is_quoted: bool) -> Option<Scalar<'static>> {
    match kind {
        Kind::Double => return Some(Scalar::Fixed64(double(text, is_quoted)?.to_bits())),
        Kind::Float => return Some(Scalar::Fixed32(float(text, is_quoted)?.to_bits())),
        _ => {}
    }
    let number = integer(text)?;
    Some(match kind {
        Kind::Int32 => Scalar::Varint(i64::from(i32::try_from(number).ok()?) as u64),
        Kind::Int64 => Scalar::Varint(i64::try_from(number).ok()? as u64),
        Kind::Uint32 => Scalar::Varint(u32::try_from(number).ok()?.into()),
        Kind::Uint64 => Scalar::Varint(u64::try_from(number).ok()?),
        Kind::Sint32 => Scalar::Varint(zigzag(i32::try_from(number).ok()?.into()) & 0xffff_ffff),
        Kind::Sint64 => Scalar::Varint(zigzag(i64::try_from(number).ok()?)),
        Kind::Fixed32 => Scalar::Fixed32(u32::try_from(number).ok()?),
        Kind::Fixed64 => Scalar::Fixed64(u64::try_from(number).ok()?),
        Kind::Sfixed32 => Scalar::Fixed32(i32::try_from(number).ok()? as u32),
        Kind::Sfixed64 => Scalar::Fixed64(i64::try_from(number).ok()? as u64),
        _ => return None,
    })
}

fn map_key<'a>(field: &Field, name: &'a str) -> Result<Scalar<'a>, EncodeError> {
    let scalar = match (field.kind, name) {
        (Kind::String, name) => Some(Scalar::Bytes(name.as_bytes().into())),
        (Kind::Bool, "true") => Some(Scalar::Varint(1)),
        (Kind::Bool, "false") => Some(Scalar::Varint(0)),
        (Kind::Bool, _) => None,
        (kind, name) => numeric(kind, name, true),
    };
    scalar.ok_or_else(|| {
        let type_name = type_name(field.kind);
        EncodeError::value(format!("proto: invalid value for {type_name} key of a map: {name:?}"))
    })
}

fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Double => "double",
        Kind::Float => "float",
        Kind::Int32 => "int32",
        Kind::Int64 => "int64",
        Kind::Uint32 => "uint32",
        Kind::Uint64 => "uint64",
        Kind::Sint32 => "sint32",
        Kind::Sint64 => "sint64",
        Kind::Fixed32 => "fixed32",
        Kind::Fixed64 => "fixed64",
        Kind::Sfixed32 => "sfixed32",
        Kind::Sfixed64 => "sfixed64",
        Kind::Bool => "bool",
        Kind::String => "string",
        Kind::Bytes => "bytes",
        Kind::Message(_) | Kind::Group(_) => "message",
        Kind::Enum(_) => "enum",
    }
}

/// Both alphabets, with and without padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let alphabet = if text.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    GeneralPurpose::new(alphabet, CONFIG).decode(text).ok()
}

fn invalid(field: &Field, type_name: &str, json: &mut Json<'_>) -> EncodeError {
    let (column, token) = (json.column(), json.token());
    let name = &field.json_name;
    EncodeError::value(format!(
        "proto: (line 1:{column}): invalid value for {type_name} field {name}: {token}"
    ))
}
