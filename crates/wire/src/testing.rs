//! A raw server for tests: it follows a script and counts requests.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use model::SystemClock;
use model::plan::{HttpOptions, NetworkOptions, TlsOptions};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{LocalSet, spawn_local};

use crate::{Client, Exchange, Method, Request, Shared, Target};

/// The behaviour of a server after it has read a request.
#[derive(Clone)]
pub(crate) enum Step {
    Send(Vec<u8>),
    /// Sends this many bytes of nothing in particular.
    SendMany(u64),
    Pause(Duration),
    Close,
    Reset,
}

/// `text`, as a step.
pub(crate) fn send(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}

/// A plain small response, as a step.
pub(crate) fn ok() -> Step {
    send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
}

/// Waits, as a step.
pub(crate) fn pause_ms(ms: u64) -> Step {
    Step::Pause(Duration::from_millis(ms))
}

/// The counters of a server.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) connections: Cell<usize>,
    pub(crate) requests: RefCell<Vec<String>>,
    pub(crate) peers: RefCell<Vec<SocketAddr>>,
}

impl Seen {
    pub(crate) fn requests(&self) -> usize {
        self.requests.borrow().len()
    }
}

/// Runs a test on one thread, with local tasks, as on a worker thread.
pub(crate) fn local(test: impl Future<Output = ()>) {
    let limit = Duration::from_secs(20);
    let test = async { tokio::time::timeout(limit, test).await };
    vu::run_here(test).unwrap().expect("the test to end");
}

/// The same on a thread without rounds.
pub(crate) fn local_without_rounds(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(LocalSet::new().run_until(test));
}

/// Serves HTTP on the loopback; `steps` says what to do after each request, by its number.
pub(crate) async fn serve(steps: impl Fn(usize) -> Vec<Step> + 'static) -> (SocketAddr, Rc<Seen>) {
    serve_streams(steps, async |tcp| Some(tcp)).await
}

/// Serves on whatever `wrap` makes of each connection.
pub(crate) async fn serve_streams<S: AsyncRead + AsyncWrite + AsTcp + Unpin + 'static>(
    steps: impl Fn(usize) -> Vec<Step> + 'static,
    wrap: impl AsyncFn(TcpStream) -> Option<S> + 'static,
) -> (SocketAddr, Rc<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Rc::new(Seen::default());
    let (counted, steps, wrap) = (seen.clone(), Rc::new(steps), Rc::new(wrap));
    spawn_local(async move {
        while let Ok((tcp, peer)) = listener.accept().await {
            counted.connections.set(counted.connections.get() + 1);
            counted.peers.borrow_mut().push(peer);
            let (counted, steps, wrap) = (counted.clone(), steps.clone(), wrap.clone());
            spawn_local(async move {
                if let Some(stream) = wrap(tcp).await {
                    let _ = serve_connection(stream, &counted, &*steps).await;
                }
            });
        }
    });
    (address, seen)
}

/// A stream over a TCP socket.
pub(crate) trait AsTcp {
    fn as_tcp(&self) -> &TcpStream;
}

impl AsTcp for TcpStream {
    fn as_tcp(&self) -> &TcpStream {
        self
    }
}

impl AsTcp for tokio_rustls::server::TlsStream<TcpStream> {
    fn as_tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

async fn serve_connection<S: AsyncRead + AsyncWrite + AsTcp + Unpin>(
    mut stream: S,
    seen: &Seen,
    steps: &dyn Fn(usize) -> Vec<Step>,
) -> std::io::Result<()> {
    loop {
        let Some(request) = read_request(&mut stream).await? else { return Ok(()) };
        let number = seen.requests();
        seen.requests.borrow_mut().push(request);
        for step in steps(number) {
            match step {
                Step::Send(bytes) => stream.write_all(&bytes).await?,
                Step::SendMany(bytes) => send_many(&mut stream, bytes).await?,
                Step::Pause(pause) => tokio::time::sleep(pause).await,
                Step::Close => return Ok(()),
                Step::Reset => return SockRef::from(stream.as_tcp()).set_linger(Some(Duration::ZERO)),
            }
            stream.flush().await?;
        }
    }
}

async fn send_many(stream: &mut (impl AsyncWrite + Unpin), bytes: u64) -> std::io::Result<()> {
    let piece = vec![b'x'; 1 << 16];
    let mut left = bytes;
    while left > 0 {
        let take = left.min(piece.len() as u64) as usize;
        stream.write_all(&piece[..take]).await?;
        left -= take as u64;
    }
    Ok(())
}

/// Head and body of one request; `None` when the client has closed. A body announced as refused is left unread.
async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<Option<String>> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => request.push(byte),
            Err(_) => return Ok(None),
        }
    }
    let head = String::from_utf8_lossy(&request).into_owned();
    let length =
        head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).map_or(0, |n| n.parse().unwrap());
    if head.contains("/unread") {
        return Ok(Some(head));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some(head + &String::from_utf8_lossy(&body)))
}

/// A client with default options but for what `change` makes of them.
pub(crate) fn client(change: impl FnOnce(&mut HttpOptions, &mut NetworkOptions)) -> Client {
    let (mut http, mut network) = (HttpOptions::default(), NetworkOptions::default());
    change(&mut http, &mut network);
    Client::new(Arc::new(Shared::new(&http, &network, &TlsOptions::default()).unwrap()), 1)
}

/// A request for `url` with ten seconds to go.
pub(crate) fn request(method: &str, url: &str) -> Request {
    let target = Target::parse(url).unwrap();
    Request::new(Method::parse(method).unwrap(), target, SystemClock::now() + Duration::from_secs(10))
}

/// GETs `url`.
pub(crate) async fn get(client: &Client, url: &str) -> Exchange {
    client.exchange(&request("GET", url)).await
}

/// The result of an exchange, for comparison.
pub(crate) fn outcome(exchange: &Exchange) -> String {
    match &exchange.result {
        Ok(response) => format!("{} {}", response.status, String::from_utf8_lossy(&response.body)),
        Err(error) => format!("{} {:?} {:?} {}", error.code.0, error.kind, error.stage, error.message),
    }
}
