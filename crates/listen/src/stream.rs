//! A stream that reports its reads and writes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use model::SystemClock;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::activity::Activity;
use crate::table::Pulse;

/// A connection's stream.
#[derive(Debug)]
pub struct Watched<S> {
    stream: S,
    activity: Activity,
}

impl<S> Watched<S> {
    pub(crate) fn new(stream: S, activity: Activity) -> Watched<S> {
        Watched { stream, activity }
    }

    fn wrote<T>(&self, polled: &Poll<io::Result<T>>, note: fn(&mut Pulse)) {
        match polled {
            Poll::Pending => self.activity.note(|pulse| pulse.write_waits(SystemClock::now())),
            Poll::Ready(_) => self.activity.note(note),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let came = &buffer.filled()[before..];
        if !came.is_empty() {
            self.activity.note(|pulse| pulse.received(came, SystemClock::now()));
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        // A client that takes a part of the bytes is not yet as fast as the server.
        let is_whole = matches!(polled, Poll::Ready(Ok(count)) if count == bytes.len());
        self.wrote(&polled, if is_whole { Pulse::flushed } else { Pulse::wrote });
        polled
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        let total: usize = parts.iter().map(|part| part.len()).sum();
        let is_whole = matches!(polled, Poll::Ready(Ok(count)) if count == total);
        self.wrote(&polled, if is_whole { Pulse::flushed } else { Pulse::wrote });
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
