//! A streamed response: a task of its own receives it, so that its events are stamped when they come, whatever the script does
//! meanwhile.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_util::future::LocalBoxFuture;
use model::{Instant, Mark, SystemClock};
use wire::{BodyTap, TapHead};

use super::measures::{Ending, Measures};
use super::parser::{Format, Item, Parser};
use crate::http::params::Prepared;
use crate::http::perform::{self, Done};
use crate::state::VuState;
use crate::state::open_streams::OpenStream;

/// Bytes of items that wait for the script; beyond it nothing more is read, and the server has to wait.
const INBOX_BYTES_MAX: usize = 1 << 20;

/// Items that wait for the script.
const INBOX_ITEMS_MAX: usize = 65_536;

/// Bytes that are taken apart before the time is looked at: at most a thousand events, about half a millisecond's work.
const PORTION_BYTES: usize = 4 << 10;

/// How a stream is received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// Given by the script; otherwise the response's `Content-Type` says it.
    pub(super) format: Option<Format>,
    /// Whether items are measured and not kept.
    pub(super) discards: bool,
}

/// The head of a successful response.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) proto: &'static str,
    pub(super) headers: wire::Headers,
}

/// The end of a stream.
pub(super) struct Ended {
    /// The request as it ended; its response has no body where it was streamed.
    pub(super) done: Done,
    /// Why the stream is broken although its bytes are not.
    pub(super) fault: Option<String>,
}

/// A streamed response, or a request on its way to one.
pub(super) struct Session {
    vu: Rc<VuState>,
    manner: Manner,
    pub(super) measures: Measures,
    head: RefCell<Option<Head>>,
    parser: RefCell<Parser>,
    /// Bytes that are not taken apart yet, and when they could be read.
    pending: RefCell<Pending>,
    inbox: RefCell<VecDeque<(Item, Instant)>>,
    inbox_bytes: Cell<usize>,
    /// The task that waits for an item.
    listener: RefCell<Option<Waker>>,
    /// The task that receives.
    receiver: RefCell<Option<Waker>>,
    work: RefCell<Option<LocalBoxFuture<'static, Done>>>,
    /// The result of `work`, until what it left is taken apart.
    done: RefCell<Option<Done>>,
    ended: RefCell<Option<Rc<Ended>>>,
    fault: RefCell<Option<String>>,
    /// Whether the script, or a fault, ends it.
    is_stopped: Cell<bool>,
    is_over: Cell<bool>,
}

#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    used: usize,
    at: Instant,
}

impl OpenStream for Session {
    /// Gives the request up because the iteration is over.
    fn cut_off(&self) {
        if self.is_over.replace(true) {
            return;
        }
        // Dropped while it is under way, the request counts as cut.
        self.work.borrow_mut().take();
        self.inbox.borrow_mut().clear();
        self.measures.cut(&self.vu);
        self.wake(&self.listener);
        self.wake(&self.receiver);
    }
}

impl Session {
    /// Sends a request whose response is streamed.
    pub(super) fn start(
        vu: &Rc<VuState>,
        mut prepared: Box<Prepared>,
        manner: Manner,
        measures: Measures,
    ) -> Rc<Session> {
        let session = Rc::new(Session {
            vu: vu.clone(),
            manner,
            measures,
            head: RefCell::default(),
            parser: RefCell::new(Parser::new(manner.format.unwrap_or(Format::Pieces))),
            pending: RefCell::default(),
            inbox: RefCell::default(),
            inbox_bytes: Cell::new(0),
            listener: RefCell::default(),
            receiver: RefCell::default(),
            work: RefCell::default(),
            done: RefCell::default(),
            ended: RefCell::default(),
            fault: RefCell::default(),
            is_stopped: Cell::new(false),
            is_over: Cell::new(false),
        });
        prepared.request.tap = Some(wire::Tap::new(session.clone()));
        let for_work = vu.clone();
        *session.work.borrow_mut() =
            Some(Box::pin(async move { perform::perform(&for_work, &mut prepared).await }));
        let receiving = session.clone();
        tokio::task::spawn_local(poll_fn(move |cx| receiving.poll(cx)));
        session
    }

    /// Waits until the head of a successful response is there, or the request has ended without one.
    pub(super) async fn opened(&self) {
        self.wait(|session| session.head.borrow().is_some() || session.is_over.get()).await;
    }

    /// Waits until there is an item, or there will be none.
    pub(super) async fn ready(&self) {
        self.wait(|session| !session.inbox.borrow().is_empty() || session.is_over.get()).await;
    }

    /// Waits until the request has ended.
    pub(super) async fn over(&self) {
        self.wait(|session| session.is_over.get()).await;
    }

    async fn wait(&self, is_so: impl Fn(&Session) -> bool) {
        poll_fn(|cx| {
            if is_so(self) {
                return Poll::Ready(());
            }
            *self.listener.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// The head, once a successful response came.
    pub(super) fn head(&self) -> Option<Head> {
        self.head.borrow().clone()
    }

    /// How it ended, once it did; none for one that the end of the iteration cut.
    pub(super) fn ended(&self) -> Option<Rc<Ended>> {
        self.ended.borrow().clone()
    }

    /// The next item, if there is one, with the milliseconds since the request began to be sent.
    pub(super) fn take_item(&self) -> Option<(Item, f64)> {
        let was_full = self.is_full();
        let (item, at) = self.inbox.borrow_mut().pop_front()?;
        self.inbox_bytes.set(self.inbox_bytes.get() - item.bytes());
        if was_full && !self.is_full() {
            self.wake(&self.receiver);
        }
        Some((item, self.measures.elapsed_ms(at)))
    }

    /// Ends it without a failure: the script wants nothing more. A request without a response is given up.
    pub(super) fn stop(&self) {
        self.is_stopped.set(true);
        self.inbox.borrow_mut().clear();
        self.inbox_bytes.set(0);
        if self.head.borrow().is_none() {
            self.cut_off();
        }
        self.wake(&self.receiver);
    }

    fn is_full(&self) -> bool {
        self.inbox_bytes.get() > INBOX_BYTES_MAX || self.inbox.borrow().len() >= INBOX_ITEMS_MAX
    }

    fn wake(&self, waker: &RefCell<Option<Waker>>) {
        if let Some(waker) = waker.borrow().as_ref() {
            waker.wake_by_ref();
        }
    }

    fn remember_receiver(&self, cx: &Context<'_>) {
        let mut receiver = self.receiver.borrow_mut();
        if !receiver.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            *receiver = Some(cx.waker().clone());
        }
    }

    /// The receiver's turn.
    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.remember_receiver(cx);
        // Taken out meanwhile, because the tap is called from within.
        if let Some(mut work) = self.work.take() {
            match work.as_mut().poll(cx) {
                Poll::Ready(done) => *self.done.borrow_mut() = Some(done),
                Poll::Pending => {
                    *self.work.borrow_mut() = Some(work);
                    return Poll::Pending;
                }
            }
        }
        if self.is_over.get() {
            return Poll::Ready(());
        }
        if self.poll_pending(cx).is_pending() {
            return Poll::Pending;
        }
        if let Some(done) = self.done.take() {
            self.finish(done);
        }
        Poll::Ready(())
    }

    /// Takes apart what came, for as long as a turn may be and the inbox has capacity.
    fn poll_pending(&self, cx: &Context<'_>) -> Poll<()> {
        let mut pending = self.pending.borrow_mut();
        let mut began = None;
        while pending.used < pending.bytes.len() {
            if self.is_stopped.get() {
                break;
            }
            if self.is_full() {
                self.measures.pause();
                return Poll::Pending;
            }
            let now = SystemClock::now();
            if now.since(*began.get_or_insert(now)) >= vu::turns::TURN_MAX {
                vu::turns::join(cx.waker());
                return Poll::Pending;
            }
            let end = pending.bytes.len().min(pending.used + PORTION_BYTES);
            let fed = self.parser.borrow_mut().feed(&pending.bytes[pending.used..end], |item| {
                self.put(item, pending.at);
            });
            pending.used = end;
            if let Err(fault) = fed {
                self.break_off(fault);
            }
        }
        pending.bytes.clear();
        pending.used = 0;
        Poll::Ready(())
    }

    fn put(&self, item: Item, at: Instant) {
        if item.is_counted() {
            self.measures.event(&self.vu, at);
        }
        if !self.manner.discards && !self.is_stopped.get() {
            self.inbox_bytes.set(self.inbox_bytes.get() + item.bytes());
            self.inbox.borrow_mut().push_back((item, at));
            self.wake(&self.listener);
        }
    }

    fn break_off(&self, fault: String) {
        self.fault.borrow_mut().get_or_insert(fault);
        self.is_stopped.set(true);
    }

    fn finish(&self, done: Done) {
        let exchange = &done.facts.exchange;
        let at = exchange.finished;
        let mut ending = Ending::of(exchange);
        if ending.mark == Mark::Measured
            && !self.is_stopped.get()
            && let Some(item) = self.parser.borrow_mut().end()
        {
            self.put(item, at);
        }
        let fault = self.fault.take();
        if fault.is_some() {
            ending.mark = Mark::Cut;
        }
        self.measures.end(&self.vu, ending);
        *self.ended.borrow_mut() = Some(Rc::new(Ended { done, fault }));
        self.is_over.set(true);
        self.wake(&self.listener);
    }
}

impl BodyTap for Session {
    fn begin(&self, head: &TapHead<'_>) {
        let content_type = head.headers.get("content-type").unwrap_or_default();
        let format = self.manner.format.unwrap_or_else(|| Format::of_content_type(content_type));
        *self.parser.borrow_mut() = Parser::new(format);
        self.measures.begin(&self.vu, head.status, head.sent_from, head.at);
        let (status, proto, headers) = (head.status, head.proto, head.headers.clone());
        *self.head.borrow_mut() = Some(Head { status, proto, headers });
        self.wake(&self.listener);
    }

    fn take(&self, bytes: &[u8], at: Instant) {
        let mut pending = self.pending.borrow_mut();
        pending.at = at;
        pending.bytes.extend_from_slice(bytes);
    }

    fn poll_wanted(&self, cx: &Context<'_>) -> Poll<bool> {
        match self.poll_pending(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => Poll::Ready(!self.is_stopped.get()),
        }
    }
}
