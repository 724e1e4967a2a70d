//! Frames over one connection, encrypted or not: a task that reads and a task that writes.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::mpsc::Receiver;

use crate::codec::{self, CodecError};
use crate::message::Frame;

/// Bytes read at once.
const READ_BYTES: usize = 64 << 10;

/// Frames that wait to be written; a peer that does not read them is cut off.
pub(crate) const WRITES_MAX: usize = 4096;

/// Time for the last frames of a connection to be written.
const FLUSH_MAX: Duration = Duration::from_secs(2);

/// A connection, encrypted or not.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// Reads frames.
pub(crate) struct FrameReader {
    from: ReadHalf<Box<dyn Wire>>,
    bytes: BytesMut,
}

impl FrameReader {
    pub(crate) fn new(from: ReadHalf<Box<dyn Wire>>) -> FrameReader {
        FrameReader { from, bytes: BytesMut::new() }
    }

    /// The next frame; `None` at the end of the connection.
    pub(crate) async fn next(&mut self) -> Result<Option<Frame>, CodecError> {
        loop {
            if let Some(frame) = codec::decode(&mut self.bytes)? {
                return Ok(Some(frame));
            }
            self.bytes.reserve(READ_BYTES);
            match self.from.read_buf(&mut self.bytes).await {
                // A connection that breaks ends like one that is closed: missing frames are sent again on the next one.
                Ok(0) | Err(_) => return Ok(None),
                Ok(_) => {}
            }
        }
    }
}

/// Writes frames until their queue is closed, and then closes the connection.
pub(crate) async fn write(mut to: WriteHalf<Box<dyn Wire>>, mut frames: Receiver<Bytes>) {
    while let Some(frame) = frames.recv().await {
        if to.write_all(&frame).await.is_err() {
            return;
        }
        while let Ok(frame) = frames.try_recv() {
            if to.write_all(&frame).await.is_err() {
                return;
            }
        }
        if to.flush().await.is_err() {
            return;
        }
    }
    // The peer may be gone.
    let _ = tokio::time::timeout(FLUSH_MAX, to.shutdown()).await;
}
