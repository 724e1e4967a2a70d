//! One connection to one node.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;

use bytes::BytesMut;
use futures_util::future::LocalBoxFuture;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};

use super::resp::{DEPTH_MAX, Head, LINE_BYTES_MAX, REPLY_BYTES_MAX, Reply, VALUE_BYTES, encode, head};
use crate::BoxStream;

/// Bytes to read at once.
const READ_BYTES: usize = 16 << 10;

/// A connection, between two replies.
pub(super) struct Wire {
    stream: BoxStream,
    input: BytesMut,
}

impl Wire {
    pub(super) fn new(stream: BoxStream) -> Wire {
        Wire { stream, input: BytesMut::new() }
    }

    /// Whether an idle connection can be used: it is open, and no bytes came without a command.
    pub(super) async fn is_idle(&mut self) -> bool {
        if !self.input.is_empty() {
            return false;
        }
        let mut byte = [0];
        poll_fn(|cx| {
            let read = Pin::new(&mut self.stream).poll_read(cx, &mut ReadBuf::new(&mut byte));
            Poll::Ready(read.is_pending())
        })
        .await
    }

    pub(super) async fn send(&mut self, command: &[Vec<u8>]) -> io::Result<()> {
        self.stream.write_all(&encode(command)).await?;
        self.stream.flush().await
    }

    /// Receives one reply.
    ///
    /// # Errors
    /// The connection ended, what came is no reply, or it exceeds a limit. The connection cannot be used again.
    pub(super) async fn reply(&mut self) -> io::Result<Reply> {
        let mut left = REPLY_BYTES_MAX;
        self.value(&mut left, 0).await
    }

    fn value<'a>(&'a mut self, left: &'a mut usize, depth: usize) -> LocalBoxFuture<'a, io::Result<Reply>> {
        Box::pin(async move {
            let line = self.line().await?;
            spend(left, VALUE_BYTES + line.len())?;
            match head(&line).ok_or_else(|| malformed(&line))? {
                Head::Whole(reply) => Ok(reply),
                Head::Text(bytes) => {
                    spend(left, bytes)?;
                    self.text(bytes).await
                }
                Head::Array(_) if depth == DEPTH_MAX => {
                    Err(io::Error::other(format!("the reply has more than {DEPTH_MAX} arrays in each other")))
                }
                Head::Array(count) => {
                    // A count may promise more than ever comes.
                    let mut replies = Vec::with_capacity(count.min(READ_BYTES / VALUE_BYTES));
                    for _ in 0..count {
                        replies.push(self.value(left, depth + 1).await?);
                    }
                    Ok(Reply::Array(replies))
                }
            }
        })
    }

    async fn text(&mut self, bytes: usize) -> io::Result<Reply> {
        while self.input.len() < bytes + 2 {
            self.fill().await?;
        }
        let text = self.input.split_to(bytes);
        if &self.input.split_to(2)[..] != b"\r\n" {
            return Err(malformed(&text[..text.len().min(40)]));
        }
        Ok(Reply::Text(text.to_vec()))
    }

    async fn line(&mut self) -> io::Result<BytesMut> {
        let mut seen = 0;
        loop {
            if let Some(at) = self.input[seen..].iter().position(|byte| *byte == b'\n') {
                let mut line = self.input.split_to(seen + at + 1);
                line.truncate(line.strip_suffix(b"\r\n").map_or(seen + at, <[u8]>::len));
                return Ok(line);
            }
            seen = self.input.len();
            if seen > LINE_BYTES_MAX {
                return Err(malformed(&self.input[..40]));
            }
            self.fill().await?;
        }
    }

    async fn fill(&mut self) -> io::Result<()> {
        self.input.reserve(READ_BYTES);
        match self.stream.read_buf(&mut self.input).await? {
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection (EOF)")),
            _ => Ok(()),
        }
    }
}

fn spend(left: &mut usize, bytes: usize) -> io::Result<()> {
    *left = left.checked_sub(bytes).ok_or_else(|| {
        let max = REPLY_BYTES_MAX >> 20;
        io::Error::other(format!("the reply exceeds {max} MiB; ask for it in parts"))
    })?;
    Ok(())
}

fn malformed(bytes: &[u8]) -> io::Error {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]);
    io::Error::other(format!("not a reply of a Redis server: {start:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The replies in these bytes, which come two at a time.
    async fn read(bytes: &[u8], count: usize) -> io::Result<Vec<Reply>> {
        let (near, mut far) = tokio::io::duplex(2);
        let bytes = bytes.to_vec();
        let sends = async move {
            let _ = far.write_all(&bytes).await;
        };
        let reads = async move {
            let mut wire = Wire::new(Box::new(near));
            let mut replies = Vec::new();
            for _ in 0..count {
                replies.push(wire.reply().await?);
            }
            Ok(replies)
        };
        tokio::join!(sends, reads).1
    }

    #[tokio::test]
    async fn replies_in_pieces() {
        let bytes = b"+OK\r\n*3\r\n:1\r\n$4\r\na\r\nb\r\n*1\r\n$-1\r\n-ERR bad\r\n";
        let nested = vec![Reply::Integer(1), Reply::Text(b"a\r\nb".to_vec()), Reply::Array(vec![Reply::Nil])];
        let expect = [Reply::Text(b"OK".to_vec()), Reply::Array(nested), Reply::Error("ERR bad".to_owned())];
        assert_eq!(read(bytes, 3).await.unwrap(), expect);
    }

    #[tokio::test]
    async fn broken_and_endless_replies() {
        for (bytes, expect) in [
            ("HTTP/1.1 400 Bad\r\n".to_owned(), "not a reply of a Redis server: \"HTTP/1.1 400 Bad\""),
            ("$3\r\nabcde\r\n".to_owned(), "not a reply"),
            ("$99999999999\r\n".to_owned(), "exceeds 64 MiB"),
            ("*1\r\n".repeat(40), "arrays in each other"),
            (format!("*99999999999\r\n{}", ":1\r\n".repeat(3)), "closed the connection"),
            ("+".repeat(LINE_BYTES_MAX + READ_BYTES + 1), "not a reply"),
            ("$5\r\nab".to_owned(), "closed the connection"),
        ] {
            let error = read(bytes.as_bytes(), 1).await.unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
        }
    }
}
