//! Methods that a script can call on a broker.

use bytes::Bytes;

use super::AmqpError;
use super::frame::{Reader, malformed, push_fields, push_text};

/// A value in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// Nothing.
    Nothing,
    /// A boolean.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// The bits of another number.
    Float(u64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Field>),
    /// A table.
    Table(Fields),
}

/// A table: named values, in their order.
pub type Fields = Vec<(String, Field)>;

/// A method, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// Makes a queue, or checks that it is there.
    DeclareQueue {
        /// Its name; the broker makes one where it is empty.
        name: String,
        /// Whether it must be there already.
        passive: bool,
        /// Whether it survives the broker.
        durable: bool,
        /// Whether it is this connection's alone.
        exclusive: bool,
        /// Whether it goes with its last consumer.
        auto_delete: bool,
        /// Further arguments.
        arguments: Fields,
    },
    /// Removes a queue.
    DeleteQueue(String),
    /// Removes a queue's messages.
    PurgeQueue(String),
    /// Binds a queue to an exchange, or ends that.
    BindQueue {
        /// The queue.
        queue: String,
        /// The exchange.
        exchange: String,
        /// The routing key.
        key: String,
        /// Further arguments.
        arguments: Fields,
        /// Whether the binding ends.
        ends: bool,
    },
    /// Makes an exchange.
    DeclareExchange {
        /// Its name.
        name: String,
        /// Its type, such as `direct`.
        kind: String,
        /// Whether it survives the broker.
        durable: bool,
        /// Whether it goes with its last binding.
        auto_delete: bool,
        /// Whether clients cannot publish to it.
        internal: bool,
        /// Further arguments.
        arguments: Fields,
    },
    /// Removes an exchange.
    DeleteExchange(String),
    /// Binds an exchange to another, or ends that.
    BindExchange {
        /// Where messages go.
        destination: String,
        /// Where they come from.
        source: String,
        /// The routing key.
        key: String,
        /// Further arguments.
        arguments: Fields,
        /// Whether the binding ends.
        ends: bool,
    },
}

/// A message to publish.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Publication {
    /// The exchange; the default one where it is empty.
    pub exchange: String,
    /// The routing key: a queue's name with the default exchange.
    pub key: String,
    /// Whether a message that no queue gets comes back.
    pub mandatory: bool,
    /// Whether a message comes back if no consumer takes it at once.
    pub immediate: bool,
    /// The content.
    pub body: Vec<u8>,
    /// The content's type.
    pub content_type: String,
    /// Named values beside the content.
    pub headers: Fields,
    /// 2 survives the broker.
    pub delivery_mode: u8,
    /// Seconds since 1970.
    pub timestamp_unix_s: Option<u64>,
}

/// A broker's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// A queue's name.
    pub name: String,
    /// Messages in a queue, or removed from it.
    pub messages: u32,
    /// Consumers of a queue.
    pub consumers: u32,
}

impl Method {
    /// The class and number of the method, and of its answer.
    fn numbers(&self) -> [u16; 3] {
        match self {
            Method::DeclareQueue { .. } => [50, 10, 11],
            Method::BindQueue { ends: false, .. } => [50, 20, 21],
            Method::PurgeQueue(_) => [50, 30, 31],
            Method::DeleteQueue(_) => [50, 40, 41],
            Method::BindQueue { ends: true, .. } => [50, 50, 51],
            Method::DeclareExchange { .. } => [40, 10, 11],
            Method::DeleteExchange(_) => [40, 20, 21],
            Method::BindExchange { ends: false, .. } => [40, 30, 31],
            Method::BindExchange { ends: true, .. } => [40, 40, 51],
        }
    }

    /// The payload of its frame.
    pub(super) fn payload(&self) -> Result<Vec<u8>, AmqpError> {
        let [class, number, _] = self.numbers();
        let mut out = start(class, number);
        // A field that is not used any more.
        out.extend_from_slice(&[0, 0]);
        match self {
            Method::DeclareQueue { name, passive, durable, exclusive, auto_delete, arguments } => {
                push_text(&mut out, name)?;
                out.push(bits([*passive, *durable, *exclusive, *auto_delete, false]));
                push_fields(&mut out, arguments)?;
            }
            Method::DeleteQueue(name) | Method::PurgeQueue(name) | Method::DeleteExchange(name) => {
                push_text(&mut out, name)?;
                out.push(0);
            }
            Method::BindQueue { queue, exchange, key, arguments, ends } => {
                push_text(&mut out, queue)?;
                push_text(&mut out, exchange)?;
                push_text(&mut out, key)?;
                if !ends {
                    out.push(0);
                }
                push_fields(&mut out, arguments)?;
            }
            Method::DeclareExchange { name, kind, durable, auto_delete, internal, arguments } => {
                push_text(&mut out, name)?;
                push_text(&mut out, kind)?;
                out.push(bits([false, *durable, *auto_delete, *internal, false]));
                push_fields(&mut out, arguments)?;
            }
            Method::BindExchange { destination, source, key, arguments, .. } => {
                push_text(&mut out, destination)?;
                push_text(&mut out, source)?;
                push_text(&mut out, key)?;
                out.push(0);
                push_fields(&mut out, arguments)?;
            }
        }
        Ok(out)
    }

    /// The answer in a frame's payload.
    pub(super) fn reply(&self, payload: Bytes) -> Result<Reply, AmqpError> {
        let [class, _, answer] = self.numbers();
        let mut reader = Reader(payload);
        if (reader.u16()?, reader.u16()?) != (class, answer) {
            return Err(malformed());
        }
        Ok(match self {
            Method::DeclareQueue { .. } => {
                Reply { name: reader.text()?, messages: reader.u32()?, consumers: reader.u32()? }
            }
            Method::DeleteQueue(_) | Method::PurgeQueue(_) => {
                Reply { messages: reader.u32()?, ..Reply::default() }
            }
            _ => Reply::default(),
        })
    }
}

impl Publication {
    /// The payloads of the method's frame and of the content's header.
    pub(super) fn payloads(&self) -> Result<[Vec<u8>; 2], AmqpError> {
        let mut method = start(60, 40);
        method.extend_from_slice(&[0, 0]);
        push_text(&mut method, &self.exchange)?;
        push_text(&mut method, &self.key)?;
        method.push(bits([self.mandatory, self.immediate, false, false, false]));
        let mut header = 60_u16.to_be_bytes().to_vec();
        header.extend_from_slice(&[0, 0]);
        header.extend_from_slice(&(self.body.len() as u64).to_be_bytes());
        // Which properties follow, from the highest bit: content type, headers, delivery mode, time.
        let mut flags = 0_u16;
        let mut properties = Vec::new();
        if !self.content_type.is_empty() {
            flags |= 1 << 15;
            push_text(&mut properties, &self.content_type)?;
        }
        if !self.headers.is_empty() {
            flags |= 1 << 13;
            push_fields(&mut properties, &self.headers)?;
        }
        if self.delivery_mode != 0 {
            flags |= 1 << 12;
            properties.push(self.delivery_mode);
        }
        if let Some(unix_s) = self.timestamp_unix_s {
            flags |= 1 << 6;
            properties.extend_from_slice(&unix_s.to_be_bytes());
        }
        header.extend_from_slice(&flags.to_be_bytes());
        header.extend_from_slice(&properties);
        Ok([method, header])
    }
}

/// The beginning of a method's payload.
pub(super) fn start(class: u16, number: u16) -> Vec<u8> {
    [class.to_be_bytes(), number.to_be_bytes()].concat()
}

fn bits(flags: [bool; 5]) -> u8 {
    flags.iter().enumerate().map(|(index, flag)| u8::from(*flag) << index).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads() {
        let declare = Method::DeclareQueue {
            name: "q".to_owned(),
            passive: false,
            durable: true,
            exclusive: false,
            auto_delete: true,
            arguments: Vec::new(),
        };
        assert_eq!(declare.payload().expect("it fits"), b"\0\x32\0\x0a\0\0\x01q\x0a\0\0\0\0");
        let publication = Publication {
            key: "q".to_owned(),
            body: b"xy".to_vec(),
            content_type: "t".to_owned(),
            delivery_mode: 2,
            timestamp_unix_s: Some(7),
            ..Publication::default()
        };
        let [method, header] = publication.payloads().expect("they fit");
        assert_eq!(method, b"\0\x3c\0\x28\0\0\0\x01q\0");
        assert_eq!(header, b"\0\x3c\0\0\0\0\0\0\0\0\0\x02\x90\x40\x01t\x02\0\0\0\0\0\0\0\x07");
    }

    #[test]
    fn replies() {
        let purge = Method::PurgeQueue("q".to_owned());
        let reply = purge.reply(Bytes::from_static(b"\0\x32\0\x1f\0\0\0\x03")).expect("an answer");
        assert_eq!(reply.messages, 3);
        assert!(purge.reply(Bytes::from_static(b"\0\x32\0\x1f\0")).is_err());
        assert!(purge.reply(Bytes::from_static(b"\0\x32\0\x0b\0\0\0\x03")).is_err());
    }
}
