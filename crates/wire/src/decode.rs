//! Reading a response out of bytes, however they are cut into pieces (RFC 9112).
//!
//! The decoder does no I/O: it is fed, and it says when the response is complete.

use std::sync::Arc;

use bytes::Bytes;

use crate::budget::{BodyBudget, BodyBuffer};
use crate::chunked::Chunked;
use crate::error::Error;
use crate::fault::{Fault, cut, malformed, malformed_body, too_large};
use crate::head::{Framing, Head, find_head_end, parse_head};
use crate::limits::{DIRECT_BYTES_MIN, HEAD_BYTES_MAX, INTERIM_MAX, READ_BYTES, SKIPPED_BYTES_MAX};
use crate::response::Response;
use crate::tap::Flow;

/// Reads one response.
pub(crate) struct Decoder<'b> {
    is_head_request: bool,
    keep_body: bool,
    state: State,
    /// The beginning of a head whose end has not come yet.
    partial: Vec<u8>,
    interim_count: u32,
    head: Option<Head>,
    /// The body where it comes in several pieces.
    body: BodyBuffer<'b>,
    /// The body where it came in one piece.
    whole_body: Bytes,
    body_bytes: u64,
    /// Takes the body in place of `body`, where the request asks for that.
    pub(crate) flow: Flow<'b>,
}

enum State {
    Head,
    Length { left: u64 },
    Chunked(Chunked),
    UntilClose,
    Done,
}

impl<'b> Decoder<'b> {
    /// A decoder for the response to a request; its body takes from `budget` or goes into `flow`.
    pub(crate) fn new(
        is_head_request: bool,
        keep_body: bool,
        budget: &'b Arc<BodyBudget>,
        flow: Flow<'b>,
    ) -> Decoder<'b> {
        Decoder {
            flow,
            is_head_request,
            keep_body,
            state: State::Head,
            partial: Vec::new(),
            interim_count: 0,
            head: None,
            body: BodyBuffer::new(budget),
            whole_body: Bytes::new(),
            body_bytes: 0,
        }
    }

    /// Whether the response is complete.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Whether the connection can carry another exchange; meaningful when the response is complete.
    pub(crate) fn is_reusable(&self) -> bool {
        self.head
            .as_ref()
            .is_some_and(|head| head.keeps_alive && !matches!(head.framing, Framing::UntilClose))
            && !self.flow.is_stopped()
    }

    /// Ends the response here: the rest of its body is not wanted.
    pub(crate) fn stop(&mut self) {
        self.state = State::Done;
    }

    /// Takes the next bytes; gives how many of them belong to the response (fewer than given only at its end).
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        let mut used = 0;
        while used < bytes.len() && !self.is_done() {
            used += self.step(&bytes[used..])?;
        }
        Ok(used)
    }

    /// Where the next bytes of a long body may be read to, without a copy; then [`Self::filled`] takes them.
    pub(crate) fn room(&mut self) -> Result<Option<&mut [u8]>, Fault> {
        match self.state {
            State::Length { left } if left >= DIRECT_BYTES_MIN && self.keep_body && !self.flow.is_open() => {
                let bytes = usize::try_from(left).unwrap_or(usize::MAX).min(READ_BYTES);
                self.body.room(bytes).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// How many of the next bytes are of no use to anyone, if they are many. They need not be read; then [`Self::filled`] takes their
    /// number.
    pub(crate) fn unwanted_bytes(&self) -> Option<usize> {
        match self.state {
            State::Length { left } if left >= DIRECT_BYTES_MIN && !self.keep_body && !self.flow.is_open() => {
                Some(usize::try_from(left).unwrap_or(usize::MAX).min(SKIPPED_BYTES_MAX))
            }
            _ => None,
        }
    }

    /// So many bytes, at least one, were read into the [`Self::room`], or were [unwanted](Self::unwanted_bytes).
    pub(crate) fn filled(&mut self, bytes: usize) {
        if self.keep_body {
            self.body.filled(bytes);
        }
        self.body_bytes += bytes as u64;
        self.state = match self.state {
            State::Length { left } if left > bytes as u64 => State::Length { left: left - bytes as u64 },
            _ => State::Done,
        };
    }

    /// The peer sends nothing more.
    pub(crate) fn end(&mut self) -> Result<(), Fault> {
        match self.state {
            State::Done => Ok(()),
            State::UntilClose => {
                self.state = State::Done;
                Ok(())
            }
            State::Head if self.partial.is_empty() && self.interim_count == 0 => Err(cut("EOF")),
            _ => Err(cut("unexpected EOF")),
        }
    }

    /// The complete response.
    ///
    /// # Errors
    /// It is not complete.
    pub(crate) fn into_response(mut self) -> Result<Response, Error> {
        let Some(head) = self.head.filter(|_| matches!(self.state, State::Done)) else {
            return Err(*cut("unexpected EOF"));
        };
        let body = if self.whole_body.is_empty() { self.body.take() } else { self.whole_body };
        let (status, proto, headers) = (head.status, head.proto, head.headers);
        Ok(Response { status, proto, headers, body, body_bytes: self.body_bytes })
    }

    fn step(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        match &mut self.state {
            State::Head => self.step_head(bytes),
            State::Length { left } => {
                let take = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= take as u64;
                let is_last = *left == 0;
                self.take_body(&bytes[..take], is_last)?;
                if is_last {
                    self.state = State::Done;
                }
                Ok(take)
            }
            State::Chunked(chunked) => {
                let piece = chunked.step(bytes)?;
                let is_done = piece.is_done;
                self.take_body(&bytes[piece.data], false)?;
                if is_done {
                    self.state = State::Done;
                }
                Ok(piece.used)
            }
            State::UntilClose => {
                self.take_body(bytes, false)?;
                Ok(bytes.len())
            }
            State::Done => Ok(0),
        }
    }

    fn step_head(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        if self.partial.is_empty() {
            // Nearly always the whole head comes at once and is parsed where it lies.
            match parse_head(bytes, self.is_head_request)? {
                Some(head) => {
                    let used = head.bytes;
                    self.begin_body(head)?;
                    return Ok(used);
                }
                None => return self.keep_partial_head(bytes),
            }
        }
        // The end is looked for before anything is parsed again: a head that drips in byte by byte must not cost the
        // square of its size. The end may lie across two pieces, by up to three bytes.
        let known = self.partial.len();
        let room = HEAD_BYTES_MAX.saturating_sub(known).min(bytes.len());
        self.partial.extend_from_slice(&bytes[..room]);
        let Some(end) = find_head_end(&self.partial, known.saturating_sub(3)) else {
            self.partial.truncate(known);
            return self.keep_partial_head(bytes);
        };
        let partial = std::mem::take(&mut self.partial);
        match parse_head(&partial[..end], self.is_head_request)? {
            Some(head) => self.begin_body(head)?,
            None => return Err(malformed("malformed HTTP response")),
        }
        Ok(end - known)
    }

    fn keep_partial_head(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        if self.partial.len() + bytes.len() >= HEAD_BYTES_MAX {
            let message =
                format!("net/http: server response headers exceeded {HEAD_BYTES_MAX} bytes; aborted");
            return Err(too_large(message));
        }
        self.partial.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn begin_body(&mut self, head: Head) -> Result<(), Fault> {
        if head.status == 101 {
            let reason = String::from_utf8_lossy(head.headers.reason()).into_owned();
            return Err(malformed_body(format!("unsupported response status: 101 {reason}").trim_end()));
        }
        if head.status < 200 {
            self.interim_count += 1;
            if self.interim_count > INTERIM_MAX {
                return Err(malformed("net/http: too many 1xx informational responses"));
            }
            return Ok(());
        }
        self.flow.begin(head.status, head.proto, &head.headers)?;
        self.state = match head.framing {
            Framing::None | Framing::Length(0) => State::Done,
            Framing::Length(left) => {
                self.check_body_bytes(left)?;
                State::Length { left }
            }
            Framing::Chunked => State::Chunked(Chunked::default()),
            Framing::UntilClose => State::UntilClose,
        };
        self.head = Some(head);
        Ok(())
    }

    fn take_body(&mut self, bytes: &[u8], is_last: bool) -> Result<(), Fault> {
        self.body_bytes += bytes.len() as u64;
        if self.flow.is_open() {
            self.flow.take(bytes);
            return Ok(());
        }
        if !self.keep_body || bytes.is_empty() {
            return Ok(());
        }
        self.check_body_bytes(self.body_bytes)?;
        if is_last && self.body.is_empty() {
            self.whole_body = Bytes::copy_from_slice(bytes);
            return Ok(());
        }
        let announced_bytes = if let State::Length { left } = self.state { left } else { 0 };
        self.body.push(bytes, announced_bytes)
    }

    fn check_body_bytes(&self, body_bytes: u64) -> Result<(), Fault> {
        if self.keep_body && !self.flow.is_open() { self.body.check(body_bytes) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::BODY_BYTES_MAX;

    /// Feeds `bytes` in pieces of every size and checks that each gives the same.
    fn check(request_is_head: bool, bytes: &[u8], closes: bool, expect: &str) {
        for piece_bytes in [bytes.len().max(1), 1, 2, 3, 7] {
            assert_eq!(
                decode(request_is_head, true, bytes, piece_bytes, closes),
                expect,
                "pieces of {piece_bytes}"
            );
        }
    }

    fn decode(is_head: bool, keep_body: bool, bytes: &[u8], piece_bytes: usize, closes: bool) -> String {
        let budget = BodyBudget::of_memory(None);
        let mut decoder = Decoder::new(is_head, keep_body, &budget, Flow::default());
        let mut used = 0;
        for piece in bytes.chunks(piece_bytes) {
            match decoder.feed(piece) {
                Ok(taken) => used += taken,
                Err(error) => return format!("{:?} {}", error.kind, error.message),
            }
            if decoder.is_done() {
                break;
            }
        }
        if closes && let Err(error) = decoder.end() {
            return format!("{:?} {}", error.kind, error.message);
        }
        if !decoder.is_done() {
            return "more".to_owned();
        }
        let reuse = if decoder.is_reusable() { "keep" } else { "close" };
        let extra = bytes.len() - used;
        let response = decoder.into_response().unwrap();
        let body = String::from_utf8_lossy(&response.body).into_owned();
        let extra = if extra == 0 { String::new() } else { format!(" +{extra}") };
        format!("{} {} {body:?} {} {reuse}{extra}", response.proto, response.status, response.body_bytes)
    }

    #[test]
    fn bodies_are_framed() {
        let ok = |bytes: &str, expect| check(false, bytes.as_bytes(), false, expect);
        ok("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 200 \"hello\" 5 keep");
        ok("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 \"\" 0 keep");
        ok("HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", "HTTP/1.1 200 \"hi\" 2 keep");
        ok("HTTP/1.1 204 No\r\n\r\n", "HTTP/1.1 204 \"\" 0 keep");
        ok("HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 304 \"\" 0 keep");
        ok(
            "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\ncontent-length: 2\r\n\r\nhi",
            "HTTP/1.1 200 \"hi\" 2 keep",
        );
        ok(
            "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n\r\na",
            "HTTP/1.1 200 \"a\" 1 close",
        );
        ok("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", "HTTP/1.0 200 \"a\" 1 close");
        ok(
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na",
            "HTTP/1.0 200 \"a\" 1 keep",
        );
        ok("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", "more");
        ok("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", "more");
    }

    #[test]
    fn long_bodies_may_be_read_in_place() {
        let body: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let budget = BodyBudget::of_memory(None);
        for (begun_bytes, piece_bytes) in [(0, 7_001), (1, 64), (50_000, READ_BYTES), (195_000, READ_BYTES)] {
            let mut decoder = Decoder::new(false, true, &budget, Flow::default());
            assert!(decoder.room().unwrap().is_none(), "no head came yet");
            decoder.feed(&[head.as_bytes(), &body[..begun_bytes]].concat()).unwrap();
            let mut at = begun_bytes;
            while at < body.len() {
                let mut filled_bytes = 0;
                if let Some(room) = decoder.room().unwrap() {
                    filled_bytes = piece_bytes.min(room.len());
                    room[..filled_bytes].copy_from_slice(&body[at..at + filled_bytes]);
                }
                match filled_bytes {
                    0 => at += decoder.feed(&body[at..]).unwrap(),
                    _ => decoder.filled(filled_bytes),
                }
                at += filled_bytes;
            }
            let response = decoder.into_response().expect("all of it came");
            assert!(response.body == body && response.body_bytes == 200_000, "{begun_bytes} {piece_bytes}");
        }
        assert_eq!(budget.held_bytes(), 0);
    }

    #[test]
    fn rooms_are_for_long_bodies_that_are_kept() {
        let budget = BodyBudget::of_memory(None);
        let check = |keep_body, head: &str, expect| {
            let mut decoder = Decoder::new(false, keep_body, &budget, Flow::default());
            decoder.feed(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes()).unwrap();
            let room = decoder.room().unwrap().map(|room| room.len());
            assert_eq!(room, expect, "{keep_body} {head}");
        };
        check(true, "Content-Length: 1000000", Some(READ_BYTES));
        check(true, "Content-Length: 10000", Some(10_000));
        check(true, "Content-Length: 1000", None);
        check(false, "Content-Length: 1000000", None);
        check(true, "Transfer-Encoding: chunked", None);
        check(true, "Connection: close", None);
    }

    #[test]
    fn long_bodies_that_are_not_kept_are_unwanted() {
        let budget = BodyBudget::of_memory(None);
        let check = |keep_body, head: &str, expect| {
            let mut decoder = Decoder::new(false, keep_body, &budget, Flow::default());
            decoder.feed(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\nbegin").as_bytes()).unwrap();
            assert_eq!(decoder.unwanted_bytes(), expect, "{keep_body} {head}");
        };
        check(false, "Content-Length: 10005", Some(10_000));
        check(false, "Content-Length: 1000000", Some(SKIPPED_BYTES_MAX));
        check(false, "Content-Length: 1000", None);
        check(true, "Content-Length: 1000000", None);
        check(false, "Connection: close", None);
        let mut decoder = Decoder::new(false, false, &budget, Flow::default());
        decoder.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n").unwrap();
        decoder.filled(9_999);
        assert!(!decoder.is_done());
        decoder.filled(1);
        assert!(decoder.is_done() && decoder.is_reusable());
        assert_eq!(decoder.into_response().unwrap().body.len(), 0);
    }

    #[test]
    fn chunks_are_joined() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let ok = |bytes: &str, expect| check(false, format!("{head}{bytes}").as_bytes(), false, expect);
        ok("0\r\n\r\n", "HTTP/1.1 200 \"\" 0 keep");
        ok("5\r\nhello\r\n0\r\n\r\n", "HTTP/1.1 200 \"hello\" 5 keep");
        ok("2;a=\"b\"\r\nhe\r\n00A \r\n0123456789\r\n0;x\r\n\r\n", "HTTP/1.1 200 \"he0123456789\" 12 keep");
        ok("1\na\n0\n\n", "HTTP/1.1 200 \"a\" 1 keep");
        ok("1\r\na\r\n0\r\nDigest: x\r\nY: z\r\n\r\n", "HTTP/1.1 200 \"a\" 1 keep");
        ok("1\r\na\r\n", "more");
        let both =
            "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n";
        check(false, both.as_bytes(), false, "HTTP/1.1 200 \"a\" 1 keep");
    }

    #[test]
    fn broken_chunks_are_refused() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let bad = |bytes: &str, expect| check(false, format!("{head}{bytes}").as_bytes(), true, expect);
        bad("zz\r\n", "Malformed invalid byte in chunk length");
        bad("\r\n", "Malformed empty chunk length");
        bad("11111111111111111\r\n", "Malformed http chunk length too large");
        bad("1\r\nabc\r\n", "Malformed malformed chunked encoding");
        bad("1 2\r\na\r\n", "Malformed invalid byte in chunk length");
        bad("5\r\nabc", "Cut unexpected EOF");
        bad("0\r\n", "Cut unexpected EOF");
        bad(&format!("1;{}", "x".repeat(5000)), "TooLarge http: chunk line longer than 4096 bytes");
        bad(
            &format!("0\r\n{}", "X: y\r\n".repeat(12_000)),
            "TooLarge http: trailers longer than 65536 bytes",
        );
    }

    #[test]
    fn heads_decide_whether_a_body_follows() {
        check(true, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", false, "HTTP/1.1 200 \"\" 0 keep");
        check(
            true,
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            false,
            "HTTP/1.1 200 \"\" 0 keep",
        );
        check(false, b"HTTP/1.1 200 OK\r\n\r\nall of it", true, "HTTP/1.1 200 \"all of it\" 9 close");
        check(false, b"HTTP/1.1 200 OK\r\n\r\n", true, "HTTP/1.1 200 \"\" 0 close");
        check(false, b"HTTP/1.1 200 OK\r\n\r\nnot yet", false, "more");
    }

    #[test]
    fn interim_responses_are_skipped() {
        let hint = "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n";
        let fine =
            format!("HTTP/1.1 100 Continue\r\n\r\n{hint}HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
        check(false, fine.as_bytes(), false, "HTTP/1.1 200 \"a\" 1 keep");
        let endless = hint.repeat(6);
        check(false, endless.as_bytes(), false, "Malformed net/http: too many 1xx informational responses");
        check(false, hint.as_bytes(), true, "Cut unexpected EOF");
        let switched = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n";
        check(false, switched, false, "Malformed unsupported response status: 101 Switching Protocols");
    }

    #[test]
    fn what_is_no_response_is_refused() {
        let bad = |bytes: &str, expect| check_whole(bytes.as_bytes(), expect);
        bad("garbage\r\n\r\n", "Malformed malformed HTTP response \"garbage\"");
        bad("HTTP/3.1 200 OK\r\n\r\n", "Malformed malformed HTTP version in \"HTTP/3.1 200 OK\"");
        bad("HTTP/1.1 20x OK\r\n\r\n", "Malformed malformed HTTP status code in \"HTTP/1.1 20x OK\"");
        bad(
            "HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
            "Malformed malformed MIME header in \"HTTP/1.1 200 OK\"",
        );
        bad("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "Malformed bad Content-Length \"x\"");
        bad("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "Malformed bad Content-Length \"-1\"");
        bad(
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "Malformed bad Content-Length \"99999999999999999999\"",
        );
        bad(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            "Malformed unsupported transfer encoding: \"gzip\"",
        );
        bad(
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            "Malformed http: message cannot contain multiple Content-Length headers; got [\"1\" \"2\"]",
        );
        bad("", "Cut EOF");
        bad("HTTP/1.1 200 OK\r\nConte", "Cut unexpected EOF");
        bad("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "Cut unexpected EOF");
    }

    fn check_whole(bytes: &[u8], expect: &str) {
        assert_eq!(decode(false, true, bytes, bytes.len().max(1), true), expect);
    }

    #[test]
    fn heads_have_limits() {
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(1025));
        check_whole(many.as_bytes(), "TooLarge response has more than 1024 headers");
        let most = format!("HTTP/1.1 204 OK\r\n{}\r\n", "A: b\r\n".repeat(1024));
        check_whole(most.as_bytes(), "HTTP/1.1 204 \"\" 0 keep");
        let long = format!("HTTP/1.1 200 OK\r\nA: {}", "b".repeat(1 << 20));
        let expect = "TooLarge net/http: server response headers exceeded 1048576 bytes; aborted";
        check_whole(long.as_bytes(), expect);
        assert_eq!(decode(false, true, long.as_bytes(), 1000, true), expect);
    }

    #[test]
    fn continuation_lines_are_unfolded() {
        let bytes = b"HTTP/1.1 200 OK\r\nA: b\r\n\tc\r\nContent-Length: 0\r\n\r\n";
        let budget = BodyBudget::of_memory(None);
        let mut decoder = Decoder::new(false, true, &budget, Flow::default());
        decoder.feed(bytes).unwrap();
        let response = decoder.into_response().unwrap();
        assert_eq!(response.headers.get("a"), Some(&b"b  \tc"[..]));
        assert_eq!(response.headers.iter().count(), 2);
    }

    #[test]
    fn bytes_behind_a_response_are_left_alone() {
        check_whole(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1", "HTTP/1.1 200 \"a\" 1 keep +8");
    }

    #[test]
    fn bodies_not_kept_may_be_of_any_size_and_kept_ones_not() {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", BODY_BYTES_MAX + 1);
        assert!(
            decode(false, true, head.as_bytes(), 4096, false).starts_with("TooLarge response body exceeds")
        );
        let budget = BodyBudget::of_memory(None);
        let mut decoder = Decoder::new(false, false, &budget, Flow::default());
        decoder.feed(head.as_bytes()).unwrap();
        let piece = vec![0; 1 << 20];
        while !decoder.is_done() {
            decoder.feed(&piece).unwrap();
        }
        let response = decoder.into_response().unwrap();
        assert_eq!((response.body.len(), response.body_bytes), (0, BODY_BYTES_MAX + 1));
    }

    /// Lines that responses are made of, good and bad.
    const PARTS: [&str; 16] = [
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.0 204\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "Content-Length: 5\r\n",
        "Content-Length: 18446744073709551615\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Connection: close\r\n",
        " folded\r\n",
        "A: b\n",
        "\r\n",
        "5\r\nhello\r\n",
        "FFFFFFFFFFFFFFFF\r\n",
        "0\r\n",
        "1;x=y\r\n",
        "\0\u{7f}",
        "hello",
    ];

    proptest::proptest! {
        /// No bytes make the decoder panic, and how they are cut changes nothing, but that a bad head may be found
        /// out at its first line or at its end.
        #[test]
        fn cuts_between_bytes_do_not_matter(
            parts in proptest::collection::vec(0..PARTS.len(), 0..12),
            starts_well: bool,
            piece_bytes in 1_usize..20,
            is_head: bool,
        ) {
            let parts: String = parts.into_iter().map(|part| PARTS[part]).collect();
            let bytes = if starts_well { format!("HTTP/1.1 200 OK\r\n{parts}") } else { parts };
            let whole = decode(is_head, true, bytes.as_bytes(), bytes.len().max(1), true);
            let cut = decode(is_head, true, bytes.as_bytes(), piece_bytes, true);
            let is_bad = |outcome: &str| outcome.starts_with("Malformed") || outcome.starts_with("Cut");
            // What lies behind a response in the same piece is counted; in a later piece it is not looked at.
            let core = |outcome: &str| outcome.split(" +").next().unwrap_or_default().to_owned();
            proptest::prop_assert!(core(&whole) == core(&cut) || (is_bad(&whole) && is_bad(&cut)), "{whole} / {cut}");
        }
    }
}
