//! Times of a connection that several exchanges share: when its bytes could be read, and when its frames were out.
//!
//! A task of its own moves the frames, so that an exchange learns of them only when its turn comes. What the server
//! took must not contain that queueing.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker, ready};

use model::{Instant, SystemClock};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

use super::limits::READS_PER_TURN_MAX;
use crate::arrival;
use crate::connection::Counted;
use crate::watch::Watch;

/// State that a connection shares with its exchanges.
#[derive(Default)]
pub(super) struct Meter {
    /// When the bytes that were read last could be read; zero for never.
    ready_ns: Arc<AtomicU64>,
    /// Where to note when the frames that are queued now are out.
    unsent: RefCell<Vec<SentAt>>,
    /// Reads that are left of the connection's turn.
    reads_left: Cell<u32>,
}

/// When an exchange's last frame was written; `None` before.
pub(super) type SentAt = Rc<Cell<Option<Instant>>>;

impl Meter {
    /// A note that is filled in once what is queued now has been written.
    pub(super) fn note_sent(&self) -> SentAt {
        let sent_at = SentAt::default();
        self.unsent.borrow_mut().push(sent_at.clone());
        sent_at
    }

    /// A watch for one exchange on this connection.
    pub(super) fn watch(&self) -> StreamWatch {
        let inner = StreamWaker {
            ready_ns: self.ready_ns.clone(),
            woken_ns: AtomicU64::new(0),
            task: Mutex::new(Waker::noop().clone()),
        };
        let inner = Arc::new(inner);
        StreamWatch { waker: Waker::from(inner.clone()), inner }
    }

    /// Begins a turn of the connection, in which it may read so often.
    pub(super) fn begin_turn(&self) {
        self.reads_left.set(READS_PER_TURN_MAX);
    }

    /// Whether the turn is over, with more to read perhaps.
    pub(super) fn is_turn_over(&self) -> bool {
        self.reads_left.get() == 0
    }

    /// Everything that was queued is out; when, if an exchange wants to know.
    fn flushed(&self) -> Option<Instant> {
        let mut unsent = self.unsent.borrow_mut();
        if unsent.is_empty() {
            return None;
        }
        let now = SystemClock::now();
        unsent.drain(..).for_each(|sent_at| sent_at.set(Some(now)));
        Some(now)
    }
}

/// A waker between the connection and an exchange: it notes when the bytes could be read that concern the exchange.
pub(super) struct StreamWatch {
    waker: Waker,
    inner: Arc<StreamWaker>,
}

struct StreamWaker {
    ready_ns: Arc<AtomicU64>,
    /// Zero for not yet.
    woken_ns: AtomicU64,
    task: Mutex<Waker>,
}

impl Wake for StreamWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken_ns.store(self.ready_ns.load(Ordering::Relaxed), Ordering::Relaxed);
        self.task.lock().unwrap_or_else(PoisonError::into_inner).wake_by_ref();
    }
}

impl StreamWatch {
    /// The waker to poll the stream with, on behalf of the task in `cx`.
    pub(super) fn waker(&self, cx: &Context<'_>) -> &Waker {
        let mut task = self.inner.task.lock().unwrap_or_else(PoisonError::into_inner);
        if !task.will_wake(cx.waker()) {
            task.clone_from(cx.waker());
        }
        &self.waker
    }

    /// When what woke the exchange could be read, if it was woken since this was last asked.
    pub(super) fn take(&self) -> Option<Instant> {
        let woken_ns = self.inner.woken_ns.swap(0, Ordering::Relaxed);
        (woken_ns > 0).then(|| Instant::from_ns(woken_ns))
    }
}

/// A byte stream over a socket that counts its bytes.
pub(crate) trait Transport: AsyncRead + AsyncWrite + Unpin + 'static {
    /// The socket.
    fn counted(&mut self) -> &mut Counted;
}

impl Transport for Box<Counted> {
    fn counted(&mut self) -> &mut Counted {
        self
    }
}

impl Transport for Box<TlsStream<Counted>> {
    fn counted(&mut self) -> &mut Counted {
        self.get_mut().0
    }
}

/// A connection that fills in its meter.
pub(super) struct Metered<S> {
    stream: S,
    watch: Watch,
    meter: Rc<Meter>,
}

impl<S> Metered<S> {
    pub(super) fn new(stream: S, meter: Rc<Meter>) -> Metered<S> {
        Metered { stream, watch: Watch::new(), meter }
    }
}

impl<S: Transport> AsyncRead for Metered<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let Some(reads_left) = this.meter.reads_left.get().checked_sub(1) else {
            // The task that moves the frames asks again in its next turn, without being woken.
            return Poll::Pending;
        };
        let polled_at = SystemClock::now();
        let mut watched = Context::from_waker(this.watch.waker(cx));
        let read = ready!(Pin::new(&mut this.stream).poll_read(&mut watched, buffer));
        let woken_at = this.watch.take().map_or(polled_at, |woken_at| woken_at.min(polled_at));
        let arrived_at = this.stream.counted().take_arrival();
        let ready_at = arrived_at.map_or(woken_at, |arrived_at| arrived_at.min(woken_at));
        this.meter.ready_ns.store(ready_at.as_ns(), Ordering::Relaxed);
        this.meter.reads_left.set(reads_left);
        Poll::Ready(read)
    }
}

impl<S: Transport> AsyncWrite for Metered<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let mut watched = Context::from_waker(this.watch.waker(cx));
        Pin::new(&mut this.stream).poll_write(&mut watched, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let mut watched = Context::from_waker(this.watch.waker(cx));
        Pin::new(&mut this.stream).poll_write_vectored(&mut watched, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let mut watched = Context::from_waker(this.watch.waker(cx));
        let flushed = ready!(Pin::new(&mut this.stream).poll_flush(&mut watched));
        if this.meter.flushed().is_some_and(arrival::is_worth_asking) {
            this.stream.counted().ask_for_arrivals();
        }
        Poll::Ready(flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
