//! An open connection: a task of its own sends and receives, so that messages are acknowledged and signs of life are given,
//! whatever the script does meanwhile.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::task::AbortHandle;

use super::MqttError;
use super::packet::{self, Received, Settings};
use crate::BoxStream;

/// Bytes of messages that wait for the script; beyond it nothing more is read, and the server has to wait.
const INBOX_BYTES_MAX: usize = 16 << 20;

/// Messages that wait for the script.
const INBOX_EVENTS_MAX: usize = 65_536;

/// Bytes that wait to be sent.
const OUT_BYTES_MAX: usize = 16 << 20;

/// Bytes that may be unsent when a publication of quality 0 counts as sent.
const OUT_BYTES_LOW: usize = 64 << 10;

/// Questions without an answer so far.
const PENDING_MAX: usize = 10_000;

/// Messages of quality 2 that the server has not given away.
const HELD_MAX: usize = 65_536;

/// Bytes to read at once.
const READ_BYTES: usize = 16 << 10;

/// How long the end of a connection may take.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// An event for the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message of a subscription.
    Message {
        /// Its topic.
        topic: String,
        /// Its content.
        payload: Bytes,
    },
    /// The connection is over, because the script ended it or for a reason.
    Over(Option<MqttError>),
}

impl Event {
    fn bytes(&self) -> usize {
        match self {
            Event::Message { topic, payload } => topic.len() + payload.len(),
            Event::Over(_) => 0,
        }
    }
}

/// A question to the server, until it is answered.
#[derive(Default)]
struct Pending {
    answer: Option<Result<Vec<u8>, MqttError>>,
    waker: Option<Waker>,
}

/// An open connection.
pub struct Session {
    out: RefCell<BytesMut>,
    pending: RefCell<HashMap<u16, Pending>>,
    last_id: Cell<u16>,
    /// Messages of quality 2 that were delivered and not released.
    held: RefCell<HashSet<u16>>,
    inbox: RefCell<VecDeque<Event>>,
    inbox_bytes: Cell<usize>,
    /// The tasks that wait for an event, or for bytes to be sent.
    listeners: RefCell<Vec<Waker>>,
    /// The task that sends and receives.
    driver: RefCell<Option<Waker>>,
    /// Gives signs of life.
    pulse: Cell<Option<AbortHandle>>,
    awaits_pong: Cell<bool>,
    /// Whether the script ends the connection.
    is_ending: Cell<bool>,
    is_over: Cell<bool>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("is_over", &self.is_over).finish_non_exhaustive()
    }
}

impl Session {
    /// Logs in over a connection, and begins to receive.
    ///
    /// # Errors
    /// The server refuses it, or does not answer as MQTT does.
    pub async fn open(mut stream: BoxStream, settings: &Settings) -> Result<Rc<Session>, MqttError> {
        stream.write_all(&packet::connect(settings)?).await.map_err(lost)?;
        stream.flush().await.map_err(lost)?;
        let mut input = BytesMut::new();
        let first = loop {
            if let Some(received) = packet::take(&mut input)? {
                break received;
            }
            input.reserve(READ_BYTES);
            if stream.read_buf(&mut input).await.map_err(lost)? == 0 {
                return Err(MqttError::Lost("the server closed the connection (EOF)".to_owned()));
            }
        };
        match first {
            Received::Connected(0) => {}
            Received::Connected(code) => return Err(MqttError::Refused(code)),
            _ => return Err(MqttError::Malformed("the server does not answer as MQTT does")),
        }
        let session = Rc::new(Session {
            out: RefCell::default(),
            pending: RefCell::default(),
            last_id: Cell::new(0),
            held: RefCell::default(),
            inbox: RefCell::default(),
            inbox_bytes: Cell::new(0),
            listeners: RefCell::default(),
            driver: RefCell::default(),
            pulse: Cell::default(),
            awaits_pong: Cell::new(false),
            is_ending: Cell::new(false),
            is_over: Cell::new(false),
        });
        let driven = session.clone();
        tokio::task::spawn_local(poll_fn(move |cx| driven.poll(cx, &mut stream, &mut input)));
        if settings.keep_alive_s > 0 {
            let beating = session.clone();
            let every = Duration::from_secs(settings.keep_alive_s.into());
            let pulse = tokio::task::spawn_local(async move { beating.beat(every).await });
            session.pulse.set(Some(pulse.abort_handle()));
        }
        Ok(session)
    }

    /// Whether the connection is open, and not about to end.
    pub fn is_connected(&self) -> bool {
        !self.is_over.get() && !self.is_ending.get()
    }

    /// Publishes a message. Waits until it is sent, and with quality 1 or 2 until the server has it.
    ///
    /// # Errors
    /// See [`MqttError`].
    pub async fn publish(
        &self,
        topic: &str,
        payload: &[u8],
        qos: u8,
        is_retained: bool,
    ) -> Result<(), MqttError> {
        let qos = qos.min(2);
        if qos == 0 {
            self.queue(&packet::publish(topic, payload, 0, is_retained, 0)?)?;
            return self.sent().await;
        }
        let id = self.begin()?;
        let bytes = packet::publish(topic, payload, qos, is_retained, id);
        self.ask(id, bytes).await.map(drop)
    }

    /// Subscribes to topics.
    ///
    /// # Errors
    /// See [`MqttError`].
    pub async fn subscribe(&self, filters: &[String], qos: u8) -> Result<(), MqttError> {
        let id = self.begin()?;
        let codes = self.ask(id, packet::subscribe(filters, Some(qos.min(2)), id)).await?;
        let refused = codes.iter().zip(filters).find(|(code, _)| **code & 0x80 != 0);
        refused.map_or(Ok(()), |(_, filter)| Err(MqttError::NotSubscribed(filter.clone())))
    }

    /// Ends subscriptions.
    ///
    /// # Errors
    /// See [`MqttError`].
    pub async fn unsubscribe(&self, filters: &[String]) -> Result<(), MqttError> {
        let id = self.begin()?;
        self.ask(id, packet::subscribe(filters, None, id)).await.map(drop)
    }

    /// Says goodbye and waits until that is sent.
    pub async fn end(&self) {
        if self.is_over.get() {
            return;
        }
        self.leave();
        // A server that reads no more has no goodbye.
        if tokio::time::timeout(END_TIMEOUT, self.over()).await.is_err() {
            self.finish(None);
        }
    }

    /// Says goodbye without waiting.
    pub fn leave(&self) {
        if !self.is_over.get() && !self.is_ending.replace(true) {
            self.out.borrow_mut().extend_from_slice(&packet::DISCONNECT);
            self.wake_driver();
        }
    }

    /// Waits until there is an event, or there will be none.
    pub async fn ready(&self) {
        self.wait(|session| session.is_over.get() || !session.inbox.borrow().is_empty()).await;
    }

    /// The next event, if there is one.
    pub fn take_event(&self) -> Option<Event> {
        let event = self.inbox.borrow_mut().pop_front()?;
        let was_full = self.is_full();
        self.inbox_bytes.set(self.inbox_bytes.get() - event.bytes());
        if was_full {
            self.wake_driver();
        }
        Some(event)
    }

    async fn over(&self) {
        self.wait(|session| session.is_over.get()).await;
    }

    /// Waits until little is unsent.
    async fn sent(&self) -> Result<(), MqttError> {
        self.wait(|session| session.is_over.get() || session.out.borrow().len() <= OUT_BYTES_LOW).await;
        if self.is_over.get() { Err(MqttError::Closed) } else { Ok(()) }
    }

    async fn wait(&self, is_so: impl Fn(&Session) -> bool) {
        poll_fn(|cx| {
            if is_so(self) {
                return Poll::Ready(());
            }
            self.listeners.borrow_mut().push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// The number of a new question.
    fn begin(&self) -> Result<u16, MqttError> {
        if !self.is_connected() {
            return Err(MqttError::Closed);
        }
        let mut pending = self.pending.borrow_mut();
        if pending.len() >= PENDING_MAX {
            return Err(MqttError::Full);
        }
        loop {
            self.last_id.set(self.last_id.get().wrapping_add(1));
            let id = self.last_id.get();
            // 0 is no number (2.3.1).
            if id != 0 && !pending.contains_key(&id) {
                pending.insert(id, Pending::default());
                return Ok(id);
            }
        }
    }

    /// Sends a question and waits for its answer. A future that is dropped forgets it.
    async fn ask(&self, id: u16, bytes: Result<Vec<u8>, MqttError>) -> Result<Vec<u8>, MqttError> {
        struct Forget<'a>(&'a Session, u16);
        impl Drop for Forget<'_> {
            fn drop(&mut self) {
                self.0.pending.borrow_mut().remove(&self.1);
            }
        }
        let _forget = Forget(self, id);
        self.queue(&bytes?)?;
        poll_fn(|cx| {
            let mut pending = self.pending.borrow_mut();
            let Some(question) = pending.get_mut(&id) else { return Poll::Ready(Err(MqttError::Closed)) };
            match question.answer.take() {
                Some(answer) => Poll::Ready(answer),
                None => {
                    question.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn queue(&self, bytes: &[u8]) -> Result<(), MqttError> {
        if !self.is_connected() {
            return Err(MqttError::Closed);
        }
        let mut out = self.out.borrow_mut();
        if out.len() + bytes.len() > OUT_BYTES_MAX {
            return Err(MqttError::Full);
        }
        out.extend_from_slice(bytes);
        drop(out);
        self.wake_driver();
        Ok(())
    }

    /// Gives signs of life. A server that does not answer the last one is gone.
    async fn beat(&self, every: Duration) {
        loop {
            tokio::time::sleep(every).await;
            if self.awaits_pong.replace(true) {
                let text =
                    format!("the server gives no sign of life within {every:?} (pingresp not received)");
                return self.finish(Some(MqttError::Lost(text)));
            }
            if self.queue(&packet::PING).is_err() {
                return;
            }
        }
    }

    /// The driver's turn.
    fn poll(&self, cx: &mut Context<'_>, stream: &mut BoxStream, input: &mut BytesMut) -> Poll<()> {
        *self.driver.borrow_mut() = Some(cx.waker().clone());
        loop {
            if self.is_over.get() {
                return Poll::Ready(());
            }
            match self.send(cx, stream) {
                Poll::Ready(Err(error)) => self.finish(Some(lost(error))),
                Poll::Ready(Ok(())) if self.is_ending.get() => self.finish(None),
                _ => {}
            }
            if self.is_over.get() {
                return Poll::Ready(());
            }
            while !self.is_full() {
                match packet::take(input) {
                    Ok(Some(received)) => self.take(received),
                    Ok(None) => break,
                    Err(error) => {
                        self.finish(Some(error));
                        return Poll::Ready(());
                    }
                }
            }
            // Acknowledgements are sent before more is read.
            if !self.out.borrow().is_empty() && self.send(cx, stream).is_pending() && self.is_full() {
                return Poll::Pending;
            }
            if self.is_full() {
                return Poll::Pending;
            }
            input.reserve(READ_BYTES);
            match receive(cx, stream, input) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0)) => {
                    self.finish(Some(MqttError::Lost("the server closed the connection (EOF)".to_owned())));
                }
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => self.finish(Some(lost(error))),
            }
        }
    }

    fn send(&self, cx: &mut Context<'_>, stream: &mut BoxStream) -> Poll<io::Result<()>> {
        let mut out = self.out.borrow_mut();
        let had = out.len();
        let result = loop {
            if out.is_empty() {
                break Pin::new(&mut *stream).poll_flush(cx);
            }
            match Pin::new(&mut *stream).poll_write(cx, &out) {
                Poll::Ready(Ok(0)) => break Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(count)) => out.advance(count),
                Poll::Ready(Err(error)) => break Poll::Ready(Err(error)),
                Poll::Pending => break Poll::Pending,
            }
        };
        if out.len() < had {
            drop(out);
            self.wake_listeners();
        }
        result
    }

    fn take(&self, received: Received) {
        match received {
            Received::Message { topic, payload, qos, id } => {
                if qos == 1 {
                    self.acknowledge(4, id);
                }
                if qos == 2 {
                    let is_new = self.held.borrow().len() < HELD_MAX && self.held.borrow_mut().insert(id);
                    self.acknowledge(5, id);
                    if !is_new {
                        return;
                    }
                }
                self.deliver(Event::Message { topic, payload });
            }
            Received::Released(id) => {
                self.held.borrow_mut().remove(&id);
                self.acknowledge(7, id);
            }
            Received::Stored(id) => self.acknowledge(6, id),
            Received::Published(id) | Received::Unsubscribed(id) => self.answer(id, Ok(Vec::new())),
            Received::Subscribed(id, codes) => self.answer(id, Ok(codes)),
            Received::Pong => self.awaits_pong.set(false),
            Received::Connected(_) => {}
        }
    }

    fn acknowledge(&self, kind: u8, id: u16) {
        self.out.borrow_mut().extend_from_slice(&packet::acknowledgement(kind, id));
    }

    fn answer(&self, id: u16, answer: Result<Vec<u8>, MqttError>) {
        if let Some(question) = self.pending.borrow_mut().get_mut(&id) {
            question.answer = Some(answer);
            if let Some(waker) = question.waker.take() {
                waker.wake();
            }
        }
    }

    fn deliver(&self, event: Event) {
        self.inbox_bytes.set(self.inbox_bytes.get() + event.bytes());
        self.inbox.borrow_mut().push_back(event);
        self.wake_listeners();
    }

    /// The connection is over: questions have no answer, and the script gets the reason.
    fn finish(&self, error: Option<MqttError>) {
        if self.is_over.replace(true) {
            return;
        }
        let error = error.filter(|_| !self.is_ending.get());
        for question in self.pending.borrow_mut().values_mut() {
            question.answer = Some(Err(error.clone().unwrap_or(MqttError::Closed)));
            if let Some(waker) = question.waker.take() {
                waker.wake();
            }
        }
        if let Some(pulse) = self.pulse.take() {
            pulse.abort();
        }
        self.deliver(Event::Over(error));
        self.wake_driver();
    }

    fn is_full(&self) -> bool {
        self.inbox_bytes.get() > INBOX_BYTES_MAX || self.inbox.borrow().len() >= INBOX_EVENTS_MAX
    }

    fn wake_driver(&self) {
        if let Some(driver) = self.driver.borrow().as_ref() {
            driver.wake_by_ref();
        }
    }

    fn wake_listeners(&self) {
        for listener in std::mem::take(&mut *self.listeners.borrow_mut()) {
            listener.wake();
        }
    }
}

fn receive(cx: &mut Context<'_>, stream: &mut BoxStream, input: &mut BytesMut) -> Poll<io::Result<usize>> {
    let mut bytes = [0; READ_BYTES];
    let mut buffer = ReadBuf::new(&mut bytes);
    match Pin::new(stream).poll_read(cx, &mut buffer) {
        Poll::Ready(Ok(())) => {
            input.extend_from_slice(buffer.filled());
            Poll::Ready(Ok(buffer.filled().len()))
        }
        Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
        Poll::Pending => Poll::Pending,
    }
}

fn lost(error: io::Error) -> MqttError {
    MqttError::Lost(format!("the connection is lost: {error}"))
}

#[cfg(test)]
mod tests {
    use tokio::io::DuplexStream;
    use tokio::task::LocalSet;

    use super::*;

    fn settings(keep_alive_s: u16) -> Settings {
        let client_id = "c".to_owned();
        Settings { client_id, user: None, password: None, will: None, keep_alive_s, is_clean: true }
    }

    /// A client and its server's side, after the login.
    async fn pair(keep_alive_s: u16) -> (Rc<Session>, DuplexStream) {
        let (near, mut far) = tokio::io::duplex(1 << 16);
        let opened = tokio::task::spawn_local(async move {
            Session::open(Box::new(near), &settings(keep_alive_s)).await.expect("it is let in")
        });
        expect(&mut far, &packet::connect(&settings(keep_alive_s)).expect("it fits")).await;
        far.write_all(b"\x20\x02\0\0").await.expect("it reads");
        (opened.await.expect("no panic"), far)
    }

    async fn expect(far: &mut DuplexStream, bytes: &[u8]) {
        let mut got = vec![0; bytes.len()];
        far.read_exact(&mut got).await.expect("it writes");
        assert_eq!(got, bytes);
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn messages_of_every_quality() {
        LocalSet::new()
            .run_until(async {
                let (session, mut far) = pair(0).await;
                far.write_all(b"\x32\x06\0\x01a\0\x07x").await.expect("it reads");
                expect(&mut far, b"\x40\x02\0\x07").await;
                // Twice the same of quality 2, and then its release.
                far.write_all(b"\x34\x06\0\x01a\0\x08y\x3c\x06\0\x01a\0\x08y\x62\x02\0\x08")
                    .await
                    .expect("it reads");
                expect(&mut far, b"\x50\x02\0\x08\x50\x02\0\x08\x70\x02\0\x08").await;
                let message =
                    |text: &'static str| Event::Message { topic: "a".to_owned(), payload: text.into() };
                session.ready().await;
                assert_eq!(session.take_event(), Some(message("x")));
                assert_eq!(session.take_event(), Some(message("y")));
                assert_eq!(session.take_event(), None);
            })
            .await;
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn publications_wait_for_their_answers() {
        LocalSet::new()
            .run_until(async {
                let (session, mut far) = pair(0).await;
                let publisher = session.clone();
                let published =
                    tokio::task::spawn_local(async move { publisher.publish("a", b"x", 2, false).await });
                expect(&mut far, b"\x34\x06\0\x01a\0\x01x").await;
                far.write_all(b"\x50\x02\0\x01").await.expect("it reads");
                expect(&mut far, b"\x62\x02\0\x01").await;
                assert!(!published.is_finished());
                far.write_all(b"\x70\x02\0\x01").await.expect("it reads");
                assert_eq!(published.await.expect("no panic"), Ok(()));
                let subscriber = session.clone();
                let subscribed = tokio::task::spawn_local(async move {
                    subscriber.subscribe(&["a".to_owned(), "b".to_owned()], 1).await
                });
                expect(&mut far, b"\x82\x0a\0\x02\0\x01a\x01\0\x01b\x01").await;
                far.write_all(b"\x90\x04\0\x02\x01\x80").await.expect("it reads");
                assert_eq!(
                    subscribed.await.expect("no panic"),
                    Err(MqttError::NotSubscribed("b".to_owned()))
                );
            })
            .await;
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_silent_server_is_gone() {
        LocalSet::new()
            .run_until(async {
                let (session, mut far) = pair(10).await;
                expect(&mut far, &packet::PING).await;
                far.write_all(b"\xd0\0").await.expect("it reads");
                expect(&mut far, &packet::PING).await;
                session.ready().await;
                let event = session.take_event();
                assert!(
                    matches!(&event, Some(Event::Over(Some(MqttError::Lost(text)))) if text.contains("pingresp")),
                    "{event:?}"
                );
                assert_eq!(session.publish("a", b"", 1, false).await, Err(MqttError::Closed));
            })
            .await;
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn goodbyes_and_ends() {
        LocalSet::new()
            .run_until(async {
                let (session, mut far) = pair(0).await;
                session.end().await;
                expect(&mut far, &packet::DISCONNECT).await;
                assert_eq!(session.take_event(), Some(Event::Over(None)));
                let (session, mut far) = pair(0).await;
                far.write_all(b"\x10\x02\0\0").await.expect("it reads");
                session.ready().await;
                assert!(matches!(session.take_event(), Some(Event::Over(Some(MqttError::Malformed(_))))));
                let (session, far) = pair(0).await;
                drop(far);
                session.ready().await;
                assert!(matches!(session.take_event(), Some(Event::Over(Some(MqttError::Lost(_))))));
            })
            .await;
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_script_that_takes_nothing_holds_the_server_back() {
        LocalSet::new()
            .run_until(async {
                let (session, mut far) = pair(0).await;
                let sender = tokio::task::spawn_local(async move {
                    let message = packet::publish("a", &[0; 1 << 20], 0, false, 0).expect("it fits");
                    let mut sent = 0;
                    while sent < 100 && far.write_all(&message).await.is_ok() {
                        sent += 1;
                    }
                    sent
                });
                tokio::time::sleep(Duration::from_secs(1)).await;
                assert!(!sender.is_finished());
                assert!(session.inbox.borrow().len() < 20, "{}", session.inbox.borrow().len());
                let mut taken = 0;
                while taken < 100 {
                    session.ready().await;
                    taken += usize::from(session.take_event().is_some());
                }
                assert_eq!(sender.await.expect("no panic"), 100);
            })
            .await;
    }
}
