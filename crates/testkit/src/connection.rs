//! One connection: reads requests to their last byte, asks the service, plays the reply.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use model::SystemClock;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;

use crate::reply::{Reply, ReplyEnd, Step, framed, numbered};
use crate::request::{Framing, Head, Request};
use crate::seen::{Counters, Remembered};
use crate::websocket;

/// A request head longer than this is refused with 431.
const MAX_HEAD_BYTES: usize = 256 * 1024;

/// A chunk-size line longer than this is malformed.
const MAX_CHUNK_LINE_BYTES: usize = 1024;

/// Bytes of a request body that are kept; the rest is read, counted and dropped.
pub(crate) const MAX_STORED_BODY_BYTES: usize = 8 * 1024 * 1024;

/// Bytes that a connection reads at a time.
const READ_BYTES: usize = 8 * 1024;

/// How long a reset waits for the bytes before it to leave, so that the client can see them first.
const RESET_DELAY: Duration = Duration::from_millis(10);

/// Where the counts are read over HTTP; requests to it are not counted.
pub(crate) const SEEN_PATH: &str = "/_testkit/seen";

/// Answers requests. One instance serves all connections.
pub trait Service: Send + Sync + 'static {
    /// The reply to a request that was read to its last byte.
    ///
    /// The future runs to its end even when the client goes away, as a database query would.
    fn answer(&self, request: &Request) -> impl Future<Output = Reply> + Send;
}

/// A byte stream whose connection can be reset.
pub(crate) trait Transport: AsyncRead + AsyncWrite + Unpin + Send {
    /// Makes the close that follows a reset (RST instead of FIN).
    fn prepare_reset(&self);
}

/// A socket that counts its bytes.
pub(crate) struct CountedStream {
    stream: TcpStream,
    counters: Arc<Counters>,
}

impl CountedStream {
    pub(crate) fn new(stream: TcpStream, counters: Arc<Counters>) -> CountedStream {
        CountedStream { stream, counters }
    }
}

impl AsyncRead for CountedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        add(&self.counters.bytes_in, buffer.filled().len() - before);
        polled
    }
}

impl AsyncWrite for CountedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        if let Poll::Ready(Ok(written)) = polled {
            add(&self.counters.bytes_out, written);
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl Transport for CountedStream {
    fn prepare_reset(&self) {
        // A socket that is already gone needs no reset, so the result does not matter.
        let _ = socket2::SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }
}

impl Transport for tokio_rustls::server::TlsStream<CountedStream> {
    fn prepare_reset(&self) {
        self.get_ref().0.prepare_reset();
    }
}

fn add(counter: &AtomicU64, bytes: usize) {
    if bytes > 0 {
        counter.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// Serves one connection until either side ends it, in whatever it goes on as.
pub(crate) async fn serve_all<T: Transport>(io: T, tls: bool, service: &impl Service, counters: &Counters) {
    let Some((connection, end)) = serve(io, tls, service, counters).await else { return };
    match end {
        ReplyEnd::WebSocket(manner) => {
            websocket::converse(connection.io, connection.input, *manner, counters).await;
        }
        ReplyEnd::Tunnel(port) => connection.tunnel(port).await,
        _ => {}
    }
}

/// Serves one connection until either side ends it; returns it with the reply's end where it goes on as something else.
pub(crate) async fn serve<T: Transport>(
    io: T,
    tls: bool,
    service: &impl Service,
    counters: &Counters,
) -> Option<(Connection<T>, ReplyEnd)> {
    let mut connection = Connection { io, input: BytesMut::new(), remembered: Remembered::default() };
    let mut request = Request::default();
    request.tls = tls;
    loop {
        match connection.read(&mut request).await {
            Ok(()) => {}
            Err(ReadError::Ended) => return None,
            Err(ReadError::Malformed(status)) => {
                counters.malformed.fetch_add(1, Ordering::SeqCst);
                let _ = connection.write(&Reply::text(status, "no request that can be read\n").bytes).await;
                connection.close().await;
                return None;
            }
        }
        if request.path() == SEEN_PATH {
            let seen = Reply::json(200, &counters.snapshot().to_json());
            if connection.write(&seen.bytes).await.is_err() {
                return None;
            }
            continue;
        }
        counters.begin();
        let reply = service.answer(&request).await;
        let mut status_sent = false;
        let played = connection.play(&request, &reply, counters, &mut status_sent).await;
        if !status_sent {
            connection.remembered.count(counters, request.method(), request.path(), 0);
        }
        counters.end();
        match (played, reply.end) {
            (Err(_), _) => return None,
            (Ok(()), ReplyEnd::Reset | ReplyEnd::ResetStream(_)) => {
                connection.reset().await;
                return None;
            }
            (Ok(()), end @ (ReplyEnd::WebSocket(_) | ReplyEnd::Tunnel(_))) => return Some((connection, end)),
            (Ok(()), ReplyEnd::KeepAlive) if !request.wants_close() => {}
            (Ok(()), ReplyEnd::KeepAlive | ReplyEnd::Close | ReplyEnd::GoAway(_)) => {
                connection.close().await;
                return None;
            }
        }
    }
}

/// Why no request could be read.
enum ReadError {
    /// The client closed or lost the connection.
    Ended,
    /// The bytes are not a valid request; the status gives the reason.
    Malformed(u16),
}

impl From<io::Error> for ReadError {
    fn from(_: io::Error) -> ReadError {
        ReadError::Ended
    }
}

/// A connection and what came of it beyond the last request.
pub(crate) struct Connection<T> {
    io: T,
    input: BytesMut,
    remembered: Remembered,
}

impl<T: Transport> Connection<T> {
    async fn read(&mut self, request: &mut Request) -> Result<(), ReadError> {
        let head_bytes = loop {
            match request.parse_head(&self.input) {
                Head::Complete(head_bytes) => break head_bytes,
                Head::Malformed => return Err(ReadError::Malformed(400)),
                Head::Partial if self.input.len() > MAX_HEAD_BYTES => return Err(ReadError::Malformed(431)),
                Head::Partial => self.fill().await?,
            }
        };
        self.input.advance(head_bytes);
        let framing = request.framing();
        if request.expects_continue() && framing != Framing::Length(0) {
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        match framing {
            Framing::Length(body_bytes) => self.read_body(request, body_bytes).await?,
            Framing::Chunked => self.read_chunks(request).await?,
            Framing::Malformed => return Err(ReadError::Malformed(400)),
        }
        request.read_at = SystemClock::now();
        Ok(())
    }

    async fn read_body(&mut self, request: &mut Request, body_bytes: u64) -> Result<(), ReadError> {
        let mut left = body_bytes;
        while left > 0 {
            if self.input.is_empty() {
                self.fill().await?;
            }
            let take = self.input.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let store = take.min(MAX_STORED_BODY_BYTES.saturating_sub(request.body.len()));
            request.body.extend_from_slice(&self.input[..store]);
            self.input.advance(take);
            left -= take as u64;
        }
        request.body_bytes = request.body_bytes.saturating_add(body_bytes);
        Ok(())
    }

    async fn read_chunks(&mut self, request: &mut Request) -> Result<(), ReadError> {
        loop {
            let line = self.read_line().await?;
            let size = line.split(';').next().unwrap_or("").trim();
            // Parsing alone would let a sign through.
            if size.starts_with('+') {
                return Err(ReadError::Malformed(400));
            }
            let chunk_bytes = u64::from_str_radix(size, 16).map_err(|_| ReadError::Malformed(400))?;
            if chunk_bytes == 0 {
                break;
            }
            self.read_body(request, chunk_bytes).await?;
            if !self.read_line().await?.is_empty() {
                return Err(ReadError::Malformed(400));
            }
        }
        // Trailers end with an empty line; together they may be as long as a head.
        let mut trailer_bytes = 0;
        loop {
            let line = self.read_line().await?;
            trailer_bytes += line.len();
            if line.is_empty() {
                return Ok(());
            }
            if trailer_bytes > MAX_HEAD_BYTES {
                return Err(ReadError::Malformed(431));
            }
        }
    }

    async fn read_line(&mut self) -> Result<String, ReadError> {
        loop {
            if let Some(line_feed) = self.input.iter().position(|&byte| byte == b'\n') {
                let line = self.input.split_to(line_feed + 1);
                return Ok(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned());
            }
            if self.input.len() > MAX_CHUNK_LINE_BYTES {
                return Err(ReadError::Malformed(400));
            }
            self.fill().await?;
        }
    }

    async fn fill(&mut self) -> Result<(), ReadError> {
        self.input.reserve(READ_BYTES);
        match self.io.read_buf(&mut self.input).await? {
            0 => Err(ReadError::Ended),
            _ => Ok(()),
        }
    }

    /// Plays a reply; counts its status right before the first byte, so that a client that has the answer can
    /// rely on the count.
    async fn play(
        &mut self,
        request: &Request,
        reply: &Reply,
        counters: &Counters,
        status_sent: &mut bool,
    ) -> io::Result<()> {
        if !reply.wait.is_zero() {
            self.wait(reply.wait).await?;
        }
        if reply.status != 0 {
            self.remembered.count(counters, request.method(), request.path(), reply.status);
            *status_sent = true;
        }
        if request.method() == "HEAD" && reply.head_bytes > 0 {
            return self.write(&reply.bytes[..reply.head_bytes]).await;
        }
        if !reply.bytes.is_empty() {
            self.write(&reply.bytes).await?;
        }
        for step in &reply.then {
            match step {
                Step::Write(bytes) => self.write(bytes).await?,
                Step::Repeat { chunk, bytes } => self.repeat(chunk, *bytes).await?,
                Step::Chunk(chunk) => self.write(&framed(chunk)).await?,
                Step::Pace { piece, count, every } => self.pace(piece, *count, *every).await?,
                Step::Wait(time) => self.wait(*time).await?,
                Step::Hang => self.until_gone().await?,
            }
        }
        Ok(())
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.io.write_all(bytes).await?;
        self.io.flush().await
    }

    async fn repeat(&mut self, chunk: &Bytes, bytes: u64) -> io::Result<()> {
        let mut left = bytes;
        while left > 0 && !chunk.is_empty() {
            let take = chunk.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.write(&chunk[..take]).await?;
            left -= take as u64;
        }
        Ok(())
    }

    async fn pace(&mut self, piece: &str, count: u64, every: Duration) -> io::Result<()> {
        let mut due = SystemClock::now();
        for n in 0..count {
            let left = due.since(SystemClock::now());
            if !left.is_zero() {
                self.wait(left).await?;
            }
            self.write(&framed(&numbered(piece, n))).await?;
            due = due + every;
        }
        Ok(())
    }

    async fn wait(&mut self, time: Duration) -> io::Result<()> {
        tokio::select! {
            () = tokio::time::sleep(time) => Ok(()),
            gone = until_gone(&mut self.io, &mut self.input) => gone,
        }
    }

    async fn until_gone(&mut self) -> io::Result<()> {
        until_gone(&mut self.io, &mut self.input).await
    }

    async fn close(mut self) {
        let _ = self.io.shutdown().await;
    }

    /// Relays bytes until either side has closed. A port without a listener ends it at once.
    async fn tunnel(mut self, port: u16) {
        let Ok(mut there) = TcpStream::connect((std::net::Ipv4Addr::LOCALHOST, port)).await else { return };
        if there.write_all(&self.input).await.is_ok() {
            let _ = tokio::io::copy_bidirectional(&mut self.io, &mut there).await;
        }
    }

    async fn reset(self) {
        tokio::time::sleep(RESET_DELAY).await;
        self.io.prepare_reset();
    }
}

/// Fails when the client closes its side. Bytes that come meanwhile (a pipelined request) are kept; once they
/// exceed a head's limit nothing more is read.
async fn until_gone<T: Transport>(io: &mut T, input: &mut BytesMut) -> io::Result<()> {
    while input.len() <= MAX_HEAD_BYTES {
        input.reserve(READ_BYTES);
        if io.read_buf(input).await? == 0 {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
    }
    std::future::pending().await
}
