//! Taking unwanted bytes off a socket.

use std::cell::RefCell;
use std::io;
use std::os::fd::AsRawFd;

use nix::sys::socket::{MsgFlags, recv};
use tokio::net::TcpStream;

use crate::limits::SKIPPED_BYTES_MAX;

thread_local! {
    /// Takes the bytes on systems that write them. Linux does not, so that its memory is never touched.
    static UNWANTED: RefCell<Box<[u8]>> = RefCell::new(vec![0; SKIPPED_BYTES_MAX].into_boxed_slice());
}

/// Takes up to `bytes` bytes, at most [`SKIPPED_BYTES_MAX`], and returns how many there were. Linux drops them without a copy
/// (`MSG_TRUNC`, tcp(7)).
pub(crate) fn skip(tcp: &TcpStream, bytes: usize) -> io::Result<usize> {
    let flags = if cfg!(target_os = "linux") { MsgFlags::MSG_TRUNC } else { MsgFlags::empty() };
    UNWANTED.with_borrow_mut(|unwanted| Ok(recv(tcp.as_raw_fd(), &mut unwanted[..bytes], flags)?))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn only_so_many_bytes_are_skipped() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = listener.accept().unwrap();
        server.write_all(b"unwanted, wanted").unwrap();
        tcp.readable().await.unwrap();
        assert_eq!(skip(&tcp, 10).unwrap(), 10);
        let mut wanted = [0; 16];
        assert_eq!(tcp.try_read(&mut wanted).unwrap(), 6);
        assert_eq!(&wanted[..6], b"wanted");
        assert_eq!(skip(&tcp, 10).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(server);
        tcp.readable().await.unwrap();
        assert_eq!(skip(&tcp, 10).unwrap(), 0);
    }
}
