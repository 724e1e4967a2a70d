//! One connection: a socket, perhaps with TLS around it, that counts its bytes.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use model::{Instant, SystemClock};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::arrival;
use crate::outbox::{self, Outgoing, Sent, Times};
use crate::skip::skip;
use crate::target::Target;
use crate::tls_facts::TlsFacts;
use crate::watch::Watch;

/// A connection that was idle for longer than this is looked at with a system call before it is used again. For
/// shorter times with a server that is trusted the runtime's own knowledge, which costs nothing, is fresh enough.
const IDLE_UNSEEN_MAX: Duration = Duration::from_millis(1);

/// Bytes of a client's sockets, TLS included.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) sent: Cell<u64>,
    pub(crate) received: Cell<u64>,
}

/// One connection to a target's origin.
pub(crate) struct Connection {
    stream: Stream,
    pub(crate) target: Target,
    pub(crate) remote: SocketAddr,
    pub(crate) tls: Option<Arc<TlsFacts>>,
    pub(crate) watch: Watch,
    pub(crate) idle_since: Instant,
}

pub(crate) enum Stream {
    Plain(Counted),
    Tls(Box<TlsStream<Counted>>),
}

impl Connection {
    pub(crate) fn new(
        stream: Stream,
        target: Target,
        remote: SocketAddr,
        tls: Option<Arc<TlsFacts>>,
    ) -> Connection {
        Connection { stream, target, remote, tls, watch: Watch::new(), idle_since: Instant::ZERO }
    }

    /// Our end, where the operating system still knows it.
    pub(crate) fn local(&self) -> Option<SocketAddr> {
        self.tcp().local_addr().ok()
    }

    /// Reads what there is. The socket's readiness goes through the connection's [`Watch`].
    pub(crate) fn poll_read(&mut self, cx: &Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut watched = Context::from_waker(self.watch.waker(cx));
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_read(&mut watched, buffer),
            Stream::Tls(tls) => Pin::new(tls).poll_read(&mut watched, buffer),
        }
    }

    /// Whether bytes can be [skipped](Self::poll_skip). They have no time of arrival.
    pub(crate) fn can_skip(&self) -> bool {
        matches!(&self.stream, Stream::Plain(tcp) if !tcp.has_arrivals || !arrival::is_worth_reading())
    }

    /// Takes up to `bytes` unwanted bytes off a socket without TLS.
    pub(crate) fn poll_skip(&mut self, cx: &Context<'_>, bytes: usize) -> Poll<io::Result<usize>> {
        let mut watched = Context::from_waker(self.watch.waker(cx));
        self.stream.counted().poll_skip(&mut watched, bytes)
    }

    /// Writes some of the two parts, one after the other.
    pub(crate) fn poll_write(
        &mut self,
        cx: &Context<'_>,
        first: &[u8],
        second: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut watched = Context::from_waker(self.watch.waker(cx));
        let parts = [IoSlice::new(first), IoSlice::new(second)];
        match &mut self.stream {
            // A plain write costs less than a vector of one.
            Stream::Plain(tcp) if second.is_empty() => Pin::new(tcp).poll_write(&mut watched, first),
            Stream::Plain(tcp) => Pin::new(tcp).poll_write_vectored(&mut watched, &parts),
            Stream::Tls(tls) => Pin::new(tls).poll_write_vectored(&mut watched, &parts),
        }
    }

    /// Sends what TLS still holds back.
    pub(crate) fn poll_flush(&mut self, cx: &Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(_) => Poll::Ready(Ok(())),
            Stream::Tls(tls) => {
                let mut watched = Context::from_waker(self.watch.waker(cx));
                Pin::new(tls).poll_flush(&mut watched)
            }
        }
    }

    /// Leaves a request in the outbox of the thread, if it has one. Over TLS nothing was gained by it.
    pub(crate) fn post(&mut self, bytes: &mut Vec<u8>, now: Instant) -> bool {
        match &mut self.stream {
            Stream::Plain(tcp) if outbox::is_open() => {
                let waker = self.watch.last_waker();
                tcp.outgoing(waker).post(std::mem::take(bytes), now);
                true
            }
            _ => false,
        }
    }

    /// Whether what was posted is still in the outbox.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(&self.stream, Stream::Plain(tcp) if tcp.is_waiting())
    }

    /// Ready when what was posted is sent; with the times of that, once.
    pub(crate) fn poll_posted(&mut self, cx: &Context<'_>) -> Poll<io::Result<Option<Times>>> {
        let mut watched = Context::from_waker(self.watch.waker(cx));
        match &mut self.stream {
            Stream::Plain(tcp) => tcp.poll_posted(&mut watched),
            Stream::Tls(_) => Poll::Ready(Ok(None)),
        }
    }

    /// A request goes out at `now`: the kernel is asked for the times of what comes if this thread may be late to see it.
    pub(crate) fn note_sent(&mut self, now: Instant) {
        if arrival::is_worth_asking(now) {
            self.counted_mut().ask_for_arrivals();
        }
    }

    /// When the last bytes of the last read arrived, where the kernel was asked.
    pub(crate) fn take_arrival(&mut self) -> Option<Instant> {
        self.counted_mut().take_arrival()
    }

    /// Whether an idle connection is still good: open, and silent.
    ///
    /// This is how requests on closed connections are avoided without a hidden retry. A server that closes at the
    /// very moment of the next request still cuts it, and that is then reported and counted.
    pub(crate) fn is_alive(&mut self, now: Instant, is_trusted: bool) -> bool {
        // Costs no system call unless the runtime has seen something.
        if !self.is_silent() {
            return false;
        }
        if is_trusted && now.since(self.idle_since) < IDLE_UNSEEN_MAX {
            return true;
        }
        let peeked = SockRef::from(self.tcp()).peek(&mut [MaybeUninit::uninit()]);
        peeked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Whether neither bytes nor the end have come. No task waits for them yet, so that none needs to be woken.
    fn is_silent(&mut self) -> bool {
        let mut byte = [0];
        match &mut self.stream {
            Stream::Plain(tcp) => {
                tcp.try_read(&mut byte).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
            }
            // Takes in session tickets. Another waker would only have to be replaced.
            Stream::Tls(tls) => {
                let mut watched = Context::from_waker(self.watch.last_waker());
                Pin::new(tls).poll_read(&mut watched, &mut ReadBuf::new(&mut byte)).is_pending()
            }
        }
    }

    /// Closes it; a TLS peer gets a close_notify if its socket takes it at once.
    pub(crate) fn close(mut self) {
        if let Stream::Tls(tls) = &mut self.stream {
            let _ = Pin::new(tls).poll_shutdown(&mut Context::from_waker(Waker::noop()));
        }
    }

    fn counted_mut(&mut self) -> &mut Counted {
        match &mut self.stream {
            Stream::Plain(counted) => counted,
            Stream::Tls(tls) => tls.get_mut().0,
        }
    }

    fn tcp(&self) -> &TcpStream {
        &self.stream.counted().tcp
    }
}

impl Stream {
    fn counted(&self) -> &Counted {
        match self {
            Stream::Plain(counted) => counted,
            Stream::Tls(tls) => tls.get_ref().0,
        }
    }
}

/// A socket that counts its bytes.
pub(crate) struct Counted {
    tcp: TcpStream,
    traffic: Rc<Traffic>,
    /// Whether the kernel notes when bytes arrive.
    has_arrivals: bool,
    /// When what was read last arrived, until this is taken.
    arrived: Option<Instant>,
    /// Its place in the outbox, once it has posted something.
    outgoing: Option<Rc<Outgoing>>,
    /// Posted bytes that the socket did not take at once.
    rest: Option<Box<Rest>>,
}

/// Bytes that were posted, and how many of them are sent since when.
struct Rest {
    bytes: Vec<u8>,
    sent_bytes: usize,
    from: Instant,
}

impl Drop for Counted {
    fn drop(&mut self) {
        // Another socket may get the number of this one.
        if let Some(outgoing) = &self.outgoing {
            outgoing.withdraw();
        }
    }
}

impl Counted {
    pub(crate) fn new(tcp: TcpStream, traffic: Rc<Traffic>) -> Counted {
        Counted { tcp, traffic, has_arrivals: false, arrived: None, outgoing: None, rest: None }
    }

    fn outgoing(&mut self, waker: &Waker) -> &Rc<Outgoing> {
        self.outgoing.get_or_insert_with(|| Outgoing::new(self.tcp.as_raw_fd(), waker.clone()))
    }

    fn is_waiting(&self) -> bool {
        self.outgoing.as_ref().is_some_and(|outgoing| outgoing.is_waiting())
    }

    /// Ready when everything that was posted is sent; with its times, once.
    fn poll_posted(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Times>>> {
        let Some(outgoing) = &self.outgoing else { return Poll::Ready(Ok(None)) };
        if outgoing.is_waiting() {
            // From here on the response wakes the task. If something comes before the request is sent, it is sent now.
            ready!(self.tcp.poll_read_ready(cx))?;
            outbox::send_all();
        }
        if let Some(Sent { times, count, rest }) = outgoing.take_sent() {
            let sent_bytes = match count {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                count => count?,
            };
            self.count_sent(sent_bytes);
            if rest.is_empty() {
                return Poll::Ready(Ok(Some(times)));
            }
            self.rest = Some(Box::new(Rest { bytes: rest, sent_bytes, from: times.from }));
        }
        self.poll_rest(cx)
    }

    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Times>>> {
        let Some(rest) = &mut self.rest else { return Poll::Ready(Ok(None)) };
        while rest.sent_bytes < rest.bytes.len() {
            let sent_bytes = ready!(Pin::new(&mut self.tcp).poll_write(cx, &rest.bytes[rest.sent_bytes..]))?;
            if sent_bytes == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.traffic.sent.set(self.traffic.sent.get() + sent_bytes as u64);
            rest.sent_bytes += sent_bytes;
        }
        let times = Times { from: rest.from, until: SystemClock::now() };
        self.rest = None;
        Poll::Ready(Ok(Some(times)))
    }

    /// Has the kernel note when bytes arrive from now on.
    pub(crate) fn ask_for_arrivals(&mut self) {
        if !self.has_arrivals {
            self.has_arrivals = true;
            arrival::ask(&self.tcp);
        }
    }

    /// When the last bytes of the last read arrived, where the kernel was asked.
    pub(crate) fn take_arrival(&mut self) -> Option<Instant> {
        self.arrived.take()
    }

    /// Reads what is there, and asks for no wake-up.
    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.tcp.try_read(buffer)?;
        self.count_received(bytes);
        Ok(bytes)
    }

    fn poll_skip(&self, cx: &mut Context<'_>, bytes: usize) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.tcp.poll_read_ready(cx))?;
            match self.tcp.try_io(Interest::READABLE, || skip(&self.tcp, bytes)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                skipped => {
                    self.count_received(*skipped.as_ref().unwrap_or(&0));
                    return Poll::Ready(skipped);
                }
            }
        }
    }

    /// Reads and keeps the time of arrival.
    fn poll_receive(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.tcp.poll_read_ready(cx))?;
            let unfilled = buffer.initialize_unfilled();
            match self.tcp.try_io(Interest::READABLE, || arrival::receive(&self.tcp, unfilled)) {
                Ok((bytes, arrived)) => {
                    buffer.advance(bytes);
                    self.arrived = arrived;
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn count_received(&self, bytes: usize) {
        self.traffic.received.set(self.traffic.received.get() + bytes as u64);
    }

    fn count_sent(&self, bytes: usize) {
        self.traffic.sent.set(self.traffic.sent.get() + bytes as u64);
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = if self.has_arrivals && arrival::is_worth_reading() {
            self.poll_receive(cx, buffer)
        } else {
            Pin::new(&mut self.tcp).poll_read(cx, buffer)
        };
        self.count_received(buffer.filled().len() - before);
        read
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written_bytes = ready!(Pin::new(&mut self.tcp).poll_write(cx, bytes))?;
        self.count_sent(written_bytes);
        Poll::Ready(Ok(written_bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written_bytes = ready!(Pin::new(&mut self.tcp).poll_write_vectored(cx, parts))?;
        self.count_sent(written_bytes);
        Poll::Ready(Ok(written_bytes))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}
