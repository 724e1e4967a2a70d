//! Items found in the pieces of a body: server-sent events, lines, or the pieces as they come.

use bytes::Bytes;
use memchr::memchr;
use wire::{EventStream, ServerEvent};

/// Bytes of one line. A longer one ends the stream: it would be held until it is whole.
const LINE_BYTES_MAX: usize = 16 << 20;

/// How a body is taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Server-sent events.
    Events,
    /// Lines that are not empty, such as those of NDJSON.
    Lines,
    /// Pieces as they were received.
    Pieces,
}

impl Format {
    pub(super) const NAMES: [(&str, Format); 3] =
        [("events", Format::Events), ("lines", Format::Lines), ("pieces", Format::Pieces)];

    /// The format of a body with this `Content-Type`.
    pub(super) fn of_content_type(content_type: &[u8]) -> Format {
        let kind = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let is = |known: &str| kind.eq_ignore_ascii_case(known.as_bytes());
        match () {
            () if is("text/event-stream") => Format::Events,
            () if [
                "application/x-ndjson",
                "application/ndjson",
                "application/jsonl",
                "application/json-lines",
            ]
            .into_iter()
            .any(is) =>
            {
                Format::Lines
            }
            () => Format::Pieces,
        }
    }
}

/// One item of a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    Event(ServerEvent),
    Line(Bytes),
    Piece(Bytes),
}

impl Item {
    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Item::Event(event) => event.id.len() + event.name.len() + event.data.len() + event.comment.len(),
            Item::Line(bytes) | Item::Piece(bytes) => bytes.len(),
        }
    }

    /// Whether it counts as an event: comments keep a connection open and say nothing, pieces are cut anywhere.
    pub(super) fn is_counted(&self) -> bool {
        match self {
            Item::Event(event) => !(event.data.is_empty() && event.name.is_empty() && event.id.is_empty()),
            Item::Line(_) => true,
            Item::Piece(_) => false,
        }
    }
}

/// Takes a body apart.
pub(super) enum Parser {
    Events(EventStream),
    Lines(Vec<u8>),
    Pieces,
}

impl Parser {
    pub(super) fn new(format: Format) -> Parser {
        match format {
            Format::Events => Parser::Events(EventStream::default()),
            Format::Lines => Parser::Lines(Vec::new()),
            Format::Pieces => Parser::Pieces,
        }
    }

    /// Takes the next bytes and hands each item that they complete to `item`.
    ///
    /// # Errors
    /// A text for the user: an item is too large.
    pub(super) fn feed(&mut self, bytes: &[u8], mut item: impl FnMut(Item)) -> Result<(), String> {
        match self {
            Parser::Events(events) => {
                events.feed(bytes, |event| item(Item::Event(event))).map_err(|fault| fault.to_string())
            }
            Parser::Lines(partial) => {
                let mut rest = bytes;
                while let Some(end) = memchr(b'\n', rest) {
                    partial.extend_from_slice(&rest[..end]);
                    rest = &rest[end + 1..];
                    if let Some(line) = taken(partial) {
                        item(line);
                    }
                }
                partial.extend_from_slice(rest);
                if partial.len() <= LINE_BYTES_MAX {
                    return Ok(());
                }
                Err(format!("a line exceeds the limit of {} MiB", LINE_BYTES_MAX >> 20))
            }
            Parser::Pieces => {
                item(Item::Piece(Bytes::copy_from_slice(bytes)));
                Ok(())
            }
        }
    }

    /// The item that the end of the body completes: servers leave out the last line end.
    pub(super) fn end(&mut self) -> Option<Item> {
        match self {
            Parser::Events(events) => events.end().map(Item::Event),
            Parser::Lines(partial) => taken(partial),
            Parser::Pieces => None,
        }
    }
}

/// Takes a line without its end; `None` for an empty one.
fn taken(partial: &mut Vec<u8>) -> Option<Item> {
    let mut line = std::mem::take(partial);
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    (!line.is_empty()).then(|| Item::Line(line.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(text: &str, piece_bytes: usize) -> Vec<String> {
        let mut parser = Parser::new(Format::Lines);
        let mut items = Vec::new();
        for piece in text.as_bytes().chunks(piece_bytes) {
            parser.feed(piece, |item| items.push(item)).expect("short lines");
        }
        items.extend(parser.end());
        let text = |item: &Item| match item {
            Item::Line(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => panic!("{other:?}"),
        };
        items.iter().map(text).collect()
    }

    #[test]
    fn lines_are_the_same_in_pieces_of_every_size() {
        for piece_bytes in [1, 2, 3, 100] {
            assert_eq!(
                lines_of("{\"a\":1}\r\n\n\r\n{\"a\":2}\n{}", piece_bytes),
                ["{\"a\":1}", "{\"a\":2}", "{}"]
            );
        }
    }

    #[test]
    fn a_line_without_an_end_is_refused() {
        let mut parser = Parser::new(Format::Lines);
        let piece = vec![b'x'; 1 << 20];
        let fed = (0..17).map(|_| parser.feed(&piece, |_| ())).collect::<Result<Vec<()>, _>>();
        assert_eq!(fed, Err("a line exceeds the limit of 16 MiB".to_owned()));
    }

    #[test]
    fn the_content_type_names_the_format() {
        let check =
            |given: &str, expect| assert_eq!(Format::of_content_type(given.as_bytes()), expect, "{given}");
        check("text/event-stream", Format::Events);
        check("Text/Event-Stream; charset=utf-8", Format::Events);
        check("application/x-ndjson", Format::Lines);
        check("application/json", Format::Pieces);
        check("", Format::Pieces);
    }
}
