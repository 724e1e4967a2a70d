//! From a request to its answer: redirects, cookies, credentials and codings on top of single exchanges.

use std::borrow::Cow;
use std::cell::RefCell;

use model::{Clock, Instant, SystemClock};

use crate::auth::{Auth, basic};
use crate::client::Client;
use crate::coding;
use crate::cookies::{CookieJar, RequestCookie, cookie_header};
use crate::digest::Challenge;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::redirect;
use crate::request::Request;
use crate::response::Response;
use crate::target::Target;

/// A request with what goes beyond a single exchange.
#[derive(Clone, Copy, Debug)]
pub struct FetchRequest<'a> {
    /// The first request. Its deadline is that of the whole chain; if its body is not kept, it is not decoded.
    pub request: &'a Request,
    /// Cookies that it brings along, on every hop, as in k6.
    pub cookies: &'a [RequestCookie<'a>],
    /// Redirects that are followed; the response of one more is returned as it is.
    pub redirects_max: u32,
    /// The use of the name and the password of the URL.
    pub auth: Auth,
    /// When the first exchange begins, which is now: the caller has just set the deadline.
    pub started: Instant,
}

/// The end of a chain of exchanges.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The last exchange, with its body decoded. Where a `Location` was none, its result is that error, although
    /// the exchange itself succeeded and was observed so. It is large and handed on several times.
    pub exchange: Box<Exchange>,
    /// Where the last request went.
    pub target: Target,
    /// Redirects that were followed.
    pub redirects: u32,
    /// Whether the last response is a redirect that was not followed because there had been enough.
    pub redirect_limit_reached: bool,
}

/// Sends a request and whatever its answers ask for: redirects are followed by the rules of Go's client, cookies
/// are taken from and put into `jar` at every hop, and a digest challenge is answered.
///
/// `observer` gets every exchange with the request that was really sent, once, in the order they happened: what the
/// servers saw is what it sees. As in k6, the time that decoding takes counts as `receiving`, because a client has
/// not received what it cannot read; a body that cannot be decoded makes an exchange with that error.
///
/// Without redirects, cookies and credentials it costs one look at the response's headers: the request is borrowed
/// and nothing is allocated.
pub async fn fetch(
    client: &Client,
    fetch: FetchRequest<'_>,
    jar: Option<&RefCell<CookieJar>>,
    observer: &mut dyn Observer,
) -> Fetched {
    let first = fetch.request;
    // Boxed, as what a hop sends instead of its request: both are rare, and the future of a fetch lies on a VU's stack.
    let mut followed: Option<Box<Request>> = None;
    let mut redirects = 0;
    let mut started = fetch.started;
    loop {
        let request = followed.as_deref().unwrap_or(first);
        let Hop { mut exchange, sent, is_coded } = hop(client, request, &fetch, jar, started, observer).await;
        let sent = sent.as_deref().unwrap_or(request);
        let mut redirect_limit_reached = false;
        let mut failure = None;
        if let Ok(response) = &exchange.result
            && let Some(location) = redirect::location(response)
        {
            redirect_limit_reached = redirects >= fetch.redirects_max;
            if !redirect_limit_reached {
                match redirect::follow(first, request, response.status, location) {
                    Ok(next) => {
                        observer.ended(&exchange, sent);
                        followed = Some(Box::new(next));
                        redirects += 1;
                        started = SystemClock::now();
                        continue;
                    }
                    Err(error) => failure = Some(error),
                }
            }
        }
        if is_coded && sent.keep_body {
            decode(&mut exchange, first.deadline, client).await;
        }
        observer.ended(&exchange, sent);
        if let Some(error) = failure {
            exchange.result = Err(error);
        }
        return Fetched { exchange, target: request.target.clone(), redirects, redirect_limit_reached };
    }
}

/// Observes the exchanges of a fetch, one after the other.
pub trait Observer {
    /// An exchange begins.
    fn started(&mut self, _at: Instant) {}

    /// An exchange is over. One whose future is dropped has no end: see [`Client::take_abandoned`].
    fn ended(&mut self, exchange: &Exchange, request: &Request);
}

impl<F: FnMut(&Exchange, &Request)> Observer for F {
    fn ended(&mut self, exchange: &Exchange, request: &Request) {
        self(exchange, request);
    }
}

/// The last exchange of a hop, not observed yet.
struct Hop {
    exchange: Box<Exchange>,
    /// The request as it was sent, where cookies or credentials changed it.
    sent: Option<Box<Request>>,
    /// Whether the response has a `Content-Encoding`.
    is_coded: bool,
}

/// One hop: one exchange, or two where the first one ends in a digest challenge.
async fn hop(
    client: &Client,
    request: &Request,
    fetch: &FetchRequest<'_>,
    jar: Option<&RefCell<CookieJar>>,
    started: Instant,
    observer: &mut dyn Observer,
) -> Hop {
    let changed = prepared(request, fetch, jar);
    let sent = changed.as_deref().unwrap_or(request);
    observer.started(started);
    let exchange = Box::new(client.exchange_from(sent, started).await);
    let is_coded = absorb(&exchange, sent, jar);
    if fetch.auth != Auth::Digest {
        return Hop { exchange, sent: changed, is_coded };
    }
    let Some(challenge) = challenge(&exchange.result) else {
        return Hop { exchange, sent: changed, is_coded };
    };
    observer.ended(&exchange, sent);
    // Boxed, because it is rare: the future of a fetch lives on a VU's stack.
    Box::pin(answer(client, request, fetch, jar, &challenge, observer)).await
}

/// The second exchange of digest authentication.
async fn answer(
    client: &Client,
    request: &Request,
    fetch: &FetchRequest<'_>,
    jar: Option<&RefCell<CookieJar>>,
    challenge: &Challenge,
    observer: &mut dyn Observer,
) -> Hop {
    // k6 answers without a name, too.
    let (user, password) = request.target.user().unwrap_or_default();
    let mut sent = prepared(request, fetch, jar).unwrap_or_else(|| Box::new(request.clone()));
    set_header(&mut sent, "Authorization", challenge.answer(request, user, password));
    let started = SystemClock::now();
    observer.started(started);
    let exchange = Box::new(client.exchange_from(&sent, started).await);
    let is_coded = absorb(&exchange, &sent, jar);
    Hop { exchange, sent: Some(sent), is_coded }
}

/// The request with its cookies and its credentials; `None` where it has none.
fn prepared(
    request: &Request,
    fetch: &FetchRequest<'_>,
    jar: Option<&RefCell<CookieJar>>,
) -> Option<Box<Request>> {
    let mut prepared = None;
    let mut set = |name, value| {
        let prepared = prepared.get_or_insert_with(|| Box::new(request.clone()));
        set_header(prepared, name, value);
    };
    if let Some(cookies) = cookies(request, fetch.cookies, jar) {
        set("Cookie", cookies);
    }
    if fetch.auth == Auth::Basic
        && let Some((user, password)) = request.target.user()
        && header(request, "authorization").is_none()
    {
        set("Authorization", basic(user, password));
    }
    prepared
}

/// The `Cookie` header where it differs from what the request already has.
fn cookies(request: &Request, own: &[RequestCookie<'_>], jar: Option<&RefCell<CookieJar>>) -> Option<String> {
    let jar = jar.map(RefCell::borrow).filter(|jar| !jar.is_empty());
    if own.is_empty() && jar.is_none() {
        return None;
    }
    let from_jar =
        jar.as_ref().map(|jar| jar.cookies_for(&request.target, now_unix_ms())).unwrap_or_default();
    if own.is_empty() && from_jar.is_empty() {
        return None;
    }
    cookie_header(header(request, "cookie"), own, &from_jar)
}

/// Puts the cookies of a response into the jar; returns whether it has a `Content-Encoding`.
fn absorb(exchange: &Exchange, sent: &Request, jar: Option<&RefCell<CookieJar>>) -> bool {
    let Ok(response) = &exchange.result else { return false };
    let noted = response.headers.noted();
    if let Some(jar) = jar.filter(|_| noted.sets_cookies) {
        jar.borrow_mut().absorb(&sent.target, &response.headers, now_unix_ms());
    }
    noted.is_coded
}

fn challenge(result: &Result<Response, Error>) -> Option<Challenge> {
    let response = result.as_ref().ok().filter(|response| response.status == 401)?;
    Challenge::from_headers(&response.headers)
}

/// Decodes the body of a response, until `deadline`.
async fn decode(exchange: &mut Exchange, deadline: Instant, client: &Client) {
    let Ok(response) = &mut exchange.result else { return };
    let started = SystemClock::now();
    let decoded = coding::decode_by(&response.headers, &response.body, deadline, client.bodies()).await;
    let computed = match decoded {
        Ok(Some(decoded)) => {
            response.body = decoded.body;
            decoded.computed
        }
        Ok(None) => return,
        Err(error) => {
            exchange.result = Err(error);
            SystemClock::now().since(started)
        }
    };
    exchange.finished = exchange.finished + computed;
    exchange.phases.receiving_ns += u64::try_from(computed.as_nanos()).unwrap_or(u64::MAX);
}

fn header<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    let found = request.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str())
}

fn set_header(request: &mut Request, name: &'static str, value: String) {
    request.headers.retain(|(given, _)| !given.eq_ignore_ascii_case(name));
    request.headers.push((Cow::Borrowed(name), value));
}

/// Cookies end by the wall clock, because servers name dates.
fn now_unix_ms() -> i64 {
    SystemClock.wall_unix_ns() / 1_000_000
}
