//! Walks a request down to its spans without making a tree of it first: a message of two bytes would become one of three
//! hundred, sixteen million times in 32 MiB.

use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

use crate::decode::Malformed;

/// A span, or a resource, that takes more bytes is not read.
const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// The numbers of the fields that are walked (opentelemetry/proto/collector/trace/v1, opentelemetry/proto/trace/v1):
/// `ExportTraceServiceRequest.resource_spans`, `ResourceSpans.resource` and `.scope_spans`, `ScopeSpans.spans`.
const RESOURCE_SPANS: u64 = 1;
const RESOURCE: u64 = 1;
const SCOPE_SPANS: u64 = 2;
const SPANS: u64 = 2;

/// Takes what is found, in the order of the request.
pub(crate) trait Visitor {
    /// The spans that follow are of this resource; none, if it is too large to be read.
    fn resource(&mut self, resource: Option<Resource>);
    /// A span; none, if it is too large to be read.
    fn span(&mut self, span: Option<Span>);
}

/// Walks an `ExportTraceServiceRequest`.
pub(crate) fn request(request: &[u8], visitor: &mut dyn Visitor) -> Result<(), Malformed> {
    fields(request, RESOURCE_SPANS, |resource_spans| {
        let mut resource = Some(Resource::default());
        // Fields may be in any order, and of one that is there twice the last counts.
        fields(resource_spans, RESOURCE, |message| {
            resource = read(message)?;
            Ok(())
        })?;
        visitor.resource(resource);
        fields(resource_spans, SCOPE_SPANS, |scope_spans| {
            fields(scope_spans, SPANS, |message| {
                visitor.span(read(message)?);
                Ok(())
            })
        })
    })
}

fn read<M: Message + Default>(message: &[u8]) -> Result<Option<M>, Malformed> {
    if message.len() > MESSAGE_BYTES_MAX {
        return Ok(None);
    }
    M::decode(message).map(Some).map_err(|error| Malformed(error.to_string()))
}

/// Hands over the messages of one field; the other fields are skipped.
fn fields<'a>(
    mut message: &'a [u8],
    number: u64,
    mut take: impl FnMut(&'a [u8]) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    while !message.is_empty() {
        let key = varint(&mut message)?;
        match key & 7 {
            0 => drop(varint(&mut message)?),
            1 => drop(bytes(&mut message, 8)?),
            2 => {
                let length = varint(&mut message)?;
                let field = bytes(&mut message, length)?;
                if key >> 3 == number {
                    take(field)?;
                }
            }
            5 => drop(bytes(&mut message, 4)?),
            kind => return Err(Malformed(format!("there is no kind of field {kind}"))),
        }
    }
    Ok(())
}

/// A number in seven bits a byte, the lowest first (protobuf, Encoding, Base 128 Varints).
fn varint(message: &mut &[u8]) -> Result<u64, Malformed> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = message.split_first().ok_or_else(ends_early)?;
        *message = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(Malformed("a number has more than 64 bits".to_owned()))
}

fn bytes<'a>(message: &mut &'a [u8], length: u64) -> Result<&'a [u8], Malformed> {
    let length = usize::try_from(length).map_err(|_| ends_early())?;
    let (taken, rest) = message.split_at_checked(length).ok_or_else(ends_early)?;
    *message = rest;
    Ok(taken)
}

fn ends_early() -> Malformed {
    Malformed("the message ends early".to_owned())
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
    use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans};

    use super::*;

    #[derive(Default)]
    struct Seen {
        resources: usize,
        names: Vec<String>,
        too_large: usize,
    }

    impl Visitor for Seen {
        fn resource(&mut self, resource: Option<Resource>) {
            self.resources += usize::from(resource.is_some());
        }

        fn span(&mut self, span: Option<Span>) {
            match span {
                Some(span) => self.names.push(span.name),
                None => self.too_large += 1,
            }
        }
    }

    fn walk(bytes: &[u8]) -> Result<Seen, Malformed> {
        let mut seen = Seen::default();
        request(bytes, &mut seen).map(|()| seen)
    }

    fn named(name: &str) -> Span {
        Span { name: name.to_owned(), ..Span::default() }
    }

    #[test]
    fn all_spans_are_found_and_those_that_are_too_large_are_counted() {
        let scope = |names: &[&str]| ScopeSpans {
            spans: names.iter().map(|name| named(name)).collect(),
            schema_url: "x".to_owned(),
            ..ScopeSpans::default()
        };
        let large = "a".repeat(MESSAGE_BYTES_MAX);
        let first =
            ResourceSpans { scope_spans: vec![scope(&["a", "b"]), scope(&["c"])], ..Default::default() };
        let second = ResourceSpans { scope_spans: vec![scope(&[&large, "d"])], ..Default::default() };
        let request = ExportTraceServiceRequest { resource_spans: vec![first, second] };
        let seen = walk(&request.encode_to_vec()).expect("sound");
        assert_eq!(seen.names, ["a", "b", "c", "d"]);
        assert_eq!((seen.resources, seen.too_large), (2, 1));
    }

    #[test]
    fn fields_that_nobody_knows_are_skipped_and_what_is_no_message_is_refused() {
        let check = |bytes: &[u8], is_sound: bool| assert_eq!(walk(bytes).is_ok(), is_sound, "{bytes:?}");
        check(b"", true);
        check(&[0x78, 0x96, 0x01, 0x7d, 1, 2, 3, 4, 0x79, 1, 2, 3, 4, 5, 6, 7, 8], true);
        check(&[0x0a, 0x05, 0x12], false);
        check(&[0x0a], false);
        check(&[0xff; 11], false);
        check(&[0x0b], false);
        check(&[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], false);
    }
}
