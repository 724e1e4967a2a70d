//! The body of a response, handed over while it comes.

use std::fmt;
use std::rc::Rc;
use std::task::{Context, Poll};

use model::Instant;

use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::fault::Fault;
use crate::headers::Headers;
use crate::trace::Trace;

/// Takes the body of a successful response piece by piece, while it is received. Other bodies are those of their response.
///
/// All calls come from the task of the exchange. A repeated request, a redirect and a refused one begin anew or never.
pub trait BodyTap {
    /// A response began whose body comes here. It is called once an exchange, before the body's first byte.
    fn begin(&self, head: &TapHead<'_>);

    /// Takes the next bytes of the body; they could be read at `at`.
    fn take(&self, bytes: &[u8], at: Instant);

    /// Pending while no more is taken, which lets the server wait; false where nothing more is wanted, which ends the exchange.
    /// The task is woken when that changes.
    fn poll_wanted(&self, cx: &Context<'_>) -> Poll<bool>;
}

/// The head of a response whose body is handed over.
#[derive(Clone, Copy, Debug)]
pub struct TapHead<'a> {
    /// Its status, 200 to 299.
    pub status: u16,
    /// Its protocol.
    pub proto: &'static str,
    /// Its status line and headers.
    pub headers: &'a Headers,
    /// When the request began to be sent: [`Phases::duration_ns`](crate::Phases::duration_ns) counts from here.
    pub sent_from: Instant,
    /// When its first byte could be read.
    pub at: Instant,
}

/// A [`BodyTap`] that requests carry.
#[derive(Clone)]
pub struct Tap(Rc<dyn BodyTap>);

impl Tap {
    /// A tap of a request.
    pub fn new(tap: Rc<dyn BodyTap>) -> Tap {
        Tap(tap)
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}

/// The tap of one exchange: open once a response came whose body it takes.
#[derive(Default)]
pub(crate) struct Flow<'a> {
    tap: Option<(&'a dyn BodyTap, &'a Trace)>,
    is_open: bool,
    is_stopped: bool,
}

impl<'a> Flow<'a> {
    pub(crate) fn new(tap: Option<&'a Tap>, trace: &'a Trace) -> Flow<'a> {
        Flow { tap: tap.map(|Tap(tap)| (&**tap, trace)), ..Flow::default() }
    }

    /// Whether the body is handed over.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether the rest of the body is not wanted.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// A head came.
    ///
    /// # Errors
    /// The body is compressed: it cannot be read while it comes.
    #[inline]
    pub(crate) fn begin(&mut self, status: u16, proto: &'static str, headers: &Headers) -> Result<(), Fault> {
        if self.tap.is_none() { Ok(()) } else { self.open(status, proto, headers) }
    }

    #[cold]
    fn open(&mut self, status: u16, proto: &'static str, headers: &Headers) -> Result<(), Fault> {
        let Some((tap, trace)) = self.tap.filter(|_| (200..300).contains(&status)) else { return Ok(()) };
        if headers.noted().is_coded && !is_identity(headers) {
            return Err(Box::new(coded(headers)));
        }
        self.is_open = true;
        tap.begin(&TapHead { status, proto, headers, sent_from: trace.sent_from(), at: trace.stage_since() });
        Ok(())
    }

    /// Hands over bytes of an open flow.
    pub(crate) fn take(&self, bytes: &[u8]) {
        if let Some((tap, trace)) = self.tap.filter(|_| !bytes.is_empty()) {
            tap.take(bytes, trace.received_at.get());
        }
    }

    /// Pending while the server has to wait; false where nothing more is wanted.
    #[inline]
    pub(crate) fn poll_wanted(&mut self, cx: &Context<'_>) -> Poll<bool> {
        if self.is_open { self.poll_open(cx) } else { Poll::Ready(true) }
    }

    #[cold]
    fn poll_open(&mut self, cx: &Context<'_>) -> Poll<bool> {
        let wanted = self.tap.map_or(Poll::Ready(true), |(tap, _)| tap.poll_wanted(cx));
        self.is_stopped |= wanted == Poll::Ready(false);
        wanted
    }
}

fn is_identity(headers: &Headers) -> bool {
    headers
        .get_all("content-encoding")
        .all(|value| value.is_empty() || value.eq_ignore_ascii_case(b"identity"))
}

fn coded(headers: &Headers) -> Error {
    let coding = String::from_utf8_lossy(headers.get("content-encoding").unwrap_or_default()).into_owned();
    let message = format!(
        "the stream is compressed ({coding}), which delays its pieces; send the header Accept-Encoding: identity"
    );
    Error::new(ErrorCode::DECOMPRESSION, Stage::Receive, Kind::Malformed, message)
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::sync::Arc;
    use std::task::Waker;
    use std::time::Duration;

    use model::plan::{HttpOptions, NetworkOptions, TlsOptions};
    use testkit::Server;
    use testkit::http::{start, start_http2};

    use super::*;
    use crate::testing::{local, outcome, request};
    use crate::{Client, Exchange, Shared};

    /// Takes so many bytes and then lets the server wait, or ends the exchange.
    #[derive(Default)]
    struct Bucket {
        status: Cell<u16>,
        taken: RefCell<Vec<(usize, Instant)>>,
        bytes_max: Cell<Option<usize>>,
        stops: bool,
        waker: RefCell<Option<Waker>>,
        sent_from: Cell<Instant>,
    }

    impl Bucket {
        fn bytes(&self) -> usize {
            self.taken.borrow().iter().map(|(bytes, _)| bytes).sum()
        }
    }

    impl BodyTap for Bucket {
        fn begin(&self, head: &TapHead<'_>) {
            assert_eq!(self.status.replace(head.status), 0, "once");
            assert!(head.sent_from <= head.at);
            self.sent_from.set(head.sent_from);
        }

        fn take(&self, bytes: &[u8], at: Instant) {
            self.taken.borrow_mut().push((bytes.len(), at));
        }

        fn poll_wanted(&self, cx: &Context<'_>) -> Poll<bool> {
            *self.waker.borrow_mut() = Some(cx.waker().clone());
            match self.bytes_max.get() {
                Some(bytes_max) if self.bytes() >= bytes_max && self.stops => Poll::Ready(false),
                Some(bytes_max) if self.bytes() >= bytes_max => Poll::Pending,
                _ => Poll::Ready(true),
            }
        }
    }

    /// Runs a test once over HTTP/1.1 and once over HTTP/2.
    fn both(test: impl AsyncFn(Server, Client)) {
        for is_http2 in [false, true] {
            local(async {
                let server = if is_http2 { start_http2() } else { start() };
                let tls = TlsOptions { insecure_skip_verify: true, ..TlsOptions::default() };
                let shared = Shared::new(&HttpOptions::default(), &NetworkOptions::default(), &tls);
                test(server, Client::new(Arc::new(shared.expect("sound options")), 1)).await;
            });
        }
    }

    async fn exchange(client: &Client, url: &str, bucket: &Rc<Bucket>) -> Exchange {
        let mut request = request("GET", url);
        request.tap = Some(Tap::new(bucket.clone()));
        client.exchange(&request).await
    }

    #[test]
    fn pieces_come_when_they_are_sent_and_the_response_has_none_of_them() {
        both(async |server, client| {
            let bucket = Rc::new(Bucket::default());
            let done = exchange(&client, &server.url("/events?count=5&ms=30&wait=40"), &bucket).await;
            let response = done.result.as_ref().expect("a response");
            assert_eq!((response.status, bucket.status.get(), response.body.len()), (200, 200, 0));
            assert_eq!(response.body_bytes as usize, bucket.bytes());
            let taken = bucket.taken.borrow();
            let (first, last) = (taken[0].1, taken[taken.len() - 1].1);
            assert!(first.ms_since(bucket.sent_from.get()) >= 40.0);
            // The pieces are 30 ms apart, however late the first one was.
            assert!(last.since(first) + Duration::from_millis(20) >= Duration::from_millis(120));
            assert!(last.ms_since(bucket.sent_from.get()) <= done.phases.duration_ns() as f64 / 1e6 + 0.001);
            // The connection carries what comes next.
            let next = client.exchange(&request("GET", &server.url("/"))).await;
            assert!(next.reused, "{}", outcome(&next));
        });
    }

    #[test]
    fn a_server_waits_while_nothing_is_taken() {
        both(async |server, client| {
            let bucket = Rc::new(Bucket::default());
            bucket.bytes_max.set(Some(1 << 20));
            let url = server.url("/events?count=100000&bytes=1000");
            let reading = exchange(&client, &url, &bucket);
            let watching = async {
                // Until the buffers of both sides are full.
                let mut before = 0;
                loop {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    let now = server.seen().bytes_out;
                    if now == before && bucket.bytes() >= 1 << 20 {
                        break;
                    }
                    before = now;
                }
                let held = (bucket.bytes(), server.seen().bytes_out);
                bucket.bytes_max.set(Some(held.0 + 1));
                bucket.waker.borrow().as_ref().expect("it waits").wake_by_ref();
                held
            };
            let (taken, sent) = tokio::select! {
                _ = reading => panic!("it has no end"),
                held = watching => held,
            };
            // What was read in one piece is taken, and windows and sockets hold some megabytes; all of it would be 100 MB.
            assert!(taken < 3 << 20 && sent < 40 << 20, "{taken} of {sent}");
        });
    }

    #[test]
    fn what_is_not_wanted_ends_the_exchange_in_order() {
        both(async |server, client| {
            let bucket = Rc::new(Bucket { stops: true, ..Bucket::default() });
            bucket.bytes_max.set(Some(100));
            let done = exchange(&client, &server.url("/events?count=1000000000&ms=1"), &bucket).await;
            assert!(done.result.is_ok_and(|response| response.status == 200 && response.body_bytes >= 100));
            let next = client.exchange(&request("GET", &server.url("/status/204"))).await;
            assert_eq!(outcome(&next), "204 ");
        });
    }

    #[test]
    fn bodies_of_refusals_are_those_of_their_response() {
        both(async |server, client| {
            let bucket = Rc::new(Bucket::default());
            let done = exchange(&client, &server.url("/v1/messages?status=429"), &bucket).await;
            let response = done.result.expect("a response");
            assert_eq!((response.status, bucket.status.get(), bucket.bytes()), (429, 0, 0));
            assert!(response.body.starts_with(b"{\"error\""));
        });
    }

    #[test]
    fn compressed_streams_are_refused_with_the_remedy() {
        both(async |server, client| {
            let bucket = Rc::new(Bucket::default());
            let done = exchange(&client, &server.url("/gzip"), &bucket).await;
            let error = done.result.expect_err("it is compressed");
            assert_eq!(error.code, ErrorCode::DECOMPRESSION);
            assert!(
                error.message.contains("(gzip)") && error.message.contains("Accept-Encoding"),
                "{}",
                error.message
            );
        });
    }
}
