//! The activity of a connection, as its stream and its bodies report it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use model::SystemClock;

use crate::intake::Intake;
use crate::table::Pulse;

/// A handle to the activity of one connection.
#[derive(Clone, Debug)]
pub struct Activity {
    intake: Arc<Intake>,
    number: u64,
}

impl Activity {
    pub(crate) fn new(intake: Arc<Intake>, number: u64) -> Activity {
        Activity { intake, number }
    }

    pub(crate) fn note(&self, note: impl FnOnce(&mut Pulse)) {
        self.intake.note(self.number, note);
    }

    /// Begins a request.
    pub(crate) fn begin(&self) -> Turn {
        self.note(Pulse::began);
        Turn(self.clone())
    }
}

/// A request in progress. It ends when it is dropped, with the body of its response.
#[derive(Debug)]
pub(crate) struct Turn(Activity);

impl Turn {
    /// Returns the body of the request, which reports that it is incomplete.
    pub(crate) fn body<B: Body>(&self, body: B) -> Incoming<B> {
        let is_open = !body.is_end_stream();
        if is_open {
            self.0.note(|pulse| pulse.body_began(SystemClock::now()));
        }
        Incoming { body, open: is_open.then(|| self.0.clone()) }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.note(|pulse| pulse.ended(SystemClock::now()));
    }
}

/// A request's body.
#[derive(Debug)]
pub struct Incoming<B> {
    body: B,
    /// Set while the body is incomplete.
    open: Option<Activity>,
}

impl<B> Incoming<B> {
    fn end(&mut self) {
        if let Some(activity) = self.open.take() {
            activity.note(Pulse::body_ended);
        }
    }
}

impl<B> Drop for Incoming<B> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Incoming<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) || self.body.is_end_stream() {
            self.end();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A response's body; the request is in progress until it is dropped.
#[derive(Debug)]
pub struct Outgoing<B> {
    body: B,
    _turn: Turn,
}

impl<B> Outgoing<B> {
    pub(crate) fn new(body: B, turn: Turn) -> Outgoing<B> {
        Outgoing { body, _turn: turn }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Outgoing<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
