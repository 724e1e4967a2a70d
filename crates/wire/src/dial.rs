//! From a target to a connection: rules, lookup, connecting, TLS.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use model::SystemClock;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpSocket;
use tokio_rustls::TlsConnector;

use crate::connection::{Connection, Counted, Stream, Traffic};
use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::h2::{CALL_WINDOWS, EXCHANGE_WINDOWS, Link};
use crate::proxy::{Proxy, tunnel};
use crate::shared::Shared;
use crate::staple;
use crate::system::{bind_error, dial_error, stream_error};
use crate::target::Target;
use crate::tls;
use crate::trace::Trace;

/// The parts of a client that a dial needs.
pub(crate) struct Dialer<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) local_ip: Option<IpAddr>,
    pub(crate) traffic: Rc<Traffic>,
    /// For a TLS target.
    pub(crate) tls: Option<Arc<ClientConfig>>,
    /// Whether a proxy must always pass the bytes on as they are: it could not read what is spoken.
    pub(crate) is_opaque: bool,
}

/// A new connection, as the handshake decided.
pub(crate) enum Dialed {
    /// HTTP/1.1: one exchange at a time. Boxed, because it is large and handed on several times in each of them.
    Single(Box<Connection>),
    /// HTTP/2: many exchanges at a time.
    Shared(Link),
}

impl Dialer<'_> {
    /// A new connection to `target`'s origin; the phases go to `trace`.
    pub(crate) async fn dial(self, target: &Target, trace: &Trace) -> Result<Dialed, Error> {
        let (counted, remote) = match self.shared.proxies.select(target) {
            Some(proxy) => Box::pin(self.reach_through(proxy, target, trace)).await?,
            None => self.reach(target, trace).await?,
        };
        let Some(config) = self.tls else {
            let connection = Connection::new(Stream::Plain(counted), target.clone(), remote, None);
            return Ok(Dialed::Single(Box::new(connection)));
        };
        trace.enter(Stage::Tls, SystemClock::now());
        let name =
            ServerName::try_from(target.host().to_owned()).map_err(|_| bad_server_name(target.host()))?;
        let handshake = TlsConnector::from(config).connect(name, counted);
        let (shaken, staple) = staple::watched(handshake).await;
        let stream = shaken.map_err(|error| handshake_error(&error, target.host(), remote))?;
        let facts = Arc::new(tls::facts(stream.get_ref().1, staple));
        *trace.tls.borrow_mut() = Some(facts.clone());
        let stream = Box::new(stream);
        if stream.get_ref().1.alpn_protocol() == Some(tls::HTTP2_ALPN) {
            let opened = Link::open(stream, target.clone(), remote, Some(facts), EXCHANGE_WINDOWS).await;
            return opened
                .map(Dialed::Shared)
                .map_err(|failure| greeting_error(&failure, target.host(), remote));
        }
        let connection = Connection::new(Stream::Tls(stream), target.clone(), remote, Some(facts));
        Ok(Dialed::Single(Box::new(connection)))
    }

    /// A new HTTP/2 connection to `target` itself, whatever proxies there are; with TLS to the server called `name`.
    pub(crate) async fn dial_link(self, target: &Target, name: &str, trace: &Trace) -> Result<Link, Error> {
        let (counted, remote) = self.reach(target, trace).await?;
        trace.enter(Stage::Tls, SystemClock::now());
        let Some(config) = self.tls else {
            let opened = Link::open(Box::new(counted), target.clone(), remote, None, CALL_WINDOWS).await;
            return opened.map_err(|failure| greeting_error(&failure, target.host(), remote));
        };
        let server_name = ServerName::try_from(name.to_owned()).map_err(|_| bad_server_name(name))?;
        let shaken = TlsConnector::from(config).connect(server_name, counted).await;
        let stream = shaken.map_err(|error| handshake_error(&error, name, remote))?;
        if stream.get_ref().1.alpn_protocol() != Some(tls::HTTP2_ALPN) {
            return Err(no_http2());
        }
        let facts = Arc::new(tls::facts(stream.get_ref().1, None));
        let opened = Link::open(Box::new(stream), target.clone(), remote, Some(facts), CALL_WINDOWS).await;
        opened.map_err(|failure| greeting_error(&failure, name, remote))
    }

    /// A socket that is connected to `target`.
    pub(crate) async fn reach(&self, target: &Target, trace: &Trace) -> Result<(Counted, SocketAddr), Error> {
        let remote = self.address_of(target, trace).await?;
        trace.remote.set(Some(remote));
        trace.enter(Stage::Connect, SystemClock::now());
        let socket = self.bound_socket(remote)?;
        let tcp = socket.connect(remote).await.map_err(|error| dial_error(&error, remote))?;
        Ok((Counted::new(tcp, self.traffic.clone()), remote))
    }

    /// A socket that is connected to `proxy` and, unless the proxy reads the requests itself, leads to `target`. The
    /// remote address is the proxy's, as in k6.
    async fn reach_through(
        &self,
        proxy: &Proxy,
        target: &Target,
        trace: &Trace,
    ) -> Result<(Counted, SocketAddr), Error> {
        // The proxy looks the name up, but what is blocked here is blocked there.
        self.shared.rules.check_name(target.host())?;
        self.shared.rules.check_allowed(target.host(), target.ip())?;
        let reached = self.reach(&proxy.target, trace).await;
        let (mut counted, remote) = reached.map_err(|error| proxy_error(&error))?;
        if self.is_opaque || self.shared.proxies.reader_of(target).is_none() {
            tunnel(&mut counted, proxy, target).await?;
        }
        Ok((counted, remote))
    }

    async fn address_of(&self, target: &Target, trace: &Trace) -> Result<SocketAddr, Error> {
        let (host, rules) = (target.host(), &self.shared.rules);
        rules.check_name(host)?;
        let place = rules.place_of(host, target.port());
        let port = place.and_then(|place| place.port).unwrap_or(target.port());
        let known_ip = place.map(|place| place.ip).or(target.ip());
        // Before the lookup: a name server may be outside, too.
        rules.check_allowed(host, known_ip)?;
        let ip = match known_ip {
            Some(ip) => ip,
            None => {
                trace.enter(Stage::Lookup, SystemClock::now());
                self.shared.resolver.lookup(host).await?
            }
        };
        rules.check_address(ip)?;
        Ok(SocketAddr::new(ip, port))
    }

    fn bound_socket(&self, remote: SocketAddr) -> Result<TcpSocket, Error> {
        let socket = if remote.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
        let socket = socket.map_err(|error| dial_error(&error, remote))?;
        // A request is written at once; waiting for more to send with it would only delay it.
        socket.set_nodelay(true).map_err(|error| dial_error(&error, remote))?;
        if let Some(local_ip) = self.local_ip {
            socket.bind(SocketAddr::new(local_ip, 0)).map_err(|error| bind_error(&error, local_ip))?;
        }
        Ok(socket)
    }
}

/// k6's number and words for a proxy that cannot be reached.
fn proxy_error(error: &Error) -> Error {
    Error::new(ErrorCode::TCP, error.stage, error.kind, format!("proxyconnect tcp: {}", error.story()))
}

fn greeting_error(failure: &::h2::Error, host: &str, remote: SocketAddr) -> Error {
    match failure.get_io() {
        Some(error) => handshake_error(error, host, remote),
        None => Error::new(ErrorCode::HTTP2, Stage::Tls, Kind::Other, format!("http2: {failure}")),
    }
}

fn no_http2() -> Error {
    let message = "tls: the server did not choose HTTP/2 (ALPN h2), which gRPC needs";
    Error::new(ErrorCode::TLS, Stage::Tls, Kind::Tls, message)
}

pub(crate) fn bad_server_name(host: &str) -> Error {
    let message = format!("tls: {host:?} is no name that a certificate can be for");
    Error::new(ErrorCode::TLS, Stage::Tls, Kind::Tls, message)
}

fn handshake_error(error: &io::Error, host: &str, remote: SocketAddr) -> Error {
    if let Some(error) = tls::error_of(error, host) {
        return error;
    }
    let mut cut = if error.kind() == io::ErrorKind::UnexpectedEof {
        Error::new(ErrorCode::TLS, Stage::Tls, Kind::Cut, "tls: connection closed during the handshake: EOF")
    } else {
        stream_error(error, "read", None, remote)
    };
    cut.stage = Stage::Tls;
    cut
}
