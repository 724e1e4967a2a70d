//! The limits, by name.

/// Bytes of one `.proto` file, one descriptor set, or all descriptors that a server's reflection sends. The descriptors of
/// all public Google APIs take 30 MB.
pub const DESCRIPTOR_BYTES_MAX: usize = 64 << 20;

/// Files of one schema, imports included. All public Google APIs are 7,000 files.
pub const FILES_MAX: usize = 10_000;

/// Braces and brackets inside of each other in a `.proto` file; the parser calls itself for each.
pub const SOURCE_DEPTH_MAX: usize = 100;

/// Messages inside of each other, in JSON and in protobuf; both mappings call themselves for each. Protobuf's own limit.
pub const MESSAGE_DEPTH_MAX: u32 = 100;

/// Bytes of one message as JSON. A few bytes of protobuf become many where a message has many unset fields.
pub const JSON_BYTES_MAX: usize = 64 << 20;

/// Fields and elements that are mapped before others get their turn.
pub(crate) const STEPS_PER_PAUSE: u32 = 4096;

/// Bytes of an error's message that are shown; servers may send a stack.
pub const STATUS_MESSAGE_BYTES_MAX: usize = 64 << 10;
