//! Statuses, sizes, delays and ways to frame a body.

use std::time::Duration;

use bytes::Bytes;
use serde_json::json;

use super::{Route, letters};
use crate::reply::{Reply, ReplyEnd, Step};
use crate::request::Request;

/// The longest wait a path can ask for.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// Bodies up to this size are written in one piece with their head; larger ones are streamed.
const MAX_WHOLE_BODY_BYTES: u64 = 1024 * 1024;

/// The block that a stream repeats.
const STREAM_CHUNK_BYTES: usize = 64 * 1024;

/// Pieces that a dripped or chunked body may have.
const MAX_PIECES: u64 = 10_000;

pub(super) const ROUTES: &[Route] = &[
    Route { segment: "status", answer: status },
    Route { segment: "delay", answer: delay },
    Route { segment: "bytes", answer: bytes },
    Route { segment: "big", answer: big },
    Route { segment: "html", answer: html },
    Route { segment: "json", answer: json_sample },
    Route { segment: "chunked", answer: chunked },
    Route { segment: "close", answer: close },
    Route { segment: "http10", answer: http10 },
    Route { segment: "drip", answer: drip },
];

/// `/status/N`: an empty reply with status N from 200 to 999.
fn status(_: &Request, rest: &[&str]) -> Reply {
    match rest.first().and_then(|status| status.parse().ok()) {
        Some(status @ 200..=999) => Reply::new(status, &[], b""),
        _ => Reply::text(400, "a status is a number from 200 to 999\n"),
    }
}

/// `/delay/MS`: answers after that many milliseconds.
fn delay(_: &Request, rest: &[&str]) -> Reply {
    match rest.first().and_then(|ms| ms.parse().ok()) {
        Some(ms) => Reply::json(200, &json!({"delay_ms": ms})).after(Duration::from_millis(ms).min(MAX_WAIT)),
        None => Reply::text(400, "a delay is a number of milliseconds\n"),
    }
}

/// `/bytes/N`: exactly N bytes.
fn bytes(_: &Request, rest: &[&str]) -> Reply {
    match rest.first().and_then(|bytes| bytes.parse().ok()) {
        Some(bytes) => sized(bytes),
        None => Reply::text(400, "a size is a number of bytes\n"),
    }
}

/// `/big?bytes=N`: a long body (2 GiB by default), of which only a piece is ever stored.
fn big(request: &Request, _: &[&str]) -> Reply {
    sized(request.query_number("bytes", 2 << 30))
}

fn html(_: &Request, _: &[&str]) -> Reply {
    let page = "<!DOCTYPE html>\n<html lang=\"en\"><head><title>testkit</title></head><body>\n\
        <h1 id=\"top\">A page</h1>\n<p class=\"lead\">With a <a href=\"/status/200\">link</a>.</p>\n\
        <form action=\"/post\" method=\"post\"><input type=\"hidden\" name=\"token\" value=\"t0k3n\">\
        <input type=\"text\" name=\"q\"><button type=\"submit\">Send</button></form>\n</body></html>\n";
    Reply::new(200, &[("content-type", "text/html; charset=utf-8")], page.as_bytes())
}

fn json_sample(_: &Request, _: &[&str]) -> Reply {
    let sample = json!({
        "title": "sample", "count": 3, "ratio": 0.5, "none": null, "unicode": "짐 싣기 ⚓",
        "list": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "name": "c"}],
        "nested": {"deep": {"deeper": {"value": 42}}},
    });
    Reply::json(200, &sample)
}

/// `/chunked/N`: N chunks of ten bytes.
fn chunked(_: &Request, rest: &[&str]) -> Reply {
    let Some(chunks) = rest.first().and_then(|chunks| chunks.parse::<u64>().ok()) else {
        return Reply::text(400, "a number of chunks is needed\n");
    };
    let mut then: Vec<Step> =
        (0..chunks.min(MAX_PIECES)).map(|at| Step::Write(format!("a\r\nchunk{at:05}\r\n").into())).collect();
    then.push(Step::Write(Bytes::from_static(b"0\r\n\r\n")));
    Reply::stream(200, &[("content-type", "text/plain"), ("transfer-encoding", "chunked")], then)
}

/// Says that it closes, and does.
fn close(_: &Request, _: &[&str]) -> Reply {
    Reply::new(200, &[("connection", "close")], b"bye\n").ending(ReplyEnd::Close)
}

/// An HTTP/1.0 reply whose body ends with the connection.
fn http10(_: &Request, _: &[&str]) -> Reply {
    const HEAD: &str = "HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n\r\n";
    let bytes = Bytes::from_static(b"HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n\r\nold\n");
    Reply::raw(200, bytes, HEAD.len()).ending(ReplyEnd::Close)
}

/// `/drip?bytes=N&ms=MS`: N bytes, one at a time, evenly over MS milliseconds.
fn drip(request: &Request, _: &[&str]) -> Reply {
    let bytes = request.query_number("bytes", 10).clamp(1, MAX_PIECES);
    let time = Duration::from_millis(request.query_number("ms", 1000)).min(MAX_WAIT);
    let pause = time / bytes as u32;
    let then = (0..bytes).flat_map(|_| [Step::Wait(pause), Step::Write(Bytes::from_static(b"*"))]).collect();
    Reply::stream(200, &[("content-length", &bytes.to_string())], then)
}

fn sized(bytes: u64) -> Reply {
    if bytes <= MAX_WHOLE_BODY_BYTES {
        return Reply::new(200, &[("content-type", "application/octet-stream")], &letters(bytes as usize));
    }
    let headers = [("content-type", "application/octet-stream"), ("content-length", &bytes.to_string())];
    // The chunk is a multiple of the alphabet, so that the letters run on from chunk to chunk.
    let chunk = letters(STREAM_CHUNK_BYTES / 36 * 36);
    Reply::stream(200, &headers, vec![Step::Repeat { chunk, bytes }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Client, Ending, get};
    use crate::http::start;
    use model::SystemClock;

    #[test]
    fn statuses() {
        let server = start();
        for (target, expect) in [
            ("/status/200", 200),
            ("/status/599", 599),
            ("/status/304", 304),
            ("/status/100", 400),
            ("/status/x", 400),
        ] {
            assert_eq!(get(&server, target).status, expect, "{target}");
        }
    }

    #[test]
    fn sizes() {
        let server = start();
        for (target, expect) in [
            ("/bytes/0", 0),
            ("/bytes/37", 37),
            ("/bytes/1048577", 1_048_577),
            ("/big?bytes=3000001", 3_000_001),
        ] {
            let response = get(&server, target);
            assert_eq!(response.body.len(), expect, "{target}");
            assert!(
                response.body.iter().zip(letters(expect).iter()).all(|(got, want)| got == want),
                "{target}"
            );
        }
    }

    #[test]
    fn head_gets_the_head_alone() {
        let server = start();
        let mut client = Client::new(&server);
        client.write("HEAD /big HTTP/1.1\r\nconnection: close\r\n\r\n");
        let text = String::from_utf8(client.rest().0).expect("text");
        assert!(text.ends_with("content-length: 2147483648\r\n\r\n"), "{text}");
    }

    #[test]
    fn delays_wait() {
        let server = start();
        let before = SystemClock::now();
        assert_eq!(get(&server, "/delay/50").status, 200);
        assert!(SystemClock::now().ms_since(before) >= 50.0);
    }

    #[test]
    fn framings() {
        let server = start();
        for (target, status_line, body_end) in [
            ("/chunked/2", "HTTP/1.1 200 OK", "\r\n\r\na\r\nchunk00000\r\na\r\nchunk00001\r\n0\r\n\r\n"),
            ("/close", "HTTP/1.1 200 OK\r\nconnection: close", "\r\n\r\nbye\n"),
            ("/http10", "HTTP/1.0 200 OK", "\r\n\r\nold\n"),
            ("/drip?bytes=3&ms=30", "HTTP/1.1 200 OK", "\r\n\r\n***"),
        ] {
            let mut client = Client::new(&server);
            client.write(&format!("GET {target} HTTP/1.1\r\nconnection: close\r\n\r\n"));
            let (bytes, ending) = client.rest();
            let text = String::from_utf8(bytes).expect("text");
            assert!(text.starts_with(status_line) && text.ends_with(body_end), "{target}: {text}");
            assert_eq!(ending, Ending::Closed, "{target}");
        }
    }
}
