//! Streams at a known pace: server-sent events, lines, and answers as language models give them.
//!
//! The n-th piece leaves at `wait` + n × `ms` after the request was read, whatever the pieces before it took, so that the mean
//! of the gaps is `ms`.

use std::time::Duration;

use bytes::Bytes;

use super::Route;
use crate::reply::{Reply, ReplyEnd, Step};
use crate::request::Request;

/// The longest pause.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// Bytes of filling in a piece.
const MAX_PIECE_BYTES: u64 = 1 << 20;

pub(super) const ROUTES: &[Route] = &[
    Route { segment: "events", answer: events },
    Route { segment: "lines", answer: lines },
    Route { segment: "v1", answer: model },
];

/// `/events?count=N&ms=MS&wait=MS&bytes=N&comment=TEXT&end=KIND`: N events, `MS` milliseconds apart; see [`ended`].
fn events(request: &Request, _: &[&str]) -> Reply {
    let filling = "x".repeat(request.query_number("bytes", 0).min(MAX_PIECE_BYTES) as usize);
    let comment = request.query_value("comment").map(|comment| format!(": {comment}\n\n"));
    let piece = format!("{}id: {{n}}\nevent: tick\ndata: {{n}}{filling}\n\n", comment.unwrap_or_default());
    stream(request, "text/event-stream", piece, "")
}

/// `/lines?…`: the same as lines of JSON.
fn lines(request: &Request, _: &[&str]) -> Reply {
    stream(request, "application/x-ndjson", "{\"n\":{n}}\n".to_owned(), "{\"last\":true}")
}

/// `/v1/chat/completions?…` and `/v1/messages?…`: an answer of N tokens, in the words of two usual APIs. `status=429` refuses.
fn model(request: &Request, rest: &[&str]) -> Reply {
    if request.query_number("status", 200) == 429 {
        return Reply::new(
            429,
            &[("content-type", "application/json")],
            br#"{"error":{"message":"slow down"}}"#,
        );
    }
    let count = request.query_number("count", 10);
    match rest {
        ["chat", "completions"] => {
            let piece = r#"{"choices":[{"index":0,"delta":{"content":"t{n} "},"finish_reason":null}]}"#;
            let last = format!(
                "data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"stop\"}}]}}\n\n\
                 data: {{\"choices\":[],\"usage\":{{\"completion_tokens\":{count}}}}}\n\ndata: [DONE]\n\n"
            );
            stream(request, "text/event-stream", format!("data: {piece}\n\n"), &last)
        }
        ["messages"] => {
            let piece = r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"t{n} "}}"#;
            let last = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
            let piece = format!("event: content_block_delta\ndata: {piece}\n\n");
            stream(request, "text/event-stream", piece, last)
        }
        _ => Reply::text(404, "no such route\n"),
    }
}

/// A body of pieces at a pace and a last one.
fn stream(request: &Request, content_type: &str, piece: String, last: &str) -> Reply {
    let (count, every) = (request.query_number("count", 10), ms(request, "ms"));
    let mut then = vec![Step::Pace { piece, count, every }];
    let end = ended(&mut then, &request.query_value("end").unwrap_or_default(), last);
    let headers =
        [("content-type", content_type), ("cache-control", "no-store"), ("transfer-encoding", "chunked")];
    Reply::stream(200, &headers, then).ending(end).after(ms(request, "wait"))
}

/// The end of a stream: in order by default, `cut` and `reset` within it, `hang` never, and `short` in order but without the
/// last piece.
fn ended(then: &mut Vec<Step>, kind: &str, last: &str) -> ReplyEnd {
    match kind {
        "cut" => return ReplyEnd::Close,
        "reset" => return ReplyEnd::ResetStream(2),
        "hang" => {
            then.push(Step::Hang);
            return ReplyEnd::Close;
        }
        "short" => {}
        _ if last.is_empty() => {}
        _ => then.push(Step::Chunk(Bytes::copy_from_slice(last.as_bytes()))),
    }
    then.push(Step::Chunk(Bytes::new()));
    ReplyEnd::KeepAlive
}

fn ms(request: &Request, name: &str) -> Duration {
    Duration::from_millis(request.query_number(name, 0)).min(MAX_WAIT)
}

#[cfg(test)]
mod tests {
    use model::SystemClock;

    use super::*;
    use crate::client::Client;
    use crate::http::start;

    /// Everything that the server sends until it closes the connection.
    fn whole(server: &crate::Server, target: &str) -> String {
        let mut client = Client::new(server);
        client.write(&format!("GET {target} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n"));
        String::from_utf8(client.rest().0).expect("a text")
    }

    #[test]
    fn pieces_leave_at_their_pace() {
        let server = start();
        let began = SystemClock::now();
        let text = whole(&server, "/events?count=3&ms=20&wait=10");
        let elapsed = SystemClock::now().since(began);
        assert!(elapsed >= Duration::from_millis(48), "two gaps of 20 ms after 10 ms: {elapsed:?}");
        assert!(text.contains("id: 2\nevent: tick\ndata: 2\n\n"), "{text}");
        assert!(whole(&server, "/lines?count=2").contains("{\"last\":true}"));
        assert_eq!(Client::new(&server).get("/v1/messages?status=429").status, 429);
    }
}
