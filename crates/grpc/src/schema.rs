//! Message types, enums and methods, in the form that the mappings need.

use std::collections::HashMap;
use std::sync::Arc;

use prost_reflect::{
    Cardinality, DescriptorPool, ExtensionDescriptor, FieldDescriptor, Kind as TypeKind, MessageDescriptor,
    Syntax,
};

use crate::error::SchemaError;
use crate::limits::{DESCRIPTOR_BYTES_MAX, FILES_MAX};
use crate::raw::Packed;
use crate::well_known::WellKnown;

/// A message type's number in its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageId(pub(crate) u32);

/// An enum's number in its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EnumId(u32);

/// The types and methods of some `.proto` files. Immutable, so that all VUs share it.
#[derive(Debug)]
pub struct Schema {
    messages: Vec<Message>,
    enums: Vec<Enum>,
    names: HashMap<Box<str>, MessageId>,
    methods: HashMap<Box<str>, Arc<Method>>,
    listed: Vec<Arc<Method>>,
}

/// A method of a service.
#[derive(Debug, PartialEq, Eq)]
pub struct Method {
    /// `/package.Service/Method`
    pub path: Box<str>,
    /// The package; empty for none.
    pub package: Box<str>,
    /// The service's name without its package.
    pub service: Box<str>,
    /// The method's name.
    pub name: Box<str>,
    /// The type of requests.
    pub input: MessageId,
    /// The type of responses.
    pub output: MessageId,
    /// Whether the client sends a stream.
    pub is_client_streaming: bool,
    /// Whether the server sends a stream.
    pub is_server_streaming: bool,
}

#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) name: Box<str>,
    /// In the order of their declaration; extensions follow.
    pub(crate) fields: Vec<Field>,
    by_number: HashMap<u32, u16>,
    by_name: HashMap<Box<str>, u16>,
    pub(crate) oneof_count: u16,
    pub(crate) well_known: Option<WellKnown>,
    pub(crate) required: Vec<u16>,
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) number: u32,
    pub(crate) full_name: Box<str>,
    pub(crate) json_name: Box<str>,
    pub(crate) kind: Kind,
    pub(crate) shape: Shape,
    pub(crate) is_packed: bool,
    /// Whether unset differs from zero.
    pub(crate) has_presence: bool,
    /// Which of the message's oneofs it belongs to; that of a proto3 `optional` does not count.
    pub(crate) oneof: Option<u16>,
    pub(crate) when_unset: WhenUnset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Single,
    List,
    /// The kind is the entry's type.
    Map,
}

/// What an unset field is in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhenUnset {
    Zero,
    Null,
    Absent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Double,
    Float,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Bool,
    String,
    Bytes,
    Message(MessageId),
    Group(MessageId),
    Enum(EnumId),
}

impl Kind {
    /// How a packed list of it is written; `None` for what cannot be packed.
    pub(crate) fn packed(self) -> Option<Packed> {
        match self {
            Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => Some(Packed::Fixed64),
            Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => Some(Packed::Fixed32),
            Kind::String | Kind::Bytes | Kind::Message(_) | Kind::Group(_) => None,
            _ => Some(Packed::Varint),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Enum {
    pub(crate) zero: i32,
    by_number: HashMap<i32, Box<str>>,
    by_name: HashMap<Box<str>, i32>,
    pub(crate) is_null_value: bool,
}

impl Enum {
    pub(crate) fn name_of(&self, number: i32) -> Option<&str> {
        self.by_number.get(&number).map(|name| &**name)
    }

    pub(crate) fn number_of(&self, name: &str) -> Option<i32> {
        self.by_name.get(name).copied()
    }
}

impl Message {
    pub(crate) fn field(&self, number: u32) -> Option<(u16, &Field)> {
        let index = *self.by_number.get(&number)?;
        Some((index, &self.fields[usize::from(index)]))
    }

    pub(crate) fn field_named(&self, name: &str) -> Option<(u16, &Field)> {
        let index = *self.by_name.get(name)?;
        Some((index, &self.fields[usize::from(index)]))
    }
}

impl Schema {
    /// The schema of a serialized `FileDescriptorSet`, as `protoc --descriptor_set_out --include_imports` writes it.
    ///
    /// # Errors
    /// It is none, or too large, or imports what it does not have.
    pub fn from_set(bytes: &[u8]) -> Result<Schema, SchemaError> {
        if bytes.len() > DESCRIPTOR_BYTES_MAX {
            let text = format!(
                "a descriptor set of {} bytes is larger than {DESCRIPTOR_BYTES_MAX}; leave out what is not called",
                bytes.len()
            );
            return Err(SchemaError::Descriptors(text));
        }
        let pool =
            DescriptorPool::decode(bytes).map_err(|error| SchemaError::Descriptors(error.to_string()))?;
        Schema::of_pool(&pool)
    }

    pub(crate) fn of_pool(pool: &DescriptorPool) -> Result<Schema, SchemaError> {
        if pool.files().len() > FILES_MAX {
            let text = format!("{} files are more than {FILES_MAX}", pool.files().len());
            return Err(SchemaError::Descriptors(text));
        }
        Builder::new(pool).build(pool)
    }

    /// The method at `path`, which is `package.Service/Method` with or without a slash before it.
    pub fn method(&self, path: &str) -> Option<&Arc<Method>> {
        self.methods.get(path.strip_prefix('/').unwrap_or(path))
    }

    /// All methods in the order of their declaration.
    pub fn methods(&self) -> &[Arc<Method>] {
        &self.listed
    }

    /// The message type of that full name.
    pub fn message_named(&self, name: &str) -> Option<MessageId> {
        self.names.get(name).copied()
    }

    pub(crate) fn message(&self, id: MessageId) -> &Message {
        &self.messages[id.0 as usize]
    }

    pub(crate) fn enumeration(&self, id: EnumId) -> &Enum {
        &self.enums[id.0 as usize]
    }
}

/// More fields than this in one message cannot be; protobuf's compilers stop earlier.
const FIELDS_MAX: usize = u16::MAX as usize;

/// Gives every type its number before any is looked at, because types mention each other.
struct Builder {
    names: HashMap<Box<str>, MessageId>,
    enums: HashMap<Box<str>, EnumId>,
}

impl Builder {
    fn new(pool: &DescriptorPool) -> Builder {
        let names = pool.all_messages().zip(0..).map(|(m, index)| (m.full_name().into(), MessageId(index)));
        let enums = pool.all_enums().zip(0..).map(|(e, index)| (e.full_name().into(), EnumId(index)));
        Builder { names: names.collect(), enums: enums.collect() }
    }

    fn build(self, pool: &DescriptorPool) -> Result<Schema, SchemaError> {
        let messages = pool.all_messages().map(|message| self.message(&message));
        let messages = messages.collect::<Result<Vec<_>, _>>()?;
        let enums = pool.all_enums().map(|declared| enumeration(&declared)).collect();
        let mut listed = Vec::new();
        for service in pool.services() {
            for method in service.methods() {
                listed.push(Arc::new(Method {
                    path: format!("/{}/{}", service.full_name(), method.name()).into(),
                    package: service.package_name().into(),
                    service: service.name().into(),
                    name: method.name().into(),
                    input: self.id(method.input().full_name())?,
                    output: self.id(method.output().full_name())?,
                    is_client_streaming: method.is_client_streaming(),
                    is_server_streaming: method.is_server_streaming(),
                }));
            }
        }
        let methods = listed.iter().map(|method| (method.path[1..].into(), method.clone())).collect();
        Ok(Schema { messages, enums, names: self.names, methods, listed })
    }

    fn message(&self, declared: &MessageDescriptor) -> Result<Message, SchemaError> {
        let mut fields = Vec::with_capacity(declared.fields().len());
        let mut names = HashMap::new();
        // The order of the declaration, which is that of the JSON.
        for raw in &declared.descriptor_proto().field {
            let Some(field) = declared.get_field_by_name(raw.name()) else { continue };
            names.insert(field.name().into(), fields.len() as u16);
            fields.push(self.field(declared, &field)?);
        }
        for extension in declared.extensions() {
            fields.push(self.extension(&extension)?);
        }
        if fields.len() > FIELDS_MAX {
            let text = format!("{} has {} fields", declared.full_name(), fields.len());
            return Err(SchemaError::Descriptors(text));
        }
        let indexed = || fields.iter().zip(0_u16..);
        // The JSON name wins where it is another field's own name.
        names.extend(indexed().map(|(field, index)| (field.json_name.clone(), index)));
        let by_number = indexed().map(|(field, index)| (field.number, index)).collect();
        let required = declared.fields().filter(FieldDescriptor::is_required);
        let required = required.filter_map(|field| names.get(field.name()).copied()).collect();
        Ok(Message {
            name: declared.full_name().into(),
            by_number,
            by_name: names,
            oneof_count: declared.oneofs().len() as u16,
            well_known: WellKnown::named(declared.full_name()),
            required,
            fields,
        })
    }

    fn field(&self, message: &MessageDescriptor, field: &FieldDescriptor) -> Result<Field, SchemaError> {
        let oneof = field.containing_oneof();
        let is_optional = oneof.as_ref().is_some_and(|oneof| oneof.is_synthetic());
        let oneof = oneof.filter(|oneof| !oneof.is_synthetic());
        let oneof = oneof.and_then(|own| message.oneofs().position(|oneof| oneof.name() == own.name()));
        let kind = self.kind(&field.kind(), field.is_group())?;
        let shape = match () {
            () if field.is_map() => Shape::Map,
            () if field.is_list() => Shape::List,
            () => Shape::Single,
        };
        let is_message = matches!(kind, Kind::Message(_) | Kind::Group(_));
        let has_presence = field.supports_presence();
        let when_unset = match () {
            () if oneof.is_some() || is_optional => WhenUnset::Absent,
            () if shape != Shape::Single => WhenUnset::Zero,
            () if is_message || (has_presence && field.parent_file().syntax() == Syntax::Proto2) => {
                WhenUnset::Null
            }
            () => WhenUnset::Zero,
        };
        Ok(Field {
            number: field.number(),
            full_name: field.full_name().into(),
            json_name: field.json_name().into(),
            kind,
            shape,
            is_packed: field.is_packed(),
            has_presence,
            oneof: oneof.map(|index| index as u16),
            when_unset,
        })
    }

    fn extension(&self, extension: &ExtensionDescriptor) -> Result<Field, SchemaError> {
        let is_list = extension.cardinality() == Cardinality::Repeated;
        Ok(Field {
            number: extension.number(),
            full_name: extension.full_name().into(),
            json_name: format!("[{}]", extension.full_name()).into(),
            kind: self.kind(&extension.kind(), extension.is_group())?,
            shape: if is_list { Shape::List } else { Shape::Single },
            is_packed: extension.is_packed(),
            has_presence: true,
            oneof: None,
            when_unset: WhenUnset::Absent,
        })
    }

    fn kind(&self, kind: &TypeKind, is_group: bool) -> Result<Kind, SchemaError> {
        Ok(match kind {
            TypeKind::Double => Kind::Double,
            TypeKind::Float => Kind::Float,
            TypeKind::Int32 => Kind::Int32,
            TypeKind::Int64 => Kind::Int64,
            TypeKind::Uint32 => Kind::Uint32,
            TypeKind::Uint64 => Kind::Uint64,
            TypeKind::Sint32 => Kind::Sint32,
            TypeKind::Sint64 => Kind::Sint64,
            TypeKind::Fixed32 => Kind::Fixed32,
            TypeKind::Fixed64 => Kind::Fixed64,
            TypeKind::Sfixed32 => Kind::Sfixed32,
            TypeKind::Sfixed64 => Kind::Sfixed64,
            TypeKind::Bool => Kind::Bool,
            TypeKind::String => Kind::String,
            TypeKind::Bytes => Kind::Bytes,
            TypeKind::Message(message) if is_group => Kind::Group(self.id(message.full_name())?),
            TypeKind::Message(message) => Kind::Message(self.id(message.full_name())?),
            TypeKind::Enum(declared) => {
                let id = self.enums.get(declared.full_name()).copied();
                Kind::Enum(id.ok_or_else(|| unknown(declared.full_name()))?)
            }
        })
    }

    fn id(&self, name: &str) -> Result<MessageId, SchemaError> {
        self.names.get(name).copied().ok_or_else(|| unknown(name))
    }
}

fn enumeration(declared: &prost_reflect::EnumDescriptor) -> Enum {
    let mut by_number = HashMap::new();
    // The first of several names of a number is its name.
    for raw in &declared.enum_descriptor_proto().value {
        by_number.entry(raw.number()).or_insert_with(|| raw.name().into());
    }
    Enum {
        zero: declared.default_value().number(),
        by_number,
        by_name: declared.values().map(|value| (value.name().into(), value.number())).collect(),
        is_null_value: declared.full_name() == "google.protobuf.NullValue",
    }
}

fn unknown(name: &str) -> SchemaError {
    SchemaError::Descriptors(format!("type {name} is not declared"))
}
