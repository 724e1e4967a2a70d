//! What a live run tells, as server-sent events: made once and shared by all who listen.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use api::page::Reset;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use http_body_util::channel::{Channel, Sender};
use tokio::sync::watch;

/// Events that are kept for listeners that come back.
const EVENTS_MAX: usize = 600;

/// Bytes of kept events.
const BYTES_MAX: usize = 4 << 20;

/// Listeners at once.
pub(crate) const LISTENERS_MAX: usize = 32;

/// Events that wait for one listener within its connection.
const QUEUE_EVENTS_MAX: usize = 16;

/// How long nothing is sent at most: what lies between would take a silent connection for a dead one.
const SILENCE_MAX: Duration = Duration::from_secs(15);

/// How many pushes events are made for a listener that is gone, since it may come back.
const PUSHES_UNHEARD_MAX: u64 = 30;

/// After how many milliseconds a listener comes back whose connection was lost.
const RETRY_MS: u32 = 2000;

/// The events of a live run.
#[derive(Debug)]
pub struct Feed {
    ring: Mutex<Ring>,
    /// Counts changes of the ring.
    changed: watch::Sender<u64>,
    listeners: AtomicUsize,
    /// Times that somebody asked whether events are wanted since anybody listened.
    unheard: AtomicU64,
}

#[derive(Debug, Default)]
struct Ring {
    /// The id of the first event that is kept; ids count from 1.
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
            listeners: AtomicUsize::new(0),
            unheard: AtomicU64::new(PUSHES_UNHEARD_MAX),
        }
    }
}

impl Feed {
    /// Whether events would be heard: somebody listens, or did a moment ago. To be asked once a second, before anything
    /// is made.
    pub fn is_wanted(&self) -> bool {
        if self.listeners.load(Ordering::Relaxed) > 0 {
            self.unheard.store(0, Ordering::Relaxed);
            return true;
        }
        self.unheard.fetch_add(1, Ordering::Relaxed) < PUSHES_UNHEARD_MAX
    }

    /// Tells everybody. `json` is in one line, as serde writes it.
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

    /// Nothing more will be told.
    pub fn close(&self) {
        self.ring().is_closed = true;
        self.changed.send_modify(|count| *count += 1);
    }

    /// Answers a listener; `after` is the last event that it has.
    pub(crate) fn answer(self: &Arc<Feed>, after: Option<u64>) -> Response {
        let Some(seat) = Seat::take(self) else {
            let mut response = Response::new(Body::from("too many listen\n"));
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            return response;
        };
        let (sender, channel) = Channel::<Bytes, Infallible>::new(QUEUE_EVENTS_MAX);
        let next = match after {
            Some(after) => after.saturating_add(1),
            None => self.next(),
        };
        tokio::spawn(tell(seat, sender, next));
        let mut response = Response::new(Body::new(channel));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    /// The id of the event that comes next.
    fn next(&self) -> u64 {
        let ring = self.ring();
        ring.first + ring.events.len() as u64
    }

    /// What to send to a listener that waits for the event `next`, and which one it waits for then.
    fn since(&self, next: u64) -> Told {
        let ring = self.ring();
        let end = ring.first + ring.events.len() as u64;
        let is_closed = ring.is_closed;
        if next < ring.first || next > end {
            return Told { events: vec![reset(end)], next: end, is_closed };
        }
        let skipped = usize::try_from(next - ring.first).unwrap_or(usize::MAX);
        Told { events: ring.events.iter().skip(skipped).cloned().collect(), next: end, is_closed }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Told {
    events: Vec<Bytes>,
    next: u64,
    is_closed: bool,
}

/// Says that what the listener had is too long ago; it goes on with the event after.
fn reset(end: u64) -> Bytes {
    let last = end.saturating_sub(1);
    let reset = Reset { why: "the events since then are not kept any more" };
    let data = serde_json::to_string(&reset).unwrap_or_default();
    Bytes::from(format!("id: {last}\nevent: reset\ndata: {data}\n\n"))
}

/// A listener's place.
struct Seat(Arc<Feed>);

impl Seat {
    fn take(feed: &Arc<Feed>) -> Option<Seat> {
        let taken = feed.listeners.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
            (count < LISTENERS_MAX).then_some(count + 1)
        });
        taken.is_ok().then(|| Seat(feed.clone()))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends until the listener is gone or the run is over. A listener that reads too slowly waits in its own queue, and is told
/// when it missed something.
async fn tell(seat: Seat, mut sender: Sender<Bytes>, mut next: u64) {
    let mut changed = seat.0.changed.subscribe();
    if sender.send_data(Bytes::from(format!("retry: {RETRY_MS}\n\n"))).await.is_err() {
        return;
    }
    loop {
        changed.mark_unchanged();
        let told = seat.0.since(next);
        next = told.next;
        for event in told.events {
            if sender.send_data(event).await.is_err() {
                return;
            }
        }
        if told.is_closed && next == seat.0.next() {
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

    fn texts(told: &Told) -> Vec<String> {
        told.events.iter().map(|event| String::from_utf8_lossy(event).into_owned()).collect()
    }

    #[test]
    fn a_listener_goes_on_where_it_was() {
        let feed = Feed::default();
        for number in 1..=3 {
            feed.push("tick", &number.to_string());
        }
        assert_eq!(texts(&feed.since(3)), ["id: 3\nevent: tick\ndata: 3\n\n"]);
        let told = feed.since(4);
        assert_eq!((told.events.len(), told.next, told.is_closed), (0, 4, false));
        feed.close();
        feed.push("tick", "late");
        assert!(feed.since(4).is_closed && feed.since(4).events.is_empty());
    }

    #[test]
    fn what_is_too_long_ago_is_said() {
        let feed = Feed::default();
        (0..EVENTS_MAX + 5).for_each(|_| feed.push("tick", "0"));
        let told = feed.since(2);
        let expect = format!("id: {}\nevent: reset\n", EVENTS_MAX + 5);
        assert!(texts(&told)[0].starts_with(&expect), "{:?}", texts(&told));
        assert_eq!(told.next, EVENTS_MAX as u64 + 6);
        assert_eq!(feed.since(6).events.len(), EVENTS_MAX);
        // An id of another run.
        assert!(texts(&feed.since(1_000_000))[0].contains("reset"));
        feed.push("tick", &"x".repeat(BYTES_MAX));
        assert!(feed.ring().events.is_empty() && feed.ring().bytes == 0);
    }

    #[test]
    fn nothing_is_made_for_nobody() {
        let feed = Arc::new(Feed::default());
        assert!(!feed.is_wanted());
        let seat = Seat::take(&feed).expect("the first one");
        assert!(feed.is_wanted());
        drop(seat);
        let heard = (0..PUSHES_UNHEARD_MAX * 2).filter(|_| feed.is_wanted()).count();
        assert_eq!(heard as u64, PUSHES_UNHEARD_MAX);
        let seats: Vec<_> = std::iter::from_fn(|| Seat::take(&feed)).take(LISTENERS_MAX * 2).collect();
        assert_eq!(seats.len(), LISTENERS_MAX);
    }
}
