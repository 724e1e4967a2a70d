//! Sends a request with its redirects and counts every exchange.

use std::rc::Rc;

use model::{LogLevel, SystemClock};
use wire::{Exchange, FetchRequest, Request, RequestCookie};

use super::params::Prepared;
use super::response::{Facts, RequestFacts};
use super::samples::{self, Verdict};
use crate::state::VuState;

/// A request that has ended, well or badly.
pub(crate) struct Done {
    pub(crate) facts: Box<Facts>,
    /// The text of the exception that the script asked for.
    pub(crate) throws: Option<String>,
}

/// Sends `prepared` and follows it to its last response.
pub(crate) async fn perform(vu: &Rc<VuState>, mut prepared: Prepared) -> Done {
    if let Some(problem) = &prepared.problem {
        let problem = problem.clone();
        return refuse(vu, prepared, problem);
    }
    let Some(client) = vu.http.client.get() else {
        let message = "requests need a running VU";
        let error =
            wire::Error::new(wire::ErrorCode::OTHER, wire::Stage::Prepare, wire::Kind::Other, message);
        return refuse(vu, prepared, error);
    };
    if let Some(gate) = &vu.seat().and_then(|seat| seat.run.rate.as_ref()) {
        let wait = gate.wait(SystemClock::now());
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
            // As in k6, the wait is no part of the request.
            prepared.request.deadline = SystemClock::now() + prepared.timeout;
        }
    }
    let mut last: Option<Verdict> = None;
    let guard = InFlight { vu, client, prepared: &prepared };
    let fetched = {
        let mut observe = |exchange: &Exchange, request: &Request| {
            last = Some(samples::emit(vu, &prepared, exchange, request));
        };
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
        };
        wire::fetch(client, request, Some(prepared.jar.for_requests()), &mut observe).await
    };
    drop(guard);
    if let Some(verdict) = &last {
        samples::emit_response_time(vu, &prepared, &fetched.exchange, verdict);
    }
    if fetched.redirect_limit_reached && prepared.warns_at_redirect_limit {
        vu.warn(format!(
            "Stopped after {} redirects and returned the redirection; pass {{ redirects: n }} in request params or set global maxRedirects to silence this",
            prepared.redirects_max
        ));
    }
    answer(vu, prepared, fetched.exchange, fetched.target)
}

/// Counts a request whose iteration is cut off while it is on its way: the server has seen it. (k6 forgets it.)
struct InFlight<'a> {
    vu: &'a VuState,
    client: &'a wire::Client,
    prepared: &'a Prepared,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let Some(abandoned) = self.client.take_abandoned() else { return };
        if self.vu.is_strict() {
            return;
        }
        let mut sent = self.prepared.request.clone();
        sent.target = abandoned.target;
        samples::emit(self.vu, self.prepared, &abandoned.exchange, &sent);
    }
}

/// A request that cannot be sent: the script gets a response that says why.
fn refuse(vu: &Rc<VuState>, prepared: Prepared, error: wire::Error) -> Done {
    let now = SystemClock::now();
    let target = prepared.url.target.clone();
    let exchange = Exchange {
        started: now,
        finished: now,
        phases: wire::Phases::default(),
        reused: false,
        remote: None,
        tls: None,
        repeats: 0,
        late_ns: 0,
        result: Err(error),
    };
    // What is a URL but none that can be requested counts as a request in k6.
    if prepared.is_counted_problem {
        samples::emit(vu, &prepared, &exchange, &prepared.request);
    }
    answer(vu, prepared, exchange, target)
}

/// Makes the script's response of the last exchange.
fn answer(vu: &Rc<VuState>, mut prepared: Prepared, exchange: Exchange, target: wire::Target) -> Done {
    let (response, error) = match exchange.result {
        Ok(response) => (Some(response), None),
        Err(error) => (None, Some(error)),
    };
    let status = response.as_ref().map_or(0, |response| response.status);
    let mut cookies = std::mem::take(&mut prepared.cookies);
    cookies.extend(prepared.jar.sent_to(&prepared.request.target));
    let throws = error.as_ref().and_then(|error| complain(vu, &prepared, error));
    let error_code = match &error {
        Some(error) => error.code.0,
        None if status >= 400 => 1000 + status,
        None => 0,
    };
    let connected = !error.as_ref().is_some_and(wire::Error::is_unconnected);
    let facts = Box::new(Facts {
        remote: exchange.remote.filter(|_| connected),
        target,
        response,
        response_type: prepared.response_type,
        phases: exchange.phases,
        tls: exchange.tls,
        error: error.map_or_else(String::new, |error| error.message),
        error_code,
        request: RequestFacts {
            method: prepared.request.method,
            target: prepared.request.target,
            headers: prepared.request.headers,
            body: prepared.request.body,
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
