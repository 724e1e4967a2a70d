//! The events of a live run as server-sent events, serialized once for all listeners.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use api::page::Reset;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, header};
use http_body_util::channel::{Channel, Sender};
use tokio::sync::{Notify, watch};

/// Maximum number of events kept for listeners that reconnect.
const EVENTS_MAX: usize = 600;

/// Maximum size of kept events, bytes.
const BYTES_MAX: usize = 4 << 20;

/// Maximum number of simultaneous listeners. The oldest one gives way to a new one, and resumes when it reconnects.
pub(crate) const LISTENERS_MAX: usize = 32;

/// Maximum number of events queued for one connection.
const QUEUE_EVENTS_MAX: usize = 16;

/// Maximum time without data: proxies close silent connections.
const SILENCE_MAX: Duration = Duration::from_secs(15);

/// Number of pushes for which events are still made after the last listener left, since it may reconnect.
const PUSHES_UNHEARD_MAX: u64 = 30;

/// Delay before a listener reconnects, ms.
const RETRY_MS: u32 = 2000;

/// The events of a live run.
#[derive(Debug)]
pub struct Feed {
    ring: Mutex<Ring>,
    /// Number of changes to the ring.
    changed: watch::Sender<u64>,
    listeners: Mutex<Listeners>,
    /// Number of calls of [`Feed::is_wanted`] since the last listener left.
    unheard: AtomicU64,
}

#[derive(Debug, Default)]
struct Listeners {
    /// The number of the next listener.
    next: u64,
    /// Listeners with their numbers, the oldest first.
    seats: VecDeque<(u64, Arc<Notify>)>,
    /// Number of listeners that gave way.
    gave_way: u64,
}

#[derive(Debug, Default)]
struct Ring {
    /// The id of the first kept event; ids count from 1.
    first: u64,
    events: VecDeque<Bytes>,
    bytes: usize,
    is_closed: bool,
}

impl Default for Feed {
    fn default() -> Feed {
        Feed {
            ring: Mutex::new(Ring { first: 1, ..Ring::default() }),
            changed: watch::Sender::new(0),
            listeners: Mutex::default(),
            unheard: AtomicU64::new(PUSHES_UNHEARD_MAX),
        }
    }
}

impl Feed {
    /// Returns true if events have listeners, now or a moment ago. Call it once per second before events are made.
    pub fn is_wanted(&self) -> bool {
        if !self.listeners().seats.is_empty() {
            self.unheard.store(0, Ordering::Relaxed);
            return true;
        }
        self.unheard.fetch_add(1, Ordering::Relaxed) < PUSHES_UNHEARD_MAX
    }

    /// Publishes an event. `json` is one line, as serde writes it.
    pub fn push(&self, event: &str, json: &str) {
        let mut ring = self.ring();
        if ring.is_closed {
            return;
        }
        let id = ring.first + ring.events.len() as u64;
        let bytes = Bytes::from(format!("id: {id}\nevent: {event}\ndata: {json}\n\n"));
        ring.bytes += bytes.len();
        ring.events.push_back(bytes);
        while ring.events.len() > EVENTS_MAX || ring.bytes > BYTES_MAX {
            let Some(gone) = ring.events.pop_front() else { break };
            ring.bytes -= gone.len();
            ring.first += 1;
        }
        drop(ring);
        self.changed.send_modify(|count| *count += 1);
    }

    /// Ends the stream of events.
    pub fn close(&self) {
        self.ring().is_closed = true;
        self.changed.send_modify(|count| *count += 1);
    }

    /// Returns the event stream for a listener; `after` is the last event that it received.
    pub(crate) fn answer(self: &Arc<Feed>, after: Option<u64>) -> Response {
        let subscription = Subscription::take(self);
        let (sender, channel) = Channel::<Bytes, Infallible>::new(QUEUE_EVENTS_MAX);
        let next = match after {
            Some(after) => after.saturating_add(1),
            None => self.next(),
        };
        tokio::spawn(async move {
            let over = subscription.over.clone();
            tokio::select! {
                () = send(&subscription, sender, next) => {}
                () = over.notified() => {}
            }
        });
        let mut response = Response::new(Body::new(channel));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    /// Returns the id of the next event.
    fn next(&self) -> u64 {
        let ring = self.ring();
        ring.first + ring.events.len() as u64
    }

    /// Returns the data for a listener that waits for the event `next`, and the id that it waits for afterwards.
    fn since(&self, next: u64) -> Batch {
        let ring = self.ring();
        let end = ring.first + ring.events.len() as u64;
        let is_closed = ring.is_closed;
        if next < ring.first || next > end {
            return Batch { events: vec![reset(end)], next: end, is_closed };
        }
        let skipped = usize::try_from(next - ring.first).unwrap_or(usize::MAX);
        Batch { events: ring.events.iter().skip(skipped).cloned().collect(), next: end, is_closed }
    }

    /// Returns the number of listeners that gave way to new ones.
    pub fn gave_way(&self) -> u64 {
        self.listeners().gave_way
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Events for a listener, and the id of the next one.
struct Batch {
    events: Vec<Bytes>,
    next: u64,
    is_closed: bool,
}

/// Returns the event that reports missed events; the listener continues with the one after `end`.
fn reset(end: u64) -> Bytes {
    let last = end.saturating_sub(1);
    let reset = Reset { why: "the events since then are not kept any more" };
    let data = serde_json::to_string(&reset).unwrap_or_default();
    Bytes::from(format!("id: {last}\nevent: reset\ndata: {data}\n\n"))
}

/// The registration of a listener, which counts until it is dropped.
struct Subscription {
    feed: Arc<Feed>,
    number: u64,
    /// Set when the listener gives way.
    over: Arc<Notify>,
}

impl Subscription {
    /// Registers a listener. The oldest one gives way if there are too many.
    fn take(feed: &Arc<Feed>) -> Subscription {
        let mut listeners = feed.listeners();
        if listeners.seats.len() >= LISTENERS_MAX
            && let Some((_, oldest)) = listeners.seats.pop_front()
        {
            oldest.notify_one();
            listeners.gave_way += 1;
        }
        let (number, over) = (listeners.next, Arc::new(Notify::new()));
        listeners.next += 1;
        listeners.seats.push_back((number, over.clone()));
        Subscription { feed: feed.clone(), number, over }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.feed.listeners().seats.retain(|(number, _)| *number != self.number);
    }
}

/// Sends events until the listener leaves or the run is over. A slow listener only fills its own queue, and a reset event shows
/// that it missed events.
async fn send(subscription: &Subscription, mut sender: Sender<Bytes>, mut next: u64) {
    let feed = &subscription.feed;
    let mut changed = feed.changed.subscribe();
    if sender.send_data(Bytes::from(format!("retry: {RETRY_MS}\n\n"))).await.is_err() {
        return;
    }
    loop {
        changed.mark_unchanged();
        let batch = feed.since(next);
        next = batch.next;
        for event in batch.events {
            if sender.send_data(event).await.is_err() {
                return;
            }
        }
        if batch.is_closed && next == feed.next() {
            return;
        }
        let silence = tokio::time::timeout(SILENCE_MAX, changed.changed()).await;
        if silence.is_err() && sender.send_data(Bytes::from_static(b":\n\n")).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(batch: &Batch) -> Vec<String> {
        batch.events.iter().map(|event| String::from_utf8_lossy(event).into_owned()).collect()
    }

    #[test]
    fn a_listener_goes_on_where_it_was() {
        let feed = Feed::default();
        for number in 1..=3 {
            feed.push("tick", &number.to_string());
        }
        assert_eq!(texts(&feed.since(3)), ["id: 3\nevent: tick\ndata: 3\n\n"]);
        let batch = feed.since(4);
        assert_eq!((batch.events.len(), batch.next, batch.is_closed), (0, 4, false));
        feed.close();
        feed.push("tick", "late");
        assert!(feed.since(4).is_closed && feed.since(4).events.is_empty());
    }

    #[test]
    fn what_is_too_long_ago_is_said() {
        let feed = Feed::default();
        (0..EVENTS_MAX + 5).for_each(|_| feed.push("tick", "0"));
        let batch = feed.since(2);
        let expect = format!("id: {}\nevent: reset\n", EVENTS_MAX + 5);
        assert!(texts(&batch)[0].starts_with(&expect), "{:?}", texts(&batch));
        assert_eq!(batch.next, EVENTS_MAX as u64 + 6);
        assert_eq!(feed.since(6).events.len(), EVENTS_MAX);
        // The id comes from another run.
        assert!(texts(&feed.since(1_000_000))[0].contains("reset"));
        feed.push("tick", &"x".repeat(BYTES_MAX));
        assert!(feed.ring().events.is_empty() && feed.ring().bytes == 0);
    }

    #[test]
    fn nothing_is_made_for_nobody() {
        let feed = Arc::new(Feed::default());
        assert!(!feed.is_wanted());
        let subscription = Subscription::take(&feed);
        assert!(feed.is_wanted());
        drop(subscription);
        let heard = (0..PUSHES_UNHEARD_MAX * 2).filter(|_| feed.is_wanted()).count();
        assert_eq!(heard as u64, PUSHES_UNHEARD_MAX);
        let seats: Vec<_> = (0..LISTENERS_MAX * 2).map(|_| Subscription::take(&feed)).collect();
        assert_eq!(feed.listeners().seats.len(), LISTENERS_MAX);
        assert_eq!(feed.gave_way(), LISTENERS_MAX as u64);
        drop(seats);
        assert!(feed.listeners().seats.is_empty());
    }
}
