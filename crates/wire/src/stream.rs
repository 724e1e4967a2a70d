//! Connections that carry another protocol than HTTP, reached as requests are: the same rules for names and addresses, the
//! same lookups, local addresses and trusted certificates, and bytes that count.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use model::SystemClock;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::client::Client;
use crate::connection::Counted;
use crate::dial::bad_server_name;
use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::target::Target;
use crate::tls::{self, StreamTls};
use crate::trace::Trace;

/// A connection without TLS, whose bytes count as its client's.
pub struct ByteStream(Counted);

impl std::fmt::Debug for ByteStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ByteStream").finish_non_exhaustive()
    }
}

impl Client {
    /// Opens a connection to a host (a name or an address) and port. No proxy is asked, as in k6.
    ///
    /// # Errors
    /// As a request's: the name is blocked or unknown, nothing listens there.
    pub async fn open_stream(&self, host: &str, port: u16) -> Result<ByteStream, Error> {
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let target = Target::parse(&format!("http://{host}:{port}"))?;
        let trace = Trace::new(SystemClock::now());
        let (counted, _) = self.dialer(None).reach(&target, &trace).await?;
        Ok(ByteStream(counted))
    }

    /// Begins TLS over a connection that [`Client::open_stream`] opened to a server called `host`.
    ///
    /// # Errors
    /// A certificate of `own` cannot be used, or the handshake fails. The stage of its errors is that of TLS.
    pub async fn encrypt<S>(&self, stream: S, host: &str, own: &StreamTls) -> Result<TlsStream<S>, Error>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let config = self.shared().tls.config_for_stream(host, own)?;
        let name = ServerName::try_from(host.to_owned()).map_err(|_| bad_server_name(host))?;
        let shaken = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
        shaken.map_err(|error| {
            tls::error_of(&error, host).unwrap_or_else(|| {
                let message = format!("tls: connection closed during the handshake: {error}");
                Error::new(ErrorCode::TLS, Stage::Tls, Kind::Cut, message)
            })
        })
    }
}

impl AsyncRead for ByteStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for ByteStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
