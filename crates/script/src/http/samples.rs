//! From one exchange to k6's samples.

use std::sync::Arc;

use model::metric::builtin;
use model::{Mark, SystemTag, SystemTags, TagSetId};
use wire::{Exchange, Kind};

use super::params::Prepared;
use crate::state::VuState;
use crate::tags::HttpKey;

/// Facts of one exchange, beyond its times.
pub(crate) struct Verdict {
    pub(crate) tags: TagSetId,
    pub(crate) failed: Option<bool>,
    pub(crate) mark: Mark,
}

/// Emits the samples of one exchange; `sent` differs from the request that was prepared after a redirect.
pub(crate) fn emit(vu: &VuState, prepared: &Prepared, exchange: &Exchange, sent: &wire::Request) -> Verdict {
    let status = exchange.result.as_ref().map_or(0, |response| response.status);
    let expected =
        prepared.callback.expects(status).map(|expected| expected || is_challenge(prepared, sent, status));
    if prepared.is_sse && vu.is_strict() {
        return emit_as_extension(vu, prepared, exchange, expected);
    }
    let verdict = Verdict {
        tags: tags_of(vu, prepared, exchange, sent, status, expected),
        failed: expected.map(|expected| !expected),
        mark: mark_of(exchange),
    };
    emit_counts(vu, exchange, &verdict);
    if vu.is_strict() {
        emit_phases(vu, exchange, &verdict, exchange.phases.duration_ns());
    } else {
        emit_honest(vu, exchange, &verdict);
    }
    verdict
}

/// Emits what the extension `k6/x/sse` of k6 has of a request: three samples, without the tags of k6's own requests.
fn emit_as_extension(
    vu: &VuState,
    prepared: &Prepared,
    exchange: &Exchange,
    expected: Option<bool>,
) -> Verdict {
    let system = vu.plan().map_or(SystemTags::NONE, |plan| plan.system_tags);
    let status = exchange.result.as_ref().ok().map(|response| response.status.to_string().into());
    let known = [(SystemTag::Url, Some(prepared.url.tag.clone())), (SystemTag::Status, status)];
    let own = known.into_iter().filter(|(tag, _)| system.has(*tag));
    let mut tags: Vec<(Arc<str>, Arc<str>)> =
        own.filter_map(|(tag, value)| Some((tag.as_str().into(), value?))).collect();
    tags.extend(prepared.tags.iter().cloned());
    let tags = vu.cache.extend(prepared.base_tags, tags);
    let ms = |ns: u64| ns as f64 / 1e6;
    let samples = [
        (builtin::HTTP_REQS, 1.0),
        (builtin::HTTP_REQ_SENDING, ms(exchange.phases.sending_ns)),
        (builtin::HTTP_REQ_DURATION, ms(exchange.phases.duration_ns())),
    ];
    vu.record_many(tags, &samples, exchange.finished);
    Verdict { tags, failed: expected.map(|expected| !expected), mark: mark_of(exchange) }
}

/// The refusal that digest authentication begins with is part of the plan.
fn is_challenge(prepared: &Prepared, sent: &wire::Request, status: u16) -> bool {
    status == 401
        && prepared.auth == wire::Auth::Digest
        && !sent.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("Authorization"))
}

fn emit_counts(vu: &VuState, exchange: &Exchange, verdict: &Verdict) {
    let at = exchange.finished;
    let failed = verdict.failed.map_or(0.0, f64::from);
    let samples = [(builtin::HTTP_REQS, 1.0), (builtin::HTTP_REQ_FAILED, failed)];
    vu.record_many(verdict.tags, &samples[..1 + usize::from(verdict.failed.is_some())], at);
    if exchange.repeats > 0 && !vu.is_strict() {
        vu.record(builtin::HTTP_REQ_REPEATS, verdict.tags, exchange.repeats.into(), Mark::Measured, at);
    }
}

/// Mark of a duration: a request without a connection has no duration, a timeout or a cut response has a lower
/// bound. k6 counts both as plain values, the first as zero.
fn mark_of(exchange: &Exchange) -> Mark {
    match &exchange.result {
        Ok(_) => Mark::Measured,
        Err(error) if error.kind == Kind::TimedOut => Mark::TimedOut,
        Err(error) if error.is_unconnected() => Mark::Failed,
        Err(_) => Mark::Cut,
    }
}

fn emit_honest(vu: &VuState, exchange: &Exchange, verdict: &Verdict) {
    match verdict.mark {
        Mark::Measured => emit_phases(vu, exchange, verdict, exchange.phases.duration_ns()),
        mark => {
            let elapsed_ms = exchange.finished.ms_since(exchange.started);
            vu.record(builtin::HTTP_REQ_DURATION, verdict.tags, elapsed_ms, mark, exchange.finished);
        }
    }
}

fn emit_phases(vu: &VuState, exchange: &Exchange, verdict: &Verdict, duration_ns: u64) {
    let phases = &exchange.phases;
    let ms = |ns: u64| ns as f64 / 1e6;
    let samples = [
        (builtin::HTTP_REQ_DURATION, ms(duration_ns)),
        (builtin::HTTP_REQ_BLOCKED, ms(phases.blocked_ns)),
        (builtin::HTTP_REQ_CONNECTING, ms(phases.connecting_ns)),
        (builtin::HTTP_REQ_TLS_HANDSHAKING, ms(phases.tls_ns)),
        (builtin::HTTP_REQ_SENDING, ms(phases.sending_ns)),
        (builtin::HTTP_REQ_WAITING, ms(phases.waiting_ns)),
        (builtin::HTTP_REQ_RECEIVING, ms(phases.receiving_ns)),
        (builtin::HTTP_REQ_LOOKING_UP, ms(phases.looking_up_ns)),
    ];
    let ours = usize::from(!vu.is_strict());
    vu.record_many(verdict.tags, &samples[..samples.len() - 1 + ours], exchange.finished);
}

/// Emits the response time of a whole request, redirects included, where it had a due time.
pub(crate) fn emit_response_time(vu: &VuState, prepared: &Prepared, last: &Exchange, verdict: &Verdict) {
    let Some(due) = prepared.due.filter(|_| !vu.is_strict()) else { return };
    let mark = match verdict.mark {
        Mark::Measured if verdict.failed == Some(true) => Mark::Failed,
        mark => mark,
    };
    let elapsed_ms = last.finished.ms_since(due);
    vu.record(builtin::HTTP_REQ_RESPONSE_TIME, verdict.tags, elapsed_ms, mark, last.finished);
}

fn tags_of(
    vu: &VuState,
    prepared: &Prepared,
    exchange: &Exchange,
    sent: &wire::Request,
    status: u16,
    expected: Option<bool>,
) -> TagSetId {
    let system = vu.plan().map_or(SystemTags::NONE, |plan| plan.system_tags);
    let is_common = prepared.tags.is_empty()
        && sent.target.is_same(&prepared.request.target)
        && sent.method == prepared.request.method
        && exchange.result.is_ok()
        && !system.has(SystemTag::Ip)
        && !system.has(SystemTag::OcspStatus);
    let make = || slow_tags(vu, prepared, exchange, sent, status, expected, system);
    if !is_common {
        return make();
    }
    let key = HttpKey {
        base: prepared.base_tags,
        url: prepared.url.id,
        method: method_number(&prepared.request.method),
        status,
        expected: expected.map_or(0, |expected| 1 + u8::from(expected)),
        protocol: protocol_number(exchange),
    };
    if key.method == u8::MAX || key.protocol == u8::MAX {
        return make();
    }
    vu.cache.http(key, make)
}

fn method_number(method: &wire::Method) -> u8 {
    const KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    KNOWN.iter().position(|known| *known == method.as_str()).map_or(u8::MAX, |index| index as u8)
}

/// The HTTP and TLS versions of an answer as one number; `u8::MAX` where they are rare.
fn protocol_number(exchange: &Exchange) -> u8 {
    let http = match exchange.result.as_ref().map_or("", |response| response.proto) {
        "HTTP/1.1" => 0,
        "HTTP/2.0" => 3,
        _ => return u8::MAX,
    };
    match exchange.tls.as_ref().map_or("", |tls| tls.version) {
        "" => http,
        "tls1.2" => http + 1,
        "tls1.3" => http + 2,
        _ => u8::MAX,
    }
}

fn slow_tags(
    vu: &VuState,
    prepared: &Prepared,
    exchange: &Exchange,
    sent: &wire::Request,
    status: u16,
    expected: Option<bool>,
    system: SystemTags,
) -> TagSetId {
    let is_own = sent.target.is_same(&prepared.request.target);
    let url: Arc<str> = if is_own { prepared.url.tag.clone() } else { sent.target.shown().into() };
    let name = prepared.name.clone().unwrap_or_else(|| url.clone());
    let mut tags: Vec<(Arc<str>, Arc<str>)> = Vec::with_capacity(16);
    let mut add = |tag: SystemTag, value: Arc<str>| {
        if system.has(tag) {
            tags.push((tag.as_str().into(), value));
        }
    };
    add(SystemTag::Method, sent.method.as_str().into());
    add(SystemTag::Status, status.to_string().into());
    // With a name of its own the URL would only multiply series, so k6 puts the name there too.
    add(SystemTag::Url, name.clone());
    add(SystemTag::Name, name);
    if let Some(expected) = expected {
        add(SystemTag::ExpectedResponse, expected.to_string().into());
    }
    match &exchange.result {
        Ok(response) => {
            add(SystemTag::Proto, response.proto.into());
            if let Some(tls) = &exchange.tls {
                add(SystemTag::TlsVersion, tls.version.into());
                add(SystemTag::OcspStatus, super::ocsp::status(tls).into());
            }
            if status >= 400 {
                add(SystemTag::ErrorCode, (1000 + u32::from(status)).to_string().into());
            }
        }
        Err(error) => {
            add(SystemTag::Error, error.message.as_str().into());
            add(SystemTag::ErrorCode, error.code.0.to_string().into());
        }
    }
    if let Some(remote) = exchange.remote {
        add(SystemTag::Ip, remote.ip().to_string().into());
    }
    let user = prepared.tags.iter().filter(|(name, _)| &**name != "name").cloned();
    tags.extend(user);
    vu.cache.extend(prepared.base_tags, tags)
}
