//! Servers that misbehave: resets, cuts, silence, and bytes that are no HTTP.

use std::time::Duration;

use bytes::Bytes;

use super::Route;
use crate::reply::{Reply, ReplyEnd, Step};
use crate::request::Request;

/// The longest wait a query can ask for.
const MAX_WAIT_MS: u64 = 600_000;

/// The largest head that `/huge-head` writes.
const MAX_HUGE_HEAD_BYTES: u64 = 64 << 20;

pub(super) const ROUTES: &[Route] = &[
    Route { segment: "reset", answer: |_, _| Reply::silence(vec![], ReplyEnd::Reset) },
    Route { segment: "reset-after-head", answer: reset_after_head },
    Route { segment: "cut", answer: cut },
    Route { segment: "cut-chunked", answer: cut_chunked },
    Route { segment: "empty", answer: |_, _| Reply::silence(vec![], ReplyEnd::Close) },
    Route { segment: "malformed", answer: malformed },
    Route { segment: "hang", answer: |_, _| Reply::silence(vec![Step::Hang], ReplyEnd::Close) },
    Route { segment: "hang-after-head", answer: hang_after_head },
    Route { segment: "slow-head", answer: slow_head },
    Route { segment: "early-close-idle", answer: early_close_idle },
    Route { segment: "huge-head", answer: huge_head },
];

/// Promises 100 bytes, sends none, resets.
fn reset_after_head(_: &Request, _: &[&str]) -> Reply {
    Reply::stream(200, &[("content-length", "100")], vec![]).ending(ReplyEnd::Reset)
}

/// Promises 100 bytes, sends 10, closes in order.
fn cut(_: &Request, _: &[&str]) -> Reply {
    let body = vec![Step::Write(Bytes::from_static(b"0123456789"))];
    Reply::stream(200, &[("content-length", "100")], body).ending(ReplyEnd::Close)
}

/// Closes in the middle of a chunk.
fn cut_chunked(_: &Request, _: &[&str]) -> Reply {
    let body = vec![Step::Write(Bytes::from_static(b"a\r\n01234"))];
    Reply::stream(200, &[("transfer-encoding", "chunked")], body).ending(ReplyEnd::Close)
}

/// `/malformed[/KIND]`: what no client can read. The status counted is the one a hurried reader would take.
fn malformed(_: &Request, rest: &[&str]) -> Reply {
    let (status, bytes): (u16, &'static str) = match rest.first().copied().unwrap_or("status-line") {
        "status-line" => (0, "this is no HTTP\r\n\r\n"),
        "status" => (0, "HTTP/1.1 abc Bad\r\ncontent-length: 0\r\n\r\n"),
        "header" => (200, "HTTP/1.1 200 OK\r\nno colon here\r\ncontent-length: 0\r\n\r\n"),
        "length" => (200, "HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\nmany"),
        "two-lengths" => (200, "HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd"),
        "chunk" => (200, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n"),
        "binary" => (0, "\u{0}\u{1}\u{2}\u{3}\r\n\r\n"),
        _ => return Reply::text(404, "no such kind\n"),
    };
    Reply::raw(status, Bytes::from_static(bytes.as_bytes()), bytes.len()).ending(ReplyEnd::Close)
}

/// Sends a head and no body, ever.
fn hang_after_head(_: &Request, _: &[&str]) -> Reply {
    Reply::stream(200, &[("content-length", "100")], vec![Step::Hang])
}

/// `/slow-head?ms=MS`: a head in ten pieces over MS milliseconds (1000 by default).
fn slow_head(request: &Request, _: &[&str]) -> Reply {
    let ms = request.query_number("ms", 1000).min(MAX_WAIT_MS);
    let bytes = Reply::text(200, "slow\n").bytes;
    let piece_bytes = bytes.len().div_ceil(10);
    let pause = Duration::from_millis(ms) / 10;
    let pieces = bytes.chunks(piece_bytes).map(Bytes::copy_from_slice);
    let then = pieces.flat_map(|piece| [Step::Wait(pause), Step::Write(piece)]).collect();
    Reply { then, ..Reply::raw(200, Bytes::new(), 0) }
}

/// `/early-close-idle?ms=MS`: a reply that promises nothing about closing, and a close after MS milliseconds.
fn early_close_idle(request: &Request, _: &[&str]) -> Reply {
    let ms = request.query_number("ms", 0).min(MAX_WAIT_MS);
    let reply = Reply::text(200, "see you\n").ending(ReplyEnd::Close);
    if ms == 0 {
        return reply;
    }
    Reply { then: vec![Step::Wait(Duration::from_millis(ms))], ..reply }
}

/// `/huge-head?bytes=N`: about N bytes of headers, 1 MiB by default.
fn huge_head(request: &Request, _: &[&str]) -> Reply {
    let line = Bytes::from(format!("x-filler: {}\r\n", "x".repeat(1012)));
    let lines = request.query_number("bytes", 1 << 20).min(MAX_HUGE_HEAD_BYTES).div_ceil(line.len() as u64);
    let then = vec![
        Step::Repeat { bytes: lines * line.len() as u64, chunk: line },
        Step::Write(Bytes::from_static(b"content-length: 2\r\n\r\nok")),
    ];
    Reply { then, ..Reply::raw(200, crate::reply::head(200, &[]).into(), 0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Client, Ending};
    use crate::http::start;
    use model::SystemClock;

    #[track_caller]
    fn check(target: &str, starts: &str, ends: &str, ending: Ending, status: u16) {
        let server = start();
        let mut client = Client::new(&server);
        client.write(&format!("GET {target} HTTP/1.1\r\n\r\n"));
        let (bytes, got) = client.rest();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(text.starts_with(starts) && text.ends_with(ends), "{target}: {text:?}");
        assert_eq!(got, ending, "{target}");
        let path = target.split('?').next().unwrap_or("");
        assert_eq!(server.settled().count("GET", path, status), 1, "{target}: {:?}", server.seen());
    }

    #[test]
    fn faults_are_exact() {
        check("/reset", "", "", Ending::Reset, 0);
        check("/reset-after-head", "HTTP/1.1 200 OK\r\n", "content-length: 100\r\n\r\n", Ending::Reset, 200);
        check("/cut", "HTTP/1.1 200 OK\r\n", "content-length: 100\r\n\r\n0123456789", Ending::Closed, 200);
        check("/cut-chunked", "HTTP/1.1 200 OK\r\n", "\r\n\r\na\r\n01234", Ending::Closed, 200);
        check("/empty", "", "", Ending::Closed, 0);
        check("/malformed", "this is no HTTP", "\r\n\r\n", Ending::Closed, 0);
        check("/malformed/chunk", "HTTP/1.1 200 OK", "0\r\n\r\n", Ending::Closed, 200);
        check("/malformed/binary", "\0", "\r\n\r\n", Ending::Closed, 0);
        check("/early-close-idle", "HTTP/1.1 200 OK", "see you\n", Ending::Closed, 200);
        check("/early-close-idle?ms=20", "HTTP/1.1 200 OK", "see you\n", Ending::Closed, 200);
    }

    #[test]
    fn hanging_ends_when_the_client_leaves() {
        let server = start();
        for (target, status) in [("/hang", 0), ("/hang-after-head", 200)] {
            let mut client = Client::new(&server);
            client.write(&format!("GET {target} HTTP/1.1\r\n\r\n"));
            if status == 0 {
                assert!(client.is_silent_for(Duration::from_millis(50)), "{target}");
            }
            drop(client);
        }
        for _ in 0..1000 {
            if server.seen().rows.values().sum::<u64>() == 2 {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let seen = server.settled();
        assert_eq!((seen.count("GET", "/hang", 0), seen.count("GET", "/hang-after-head", 200)), (1, 1));
        assert_eq!(seen.in_flight, 0);
    }

    #[test]
    fn slow_heads_take_their_time() {
        let server = start();
        let before = SystemClock::now();
        assert_eq!(Client::new(&server).get("/slow-head?ms=100").text(), "slow\n");
        assert!(SystemClock::now().ms_since(before) >= 100.0);
    }

    #[test]
    fn huge_heads_are_huge() {
        let response = Client::new(&start()).get("/huge-head?bytes=200000");
        assert!((200_000..202_000).contains(&response.head.len()), "{} bytes", response.head.len());
        assert_eq!(response.text(), "ok");
    }
}
