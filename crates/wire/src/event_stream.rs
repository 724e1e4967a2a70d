//! Server-sent events found in a stream of bytes, however they are cut into pieces (WHATWG HTML, 9.2.6).
//!
//! It does no I/O: it is fed, and it gives the events that are whole. Lines end with LF, CR or both. A field without a name is a
//! comment. An event without `data` is none for browsers, but one with other fields is shown, so that nothing that a server
//! sends is lost.

use std::fmt;

use memchr::memchr2;

/// Bytes of one event, its names and line ends included. A larger one ends the stream: it would be held until it is whole.
const EVENT_BYTES_MAX: usize = 16 << 20;

/// One event as the server sent it. Texts that are not UTF-8 have replacement characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerEvent {
    /// The last `id`; empty where it has none.
    pub id: String,
    /// The last `event`; empty where it has none.
    pub name: String,
    /// The lines of `data`, joined by line feeds.
    pub data: String,
    /// The lines of comments, joined by line feeds.
    pub comment: String,
}

/// The event exceeds 16 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamFault;

impl fmt::Display for StreamFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "an event exceeds the limit of {} MiB; is the response a stream of events?",
            EVENT_BYTES_MAX >> 20
        )
    }
}

impl std::error::Error for StreamFault {}

/// Finds the events of one stream.
#[derive(Debug, Default)]
pub struct EventStream {
    /// The beginning of a line whose end has not come yet.
    partial: Vec<u8>,
    event: ServerEvent,
    has_data: bool,
    has_comment: bool,
    /// Whether any field came since the last event.
    is_begun: bool,
    event_bytes: usize,
    /// Whether the last byte was a CR, whose LF is not the end of another line.
    was_return: bool,
    /// Whether the first line has come; it may begin with a byte order mark.
    is_past_mark: bool,
}

impl EventStream {
    /// Takes the next bytes and hands each event that they complete to `event`.
    ///
    /// # Errors
    /// An event is too large. Nothing more can be read.
    pub fn feed(&mut self, bytes: &[u8], mut event: impl FnMut(ServerEvent)) -> Result<(), StreamFault> {
        let mut rest = bytes;
        if std::mem::take(&mut self.was_return) && rest.first() == Some(&b'\n') {
            rest = &rest[1..];
        }
        while let Some(end) = memchr2(b'\n', b'\r', rest) {
            self.count(end + 1)?;
            let is_return = rest[end] == b'\r';
            let (line, behind) = (&rest[..end], &rest[end + 1..]);
            rest = behind;
            if is_return {
                match rest.first() {
                    Some(b'\n') => rest = &rest[1..],
                    Some(_) => {}
                    None => self.was_return = true,
                }
            }
            let ended = if self.partial.is_empty() {
                self.take_line(line)
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(line);
                let ended = self.take_line(&whole);
                whole.clear();
                self.partial = whole;
                ended
            };
            if let Some(ended) = ended {
                event(ended);
            }
        }
        self.count(rest.len())?;
        self.partial.extend_from_slice(rest);
        Ok(())
    }

    /// Takes the event that the end of the stream leaves without its empty line. Browsers forget it, but servers that end in
    /// order have sent all of it. A line that has no end is not taken.
    pub fn end(&mut self) -> Option<ServerEvent> {
        let is_whole = self.partial.is_empty() && std::mem::take(&mut self.is_begun);
        is_whole.then(|| std::mem::take(&mut self.event))
    }

    fn count(&mut self, bytes: usize) -> Result<(), StreamFault> {
        self.event_bytes += bytes;
        if self.event_bytes > EVENT_BYTES_MAX { Err(StreamFault) } else { Ok(()) }
    }

    /// Takes a whole line; an empty one ends the event.
    fn take_line(&mut self, line: &[u8]) -> Option<ServerEvent> {
        let line =
            if self.is_past_mark { line } else { line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line) };
        self.is_past_mark = true;
        if line.is_empty() {
            self.event_bytes = 0;
            (self.has_data, self.has_comment) = (false, false);
            return std::mem::take(&mut self.is_begun).then(|| std::mem::take(&mut self.event));
        }
        let (name, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
        match name {
            b"data" => join(&mut self.event.data, &mut self.has_data, &value),
            b"" => join(&mut self.event.comment, &mut self.has_comment, &value),
            b"event" => self.event.name = value.into_owned(),
            // An id with a zero byte is ignored.
            b"id" if !value.contains('\0') => self.event.id = value.into_owned(),
            // `retry` is for clients that connect again, and unknown fields are ignored.
            _ => return None,
        }
        self.is_begun = true;
        None
    }
}

/// Adds a line to those before it.
fn join(lines: &mut String, has_any: &mut bool, line: &str) {
    if std::mem::replace(has_any, true) {
        lines.push('\n');
    }
    lines.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of `bytes` fed in pieces, the one that the end completes in brackets.
    fn events_of(bytes: &[u8], piece_bytes: usize) -> Vec<String> {
        let mut stream = EventStream::default();
        let shown =
            |event: ServerEvent| format!("{}|{}|{}|{}", event.id, event.name, event.data, event.comment);
        let mut events = Vec::new();
        for piece in bytes.chunks(piece_bytes) {
            stream.feed(piece, |event| events.push(shown(event))).expect("small events");
        }
        events.extend(stream.end().map(|event| format!("[{}]", shown(event))));
        events
    }

    /// Feeds `text` in pieces of every size and checks that each gives the same.
    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        for piece_bytes in [text.len().max(1), 1, 2, 3, 7] {
            assert_eq!(events_of(text.as_bytes(), piece_bytes), expect, "{text:?} by {piece_bytes}");
        }
    }

    #[test]
    fn events_by_the_standard() {
        check("data: YHOO\ndata: +2\ndata: 10\n\n", &["||YHOO\n+2\n10|"]);
        check("id: 1\nevent: a\ndata:x\n\ndata:  y\n\n", &["1|a|x|", "|| y|"]);
        check("data\n\ndata\ndata\n\ndata:", &["|||", "||\n|"]);
        check(": hello\n\n:again\ndata: x\n\n", &["|||hello", "||x|again"]);
        check("\u{feff}data: a\r\n\r\ndata: b\r\rdata: c\n\n", &["||a|", "||b|", "||c|"]);
        check("\n\n\r\n\r", &[]);
        check("retry: 10\n\nunknown: x\n\n", &[]);
        check("data: [DONE]\n\n", &["||[DONE]|"]);
        check("data: last\n", &["[||last|]"]);
        check("data: cut\ndata: in the mid", &[]);
        check("id: a\0b\ndata: x\n\n", &["||x|"]);
    }

    #[test]
    fn events_without_an_end_are_refused() {
        let mut stream = EventStream::default();
        let piece = vec![b'x'; 1 << 20];
        let fed = (0..=16).map(|_| stream.feed(&piece, |_| ())).collect::<Result<Vec<()>, _>>();
        assert_eq!(fed, Err(StreamFault));
        let mut lines = EventStream::default();
        let line = [b"data: ".as_slice(), &piece, b"\n"].concat();
        let fed = (0..16).map(|_| lines.feed(&line, |_| ())).collect::<Result<Vec<()>, _>>();
        assert_eq!(fed, Err(StreamFault), "lines of one event count together");
        let mut many = EventStream::default();
        let whole = [b"data: ".as_slice(), &piece, b"\n\n"].concat();
        let mut events = 0;
        (0..40).for_each(|_| many.feed(&whole, |_| events += 1).expect("each is small"));
        assert_eq!(events, 40);
    }

    #[test]
    fn bytes_that_are_not_text_are_replaced() {
        assert_eq!(events_of(b"data: \xff\xfe\n\n", 4), ["||\u{fffd}\u{fffd}|"]);
    }
}
