//! Sends a request with its redirects and counts every exchange.

use std::rc::Rc;

use model::{LogLevel, SystemClock};
use wire::{Exchange, FetchRequest, RequestCookie};

use super::flight::{self, Flight};
use super::jar::sent_cookies;
use super::params::Prepared;
use super::response::{Facts, RequestFacts};
use super::samples;
use super::span::RequestSpan;
use crate::state::VuState;

/// A request that has ended, well or badly.
pub(crate) struct Done {
    /// Boxed, because they are large and handed on several times.
    pub(crate) facts: Box<Facts>,
    /// The text of the exception that the script asked for.
    pub(crate) throws: Option<String>,
}

/// Sends `prepared` and follows it to its last response.
///
/// It is borrowed, because it is large: what the response needs of it is taken out at the end.
pub(crate) async fn perform(vu: &Rc<VuState>, prepared: &mut Prepared) -> Done {
    if let Some(problem) = &prepared.problem {
        let problem = problem.clone();
        return refuse(vu, prepared, problem);
    }
    let Some(client) = vu.http.client() else {
        let message = "requests need a running VU";
        let error =
            wire::Error::new(wire::ErrorCode::OTHER, wire::Stage::Prepare, wire::Kind::Other, message);
        return refuse(vu, prepared, error);
    };
    if let Some(gate) = &vu.binding().and_then(|binding| binding.run.rate.as_ref()) {
        let wait = gate.wait(SystemClock::now());
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }
    let sample = vu.binding().and_then(|binding| binding.run.traces);
    let span = sample.and_then(|sample| RequestSpan::offer(vu, sample, prepared));
    // As in k6, what the request has waited for until here is no part of it: a place in a batch, its turn.
    let started = SystemClock::now();
    prepared.request.deadline = started + prepared.timeout;
    let mut flight = Flight::new(vu, client, prepared, span);
    let fetched = {
        let cookies: Vec<RequestCookie<'_>> = prepared
            .cookies
            .iter()
            .map(|(name, value, replace)| RequestCookie { name, value, replace: *replace })
            .collect();
        let request = FetchRequest {
            request: &prepared.request,
            cookies: &cookies,
            redirects_max: prepared.redirects_max,
            auth: prepared.auth,
            started,
        };
        wire::fetch(client, request, Some(prepared.jar.cookies()), &mut flight).await
    };
    let last = flight.last.take();
    drop(flight);
    if let Some(verdict) = &last {
        samples::emit_response_time(vu, prepared, &fetched.exchange, verdict);
    }
    if fetched.redirect_limit_reached && prepared.warns_at_redirect_limit {
        vu.warn(format!(
            "Stopped after {} redirects and returned the redirection; pass {{ redirects: n }} in request params or set global maxRedirects to silence this",
            prepared.redirects_max
        ));
    }
    answer(vu, prepared, fetched.exchange, fetched.target)
}

/// A request that cannot be sent: the script gets a response that says why.
fn refuse(vu: &Rc<VuState>, prepared: &mut Prepared, error: wire::Error) -> Done {
    let now = SystemClock::now();
    // What could not be made a request has no URL for the script either.
    let target =
        if prepared.is_counted_problem { prepared.url.target.clone() } else { wire::Target::never("") };
    let exchange = Box::new(Exchange {
        started: now,
        finished: now,
        phases: wire::Phases::default(),
        reused: false,
        remote: None,
        tls: None,
        repeats: 0,
        late_ns: 0,
        result: Err(error),
    });
    // What is a URL but none that can be requested counts as a request in k6.
    if prepared.is_counted_problem {
        flight::count_unsent(vu, prepared, &exchange);
    }
    answer(vu, prepared, exchange, target)
}

/// Makes the script's response of the last exchange.
fn answer(vu: &Rc<VuState>, prepared: &mut Prepared, exchange: Box<Exchange>, target: wire::Target) -> Done {
    let mut cookies = std::mem::take(&mut prepared.cookies);
    cookies.extend(sent_cookies(&prepared.jar, &prepared.request.target));
    let throws = match &exchange.result {
        Ok(_) => None,
        Err(error) => complain(vu, prepared, error),
    };
    let request = &mut prepared.request;
    let facts = Box::new(Facts {
        exchange,
        target,
        response_type: prepared.response_type,
        request: RequestFacts {
            method: std::mem::replace(&mut request.method, wire::Method::GET),
            target: request.target.clone(),
            headers: std::mem::take(&mut request.headers),
            user_agent: request.user_agent.take(),
            body: std::mem::take(&mut request.body),
            cookies,
        },
    });
    Done { facts, throws }
}

/// Says that a request failed: as an exception where the script asked for one, otherwise in the log.
fn complain(vu: &Rc<VuState>, prepared: &Prepared, error: &wire::Error) -> Option<String> {
    let method = prepared.request.method.as_str();
    let text = format!("{method} \"{}\": {}", prepared.url.tag, error.story());
    if prepared.throws {
        return Some(text);
    }
    vu.log(LogLevel::Warn, "", format!("Request Failed: {text}"));
    None
}
