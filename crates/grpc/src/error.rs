//! Errors, as values.

/// Why there is no schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A `.proto` file is missing, is too large, or is none.
    #[error("{0}")]
    Source(String),
    /// The bytes are no descriptor set, or one whose parts do not fit together.
    #[error("{0}")]
    Descriptors(String),
    /// A server's answer to a question about its types is none.
    #[error("{0}")]
    Reflection(String),
}

/// Why JSON is not the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The value does not fit the type.
    #[error("{0}")]
    Value(String),
    /// The caller ended it.
    #[error("interrupted")]
    Interrupted,
}

/// Why bytes are not the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes are no message of the type.
    #[error("{0}")]
    Bytes(String),
    /// The caller ended it.
    #[error("interrupted")]
    Interrupted,
}

impl EncodeError {
    pub(crate) fn value(text: impl Into<String>) -> EncodeError {
        EncodeError::Value(text.into())
    }
}

impl DecodeError {
    pub(crate) fn bytes(text: impl Into<String>) -> DecodeError {
        DecodeError::Bytes(text.into())
    }
}
