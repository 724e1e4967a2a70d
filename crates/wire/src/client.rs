//! One VU's connections.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;

use model::{Instant, SystemClock};
use rustls::ClientConfig;

use crate::budget::BodyBudget;
use crate::buffers::{put_buffer, take_buffer};
use crate::connection::{Connection, Traffic};
use crate::converse::converse;
use crate::decode::Decoder;
use crate::dial::{Dialed, Dialer};
use crate::encode::{asks_to_close, encode_head};
use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::exchange::Exchange;
use crate::h2::{self, Link, Links, Slot};
use crate::idle::Idle;
use crate::keep;
use crate::repeat;
use crate::request::{Method, Request};
use crate::response::Response;
use crate::shared::Shared;
use crate::tap::Flow;
use crate::target::Target;
use crate::timer::Timer;
use crate::trace::Trace;

/// One VU's connections, TLS sessions and byte counters. It lives on one thread, inside a tokio runtime with I/O and
/// time enabled and, for HTTP/2, inside a `LocalSet`.
pub struct Client {
    shared: Arc<Shared>,
    local_ip: Option<IpAddr>,
    idle: RefCell<Idle>,
    /// Connections that speak HTTP/2.
    links: RefCell<Links>,
    traffic: Rc<Traffic>,
    /// Timers that no running exchange uses: as many as there have been exchanges at the same time.
    timers: RefCell<Vec<Timer>>,
    /// Exchanges whose future was dropped with the request on its way.
    abandoned: RefCell<Vec<Abandoned>>,
    /// TLS configurations with this VU's sessions, by the number of their class.
    tls: RefCell<Vec<(usize, Arc<ClientConfig>)>>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("local_ip", &self.local_ip)
            .field("traffic", &self.traffic)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// The client of VU number `vu`, which chooses its local address.
    pub fn new(shared: Arc<Shared>, vu: u64) -> Client {
        keep::pages();
        Client {
            local_ip: shared.local_ip(vu),
            shared,
            idle: RefCell::default(),
            links: RefCell::default(),
            traffic: Rc::default(),
            timers: RefCell::default(),
            abandoned: RefCell::default(),
            tls: RefCell::default(),
        }
    }

    /// Sends `request` and receives its response.
    ///
    /// A connection that the server closed while it was idle is not used. Where the server closes it just as the
    /// request goes out, a request that may be repeated is, once and on a new connection, which
    /// [`Exchange::repeats`] counts; another fails with [`Kind::Cut`](crate::Kind::Cut). A server that reads a request
    /// and then closes without an answer sees it twice.
    ///
    /// Exchanges of one client may run at the same time. Dropping the future closes its connection; where the request
    /// was on its way already, [`Client::take_abandoned`] returns it.
    pub async fn exchange(&self, request: &Request) -> Exchange {
        self.exchange_from(request, SystemClock::now()).await
    }

    /// The same, begun at `started`, which is now.
    pub(crate) async fn exchange_from(&self, request: &Request, started: Instant) -> Exchange {
        let trace = Trace::new(started);
        let guard = AbandonGuard { client: self, request, trace: &trace, is_running: Cell::new(true) };
        let mut timer = self.timers.borrow_mut().pop().unwrap_or_default();
        let mut outcome = timer.limit(request.deadline, pin!(self.attempt(request, &trace))).await;
        if let Some(Err(error)) = &outcome
            && repeat::is_due(error, request, &trace)
        {
            trace.begin_again(SystemClock::now());
            // Boxed, because it is rare and large: the future of an exchange lives on a VU's stack.
            let mut again = Box::pin(self.attempt(request, &trace));
            outcome = timer.limit(request.deadline, again.as_mut()).await;
        }
        guard.is_running.set(false);
        self.timers.borrow_mut().push(timer);
        let result = outcome.unwrap_or_else(|| Err(Error::timed_out(trace.stage())));
        let finished = if result.is_ok() { trace.received_at.get() } else { SystemClock::now() };
        Exchange {
            started: trace.started,
            finished,
            phases: trace.phases(finished),
            reused: trace.reused.get(),
            repeats: trace.repeats.get(),
            remote: trace.remote.get(),
            tls: trace.tls.take(),
            late_ns: trace.late_ns.get(),
            result,
        }
    }

    /// Closes the idle connections and forgets the TLS sessions: the next request is a new user's.
    pub fn close_idle(&self) {
        self.idle.borrow_mut().clear();
        self.links.borrow_mut().clear();
        self.tls.borrow_mut().clear();
    }

    /// Takes the exchange that was dropped last, if its request was on its way: a server has seen it, so it counts
    /// as a request.
    pub fn take_abandoned(&self) -> Option<Abandoned> {
        self.abandoned.borrow_mut().pop()
    }

    /// Bytes written to and read from sockets (TLS included, TCP and below not) since the last call: `(sent,
    /// received)`.
    pub fn take_bytes(&self) -> (u64, u64) {
        (self.traffic.sent.take(), self.traffic.received.take())
    }

    /// The budget of its bodies, which all clients share.
    pub(crate) fn bodies(&self) -> &Arc<BodyBudget> {
        &self.shared.bodies
    }

    async fn attempt(&self, request: &Request, trace: &Trace) -> Result<Response, Error> {
        let closes = self.shared.http.no_connection_reuse || asks_to_close(request);
        if request.target.is_tls()
            && let Some(slot) = self.take_slot(&request.target, trace, closes)
        {
            return Box::pin(self.share(slot, request, trace)).await;
        }
        let mut head = take_buffer();
        if let Err(error) =
            encode_head(request, self.shared.proxies.reader_of(&request.target), closes, &mut head)
        {
            put_buffer(head);
            return Err(error);
        }
        let mut connection = match self.take_idle(&request.target, trace) {
            Some(connection) => connection,
            // Boxed for the same reason as a repeat.
            None => match Box::pin(self.connect(&request.target, trace, closes)).await {
                Ok(Ready::Single(connection)) => connection,
                Ok(Ready::Shared(slot)) => {
                    put_buffer(head);
                    return Box::pin(self.share(slot, request, trace)).await;
                }
                Err(error) => {
                    put_buffer(head);
                    return Err(error);
                }
            },
        };
        // An idle connection is taken, not waited for: then sending is all there is until the response.
        let sends_at = if trace.reused.get() { trace.started } else { SystemClock::now() };
        let flow = Flow::new(request.tap.as_ref(), trace);
        let is_head = request.method == Method::HEAD;
        let mut decoder = Decoder::new(is_head, request.keep_body, &self.shared.bodies, flow);
        let body = request.body.as_bytes();
        let talk = converse(&mut connection, &mut head, body, &mut decoder, trace, sends_at).await;
        let done = talk.and_then(|is_reusable| Ok((decoder.into_response()?, is_reusable)));
        let (response, is_reusable) = match done {
            Ok(done) => done,
            Err(error) => {
                self.idle.borrow_mut().doubt();
                connection.close();
                return Err(error);
            }
        };
        if is_reusable && !closes {
            connection.idle_since = trace.received_at.get();
            let (per_host_max, max) = (self.shared.idle_per_host_max(), self.shared.idle_max());
            self.idle.borrow_mut().put(connection, per_host_max, max);
        } else {
            connection.close();
        }
        Ok(response)
    }

    fn take_idle(&self, target: &Target, trace: &Trace) -> Option<Box<Connection>> {
        // The other idle connections may be as dead as the one that failed.
        if self.shared.http.no_connection_reuse || trace.repeats.get() > 0 {
            return None;
        }
        let connection = self.idle.borrow_mut().take(target, trace.started)?;
        trace.reused.set(true);
        trace.remote.set(Some(connection.remote));
        trace.tls.replace(connection.tls.clone());
        Some(connection)
    }

    /// A new connection that speaks HTTP/1.1, whatever else the server can: for what HTTP/2 cannot carry.
    pub(crate) async fn dial_single(&self, target: &Target, trace: &Trace) -> Result<Box<Connection>, Error> {
        let tls = if target.is_tls() { Some(self.tls_config(target.host())?) } else { None };
        let tls = tls.map(|config| {
            let mut config = ClientConfig::clone(&config);
            config.alpn_protocols = vec![crate::tls::HTTP1_ALPN.to_vec()];
            Arc::new(config)
        });
        let dialer = Dialer { is_opaque: true, ..self.dialer(tls) };
        match dialer.dial(target, trace).await? {
            Dialed::Single(connection) => Ok(connection),
            Dialed::Shared(_) => unreachable!("rustls refuses a protocol that was not offered"),
        }
    }

    /// An exchange over HTTP/2.
    async fn share(&self, slot: Slot, request: &Request, trace: &Trace) -> Result<Response, Error> {
        let message = h2::encode(request)?;
        h2::converse(slot, message, request, &self.shared.bodies, trace).await
    }

    /// A place on an HTTP/2 connection that is there already; `closes` makes its exchange the last one there.
    fn take_slot(&self, target: &Target, trace: &Trace, closes: bool) -> Option<Slot> {
        if self.shared.http.no_connection_reuse {
            return None;
        }
        let mut links = self.links.borrow_mut();
        let (slot, remote, tls) =
            links.find(target, |link| Some((link.slot()?, link.remote, link.tls.clone())))?;
        if closes {
            links.forget(target);
        }
        trace.reused.set(true);
        trace.remote.set(Some(remote));
        trace.tls.replace(tls);
        Some(slot)
    }

    /// Opens a connection, or takes a stream on an HTTP/2 connection that another exchange opened meanwhile, as in Go.
    async fn connect(&self, target: &Target, trace: &Trace, closes: bool) -> Result<Ready, Error> {
        if !target.is_tls() || self.shared.http.no_connection_reuse {
            return self.dial(target, trace).await.map(|dialed| self.ready(dialed, closes));
        }
        let arrivals = self.links.borrow().arrivals();
        let mut dial = pin!(self.dial(target, trace));
        loop {
            tokio::select! {
                biased;
                dialed = &mut dial => return dialed.map(|dialed| self.ready(dialed, closes)),
                () = arrivals.notified() => {
                    if let Some(slot) = self.take_slot(target, trace, closes) {
                        return Ok(Ready::Shared(slot));
                    }
                }
            }
        }
    }

    fn ready(&self, dialed: Dialed, closes: bool) -> Ready {
        let link = match dialed {
            Dialed::Single(connection) => return Ready::Single(connection),
            Dialed::Shared(link) => link,
        };
        // The connection that was opened first is kept, as in Go.
        if !closes && let Some(slot) = self.links.borrow_mut().find(link.target(), Link::slot) {
            return Ready::Shared(slot);
        }
        let slot = link.first_slot();
        if !closes {
            self.links.borrow_mut().put(link);
        }
        Ready::Shared(slot)
    }

    async fn dial(&self, target: &Target, trace: &Trace) -> Result<Dialed, Error> {
        let tls = if target.is_tls() { Some(self.tls_config(target.host())?) } else { None };
        self.dialer(tls).dial(target, trace).await
    }

    pub(crate) fn dialer(&self, tls: Option<Arc<ClientConfig>>) -> Dialer<'_> {
        let (local_ip, traffic) = (self.local_ip, self.traffic.clone());
        Dialer { shared: &self.shared, local_ip, traffic, tls, is_opaque: false }
    }

    /// The part that all clients share.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The result of `work`, or `None` when the deadline comes first. Timers are used again, as those of requests.
    pub async fn limit<F: Future>(&self, deadline: Instant, work: Pin<&mut F>) -> Option<F::Output> {
        let mut timer = self.timers.borrow_mut().pop().unwrap_or_default();
        let output = timer.limit(deadline, work).await;
        self.timers.borrow_mut().push(timer);
        output
    }

    fn tls_config(&self, host: &str) -> Result<Arc<ClientConfig>, Error> {
        let class = self.shared.tls.class_of(host);
        let mut configs = self.tls.borrow_mut();
        if let Some((_, config)) = configs.iter().find(|(known, _)| *known == class) {
            return Ok(config.clone());
        }
        // A user who never keeps a connection never keeps a session either, as in k6.
        let config = self.shared.tls.config_of(class, !self.shared.http.no_connection_reuse)?;
        configs.push((class, config.clone()));
        Ok(config)
    }
}

/// Where an exchange can begin.
enum Ready {
    Single(Box<Connection>),
    Shared(Slot),
}

/// An exchange that was given up with its request on the way.
#[derive(Debug)]
pub struct Abandoned {
    /// Where it went.
    pub target: Target,
    /// The known facts about it; its result is an error of kind [`Kind::Cut`](crate::Kind::Cut).
    pub exchange: Exchange,
}

/// Notices that the future of an exchange is dropped.
struct AbandonGuard<'a> {
    client: &'a Client,
    request: &'a Request,
    trace: &'a Trace,
    is_running: Cell<bool>,
}

impl Drop for AbandonGuard<'_> {
    fn drop(&mut self) {
        let stage = self.trace.stage();
        if !self.is_running.get() || stage < Stage::Send {
            return;
        }
        let finished = SystemClock::now();
        let exchange = Exchange {
            started: self.trace.started,
            finished,
            phases: self.trace.phases(finished),
            reused: self.trace.reused.get(),
            repeats: self.trace.repeats.get(),
            remote: self.trace.remote.get(),
            tls: self.trace.tls.take(),
            late_ns: 0,
            result: Err(Error::new(
                ErrorCode::OTHER,
                stage,
                Kind::Cut,
                "request given up before its response came",
            )),
        };
        let abandoned = Abandoned { target: self.request.target.clone(), exchange };
        self.client.abandoned.borrow_mut().push(abandoned);
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tls_tests;
