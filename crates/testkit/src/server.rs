//! A server in a thread of its own: starts on loopback, ends when dropped.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio_rustls::TlsAcceptor;

use crate::connection::{CountedStream, Service, serve, serve_all};
use crate::http2;
use crate::seen::{Counters, Seen};
use crate::tls::{self, Identity, TlsError, TlsFiles};

/// Connections served at a time; more wait in the listen queue.
const MAX_CONNECTIONS: usize = 65_536;

/// Connections the kernel may queue; it may cut this to `net.core.somaxconn`.
const LISTEN_BACKLOG: u32 = 16_384;

/// Waited after a failed accept (usually: no descriptor is free) before the next.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Waited for the rest of a preface that comes in pieces.
const PREFACE_PAUSE: Duration = Duration::from_millis(1);

/// How long [`Server::settled`] waits for requests in flight.
const SETTLE_LIMIT: Duration = Duration::from_secs(5);

/// Streams that most servers allow at a time over HTTP/2.
pub const HTTP2_STREAMS_MAX: u32 = 100;

/// Where and how a server listens. The default is plain HTTP on a free port of 127.0.0.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listen {
    /// The port; 0 takes a free one.
    pub port: u16,
    /// Speaks TLS with this identity.
    pub tls: Option<Identity>,
    /// Streams that a client may have open at a time over HTTP/2, which needs TLS; 0 for HTTP/1.1 only.
    pub http2_streams_max: u32,
}

impl Listen {
    /// TLS on a free port.
    pub fn tls(identity: Identity) -> Listen {
        Listen { tls: Some(identity), ..Listen::default() }
    }

    /// TLS with a valid certificate, and HTTP/2, on a free port.
    pub fn http2() -> Listen {
        Listen { http2_streams_max: HTTP2_STREAMS_MAX, ..Listen::tls(Identity::Valid) }
    }
}

/// Why a server does not start.
#[derive(Debug)]
pub enum StartError {
    /// The port cannot be had.
    Listen(u16, io::Error),
    /// The thread or its runtime cannot be made.
    Thread(io::Error),
    /// The certificates cannot be made.
    Tls(TlsError),
}

impl std::fmt::Display for StartError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartError::Listen(port, error) => write!(formatter, "listen on 127.0.0.1:{port}: {error}"),
            StartError::Thread(error) => write!(formatter, "start the server's thread: {error}"),
            StartError::Tls(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for StartError {}

/// A running server. Dropping it closes its connections and ends its thread.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    counters: Arc<Counters>,
    tls: Option<TlsFiles>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server that answers with `service`.
    ///
    /// It listens before this returns, so a client may connect at once.
    pub fn start(service: impl Service, listen: Listen) -> Result<Server, StartError> {
        let (config, files) = match listen.tls {
            Some(identity) => {
                let (config, files) =
                    tls::make(identity, listen.http2_streams_max > 0).map_err(StartError::Tls)?;
                (Some(config), Some(files))
            }
            None => (None, None),
        };
        let (service, acceptor) = (Arc::new(service), config.map(TlsAcceptor::from));
        Server::accepting(listen.port, files, move |stream, counters| {
            converse(stream, acceptor.clone(), listen.http2_streams_max, Arc::clone(&service), counters)
        })
    }

    /// Starts a server that speaks HTTP/1.1 in the clear alone. A program with such servers does not contain the rest of this crate.
    pub fn start_plain(service: impl Service, port: u16) -> Result<Server, StartError> {
        let service = Arc::new(service);
        Server::accepting(port, None, move |stream, counters| {
            converse_plain(stream, Arc::clone(&service), counters)
        })
    }

    /// Starts a server that handles each connection with `handle`.
    fn accepting<F: Future<Output = ()> + Send + 'static>(
        port: u16,
        tls: Option<TlsFiles>,
        handle: impl Fn(TcpStream, Arc<Counters>) -> F + Send + 'static,
    ) -> Result<Server, StartError> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(StartError::Thread)?;
        let listener = {
            let _context = runtime.enter();
            bind(port).map_err(|error| StartError::Listen(port, error))?
        };
        let address = listener.local_addr().map_err(|error| StartError::Listen(port, error))?;
        let counters = Arc::new(Counters::default());
        let (stop, stopped) = oneshot::channel();
        let accepting = accept(listener, handle, Arc::clone(&counters));
        let thread = std::thread::Builder::new()
            .name("testkit".into())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        () = accepting => {}
                        _ = stopped => {}
                    }
                });
            })
            .map_err(StartError::Thread)?;
        Ok(Server { address, counters, tls, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of a path: by number for HTTP, by the name `localhost` for TLS.
    pub fn url(&self, path: &str) -> String {
        match &self.tls {
            Some(_) => format!("https://localhost:{}{path}", self.address.port()),
            None => format!("http://{}{path}", self.address),
        }
    }

    /// The certificate files of a TLS server.
    pub fn tls_files(&self) -> Option<&TlsFiles> {
        self.tls.as_ref()
    }

    /// The counters until now.
    ///
    /// A client that has an answer finds its request in `total` and `rows`; `in_flight` and `bytes_out` may
    /// follow a moment later: see [`Server::settled`].
    pub fn seen(&self) -> Seen {
        self.counters.snapshot()
    }

    /// The counters once no request is in flight; after 5 s the counters at that time.
    pub fn settled(&self) -> Seen {
        let pause = Duration::from_millis(1);
        let mut left = SETTLE_LIMIT;
        while self.counters.in_flight() > 0 && !left.is_zero() {
            std::thread::sleep(pause);
            left -= pause;
        }
        self.seen()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in the server's thread was printed there; a second one here would hide it.
            let _ = thread.join();
        }
    }
}

fn bind(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // Without this, a port given by number stays taken for a minute after the last server on it.
    socket.set_reuseaddr(true)?;
    socket.bind((Ipv4Addr::LOCALHOST, port).into())?;
    socket.listen(LISTEN_BACKLOG)
}

async fn accept<F: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    handle: impl Fn(TcpStream, Arc<Counters>) -> F,
    counters: Arc<Counters>,
) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        counters.connections.fetch_add(1, Ordering::SeqCst);
        // A connection that is already gone fails again at the first read.
        let _ = stream.set_nodelay(true);
        let conversation = handle(stream, Arc::clone(&counters));
        tokio::spawn(async move {
            conversation.await;
            drop(place);
        });
    }
}

async fn converse_plain<S: Service>(stream: TcpStream, service: Arc<S>, counters: Arc<Counters>) {
    let stream = CountedStream::new(stream, Arc::clone(&counters));
    // Such a service has no replies that hand a connection over.
    serve(stream, false, &*service, &counters).await;
}

async fn converse<S: Service>(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    http2_streams_max: u32,
    service: Arc<S>,
    counters: Arc<Counters>,
) {
    let is_http2 = acceptor.is_none() && begins_as_http2(&stream).await;
    let stream = CountedStream::new(stream, Arc::clone(&counters));
    if is_http2 {
        return http2::serve(stream, HTTP2_STREAMS_MAX, service, counters).await;
    }
    let Some(acceptor) = acceptor else { return serve_all(stream, false, &*service, &counters).await };
    match acceptor.accept(stream).await {
        Ok(stream) if stream.get_ref().1.alpn_protocol() == Some(tls::HTTP2) => {
            http2::serve(stream, http2_streams_max, service, counters).await;
        }
        Ok(stream) => serve_all(stream, true, &*service, &counters).await,
        Err(_) => {
            counters.handshakes_failed.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Whether a client speaks HTTP/2 without asking (RFC 9113, 3.3). Its first bytes stay where they are.
async fn begins_as_http2(stream: &TcpStream) -> bool {
    const PREFACE: &[u8] = b"PRI * HTTP/2.0";
    let mut first = [0; PREFACE.len()];
    loop {
        match stream.peek(&mut first).await {
            Ok(bytes) if bytes == first.len() => return first == PREFACE,
            Ok(bytes) if bytes > 0 && PREFACE.starts_with(&first[..bytes]) => {
                tokio::time::sleep(PREFACE_PAUSE).await;
            }
            _ => return false,
        }
    }
}
