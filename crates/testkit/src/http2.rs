//! HTTP/2: the same services, each request on a stream of its own.
//!
//! A reply is bytes of HTTP/1.1; its head becomes fields, its steps become data. Replies without a meaning here fail as
//! HTTP/2 would: bytes that are no head reset the stream with `PROTOCOL_ERROR`, and an ending without a reply ends the
//! connection. Chunks stay as they are, because only HTTP/1.1 has them.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::server::{Builder, SendResponse};
use h2::{Reason, RecvStream, SendStream};
use model::SystemClock;
use tokio::sync::mpsc;

use crate::connection::{MAX_STORED_BODY_BYTES, SEEN_PATH, Service, Transport};
use crate::grpc;
use crate::reply::{Reply, ReplyEnd, Step, numbered};
use crate::request::{Head, Request};
use crate::seen::{Counters, Remembered};

/// Headers a reply may have.
const MAX_HEADERS: usize = 128;

/// Endings that may wait to be carried out.
const MAX_ENDINGS: usize = 16;

/// How a stream wants the connection to end.
enum Ending {
    /// After the streams that are open.
    Graceful,
    /// Now, for this reason.
    Abrupt(Reason),
    /// At once, without a frame.
    Silent,
}

/// Serves one connection until either side ends it; a client may have `streams_max` streams open at a time.
pub(crate) async fn serve<S: Service>(
    io: impl Transport + 'static,
    streams_max: u32,
    service: Arc<S>,
    counters: Arc<Counters>,
) {
    let mut builder = Builder::new();
    builder.max_concurrent_streams(streams_max);
    let Ok(mut connection) = builder.handshake::<_, Bytes>(io).await else { return };
    let (end, mut endings) = mpsc::channel(MAX_ENDINGS);
    loop {
        tokio::select! {
            accepted = connection.accept() => {
                let Some(Ok((message, respond))) = accepted else { return };
                let (service, counters, end) = (Arc::clone(&service), Arc::clone(&counters), end.clone());
                if grpc::is_grpc(&message) {
                    tokio::spawn(async move { grpc::answer(message, respond, &counters).await });
                    continue;
                }
                tokio::spawn(async move { answer(message, respond, &*service, &counters, end).await });
            }
            Some(ending) = endings.recv() => match ending {
                Ending::Graceful => connection.graceful_shutdown(),
                Ending::Abrupt(reason) => connection.abrupt_shutdown(reason),
                Ending::Silent => return,
            },
        }
    }
}

async fn answer<S: Service>(
    message: http::Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    service: &S,
    counters: &Counters,
    end: mpsc::Sender<Ending>,
) {
    let Some(request) = read(message).await else { return };
    if request.path() == SEEN_PATH {
        let seen = Reply::json(200, &counters.snapshot().to_json());
        let _ = play(&request, &seen, &mut respond, || ()).await;
        return;
    }
    counters.begin();
    let reply = service.answer(&request).await;
    let mut status = 0;
    let count = |status| Remembered::default().count(counters, request.method(), request.path(), status);
    let played = play(&request, &reply, &mut respond, || {
        status = reply.status;
        count(status);
    })
    .await;
    if status == 0 {
        count(0);
    }
    counters.end();
    let ending = match (played, reply.end) {
        (Err(()), _) | (Ok(()), ReplyEnd::KeepAlive) => return,
        (Ok(()), ReplyEnd::GoAway(reason)) => Ending::Abrupt(reason.into()),
        (Ok(()), ReplyEnd::Close) if status == 0 => Ending::Silent,
        (Ok(()), ReplyEnd::Close) => Ending::Graceful,
        (Ok(()), ReplyEnd::ResetStream(reason)) => return respond.send_reset(reason.into()),
        (Ok(()), ReplyEnd::Reset | ReplyEnd::WebSocket(_) | ReplyEnd::Tunnel(_)) => {
            return respond.send_reset(Reason::INTERNAL_ERROR);
        }
    };
    let ends_now = !matches!(ending, Ending::Graceful);
    let _ = end.send(ending).await;
    if ends_now {
        // Dropping the reply resets the stream, and that must not come before the end.
        end.closed().await;
    }
}

/// The request as HTTP/1.1 would have brought it; `None` when it is cut.
async fn read(message: http::Request<RecvStream>) -> Option<Request> {
    let (parts, mut stream) = message.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let authority = parts.uri.authority().map_or("", |authority| authority.as_str());
    let mut head = format!("{} {path} HTTP/1.1\r\nHost: {authority}\r\n", parts.method).into_bytes();
    for (name, value) in &parts.headers {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            head.extend_from_slice(part);
        }
    }
    head.extend_from_slice(b"\r\n");
    let mut request = Request::default();
    let Head::Complete(_) = request.parse_head(&head) else { return None };
    while let Some(piece) = stream.data().await {
        let piece = piece.ok()?;
        let _ = stream.flow_control().release_capacity(piece.len());
        let store = piece.len().min(MAX_STORED_BODY_BYTES.saturating_sub(request.body.len()));
        request.body.extend_from_slice(&piece[..store]);
        request.body_bytes += piece.len() as u64;
    }
    request.tls = true;
    request.read_at = SystemClock::now();
    Some(request)
}

/// Plays a reply; `begins` is called right before its first byte. Fails when the client is gone.
async fn play(
    request: &Request,
    reply: &Reply,
    respond: &mut SendResponse<Bytes>,
    begins: impl FnOnce(),
) -> Result<(), ()> {
    wait(respond, reply.wait).await?;
    let Some(head) = head(reply) else {
        for step in &reply.then {
            match step {
                Step::Wait(time) => wait(respond, *time).await?,
                Step::Hang => hang(respond).await?,
                _ => respond.send_reset(Reason::PROTOCOL_ERROR),
            }
        }
        if !reply.bytes.is_empty() {
            respond.send_reset(Reason::PROTOCOL_ERROR);
        }
        return Ok(());
    };
    begins();
    let first = reply.bytes.slice(reply.head_bytes..);
    let ends = request.method() == "HEAD" || (first.is_empty() && reply.then.is_empty() && keeps(&reply.end));
    let mut stream = respond.send_response(head, ends).map_err(drop)?;
    if ends {
        return Ok(());
    }
    let is_whole = reply.then.is_empty() && keeps(&reply.end);
    send(&mut stream, first, is_whole).await?;
    for step in &reply.then {
        match step {
            Step::Write(bytes) => send(&mut stream, bytes.clone(), false).await?,
            Step::Repeat { chunk, bytes } => repeat(&mut stream, chunk, *bytes).await?,
            Step::Chunk(chunk) => send(&mut stream, chunk.clone(), false).await?,
            Step::Pace { piece, count, every } => pace(&mut stream, piece, *count, *every).await?,
            Step::Wait(time) => {
                tokio::select! {
                    () = tokio::time::sleep(*time) => {}
                    () = gone(&mut stream) => return Err(()),
                }
            }
            Step::Hang => {
                gone(&mut stream).await;
                return Err(());
            }
        }
    }
    // A reply that is cut short has no last frame.
    if keeps(&reply.end) && !is_whole {
        stream.send_data(Bytes::new(), true).map_err(drop)?;
    }
    Ok(())
}

/// Whether the stream of a reply with this ending ends in order.
fn keeps(end: &ReplyEnd) -> bool {
    matches!(end, ReplyEnd::KeepAlive | ReplyEnd::Close)
}

/// The reply's head as fields; `None` where it has none.
fn head(reply: &Reply) -> Option<http::Response<()>> {
    let mut storage = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Response::new(&mut storage);
    let status = parsed.parse(reply.bytes.get(..reply.head_bytes)?).ok()?;
    if reply.head_bytes == 0 || status.is_partial() {
        return None;
    }
    let mut response = http::Response::builder().status(parsed.code?);
    let own = ["connection", "keep-alive", "transfer-encoding"];
    for header in
        parsed.headers.iter().filter(|header| !own.iter().any(|own| header.name.eq_ignore_ascii_case(own)))
    {
        response = response.header(header.name, header.value);
    }
    response.body(()).ok()
}

/// Sends as the client's windows allow.
async fn send(stream: &mut SendStream<Bytes>, mut bytes: Bytes, ends: bool) -> Result<(), ()> {
    if bytes.is_empty() && ends {
        return stream.send_data(bytes, true).map_err(drop);
    }
    while !bytes.is_empty() {
        stream.reserve_capacity(bytes.len());
        let room = poll_fn(|context| stream.poll_capacity(context)).await;
        let Some(Ok(room_bytes)) = room else { return Err(()) };
        let piece = bytes.split_to(room_bytes.min(bytes.len()));
        stream.send_data(piece, ends && bytes.is_empty()).map_err(drop)?;
    }
    Ok(())
}

async fn repeat(stream: &mut SendStream<Bytes>, chunk: &Bytes, bytes: u64) -> Result<(), ()> {
    let mut left = bytes;
    while left > 0 && !chunk.is_empty() {
        let take = chunk.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        send(stream, chunk.slice(..take), false).await?;
        left -= take as u64;
    }
    Ok(())
}

async fn pace(stream: &mut SendStream<Bytes>, piece: &str, count: u64, every: Duration) -> Result<(), ()> {
    let mut due = SystemClock::now();
    for n in 0..count {
        let left = due.since(SystemClock::now());
        if !left.is_zero() {
            tokio::select! {
                () = tokio::time::sleep(left) => {}
                () = gone(stream) => return Err(()),
            }
        }
        send(stream, numbered(piece, n), false).await?;
        due = due + every;
    }
    Ok(())
}

async fn wait(respond: &mut SendResponse<Bytes>, time: Duration) -> Result<(), ()> {
    if time.is_zero() {
        return Ok(());
    }
    tokio::select! {
        () = tokio::time::sleep(time) => Ok(()),
        gone = hang(respond) => gone,
    }
}

/// Fails when the client resets the stream.
async fn hang(respond: &mut SendResponse<Bytes>) -> Result<(), ()> {
    let _ = poll_fn(|context| respond.poll_reset(context)).await;
    Err(())
}

/// The same, once the head is out.
async fn gone(stream: &mut SendStream<Bytes>) {
    let _ = poll_fn(|context| stream.poll_reset(context)).await;
}
