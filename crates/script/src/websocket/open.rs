//! Opening a connection, and what is counted of it.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use model::metric::builtin;
use model::{Instant, Mark, SystemClock, SystemTag, SystemTags, TagSetId};
use wire::{Upgrade, Upgraded};

use super::params::Prepared;
use super::session::Session;
use crate::state::VuState;

/// Result of opening a connection.
pub(super) struct Opened {
    pub(super) response: Option<wire::Response>,
    /// Why no session came of it, in k6's words.
    pub(super) error: Option<String>,
    pub(super) session: Option<Rc<Session>>,
}

/// Opens a connection and counts it.
pub(super) async fn open(vu: &Rc<VuState>, mut prepared: Prepared) -> Opened {
    let Some(client) = vu.http.client() else {
        let error = Some("websockets need a running VU".to_owned());
        return Opened { response: None, error, session: None };
    };
    prepared.begin();
    let request = prepared.request.clone();
    let jar = Some(prepared.jar.cookies());
    let (offers_deflate, mirrors_k6) = (prepared.offers_deflate, vu.is_strict());
    let upgraded = client.upgrade(Upgrade { request, jar, offers_deflate, mirrors_k6 }).await;
    let Upgraded { started, finished, remote, response, result, .. } = upgraded;
    let tags = tags_of(vu, &prepared, response.as_ref(), remote);
    match result {
        Ok(socket) => {
            count(vu, tags, started, finished, Mark::Measured);
            let session = Session::start(vu, socket, tags, started);
            Opened { response, error: None, session: Some(session) }
        }
        Err(error) => {
            let error = count_failed(vu, &prepared, tags, (started, finished), response.is_some(), &error);
            Opened { response, error: Some(error), session: None }
        }
    }
}

/// An attempt that fails before any connection; k6 counts it all the same.
pub(super) fn refuse(vu: &VuState, prepared: &Prepared, error: &wire::Error) -> Opened {
    let now = SystemClock::now();
    let tags = tags_of(vu, prepared, None, None);
    let error = count_failed(vu, prepared, tags, (now, now), false, error);
    Opened { response: None, error: Some(error), session: None }
}

fn count(vu: &VuState, tags: TagSetId, started: Instant, finished: Instant, mark: Mark) {
    vu.record(builtin::WS_SESSIONS, tags, 1.0, Mark::Measured, finished);
    vu.record(builtin::WS_CONNECTING, tags, finished.ms_since(started), mark, finished);
}

/// Counts a session that never came about; gives the error's words.
fn count_failed(
    vu: &VuState,
    prepared: &Prepared,
    tags: TagSetId,
    (started, finished): (Instant, Instant),
    is_answered: bool,
    error: &wire::Error,
) -> String {
    // What had no answer has no time to measure.
    let mark = if is_answered || vu.is_strict() { Mark::Measured } else { Mark::Failed };
    count(vu, tags, started, finished, mark);
    if !prepared.is_browser {
        vu.record(builtin::WS_SESSION_DURATION, tags, finished.ms_since(started), mark, finished);
    }
    let story = error.story().to_owned();
    if let Some(binding) = vu.binding() {
        binding.notes.error(error.code.0, &error.message, tags, &|| format!("{}: {story}", prepared.url));
    }
    story
}

fn tags_of(
    vu: &VuState,
    prepared: &Prepared,
    response: Option<&wire::Response>,
    remote: Option<SocketAddr>,
) -> TagSetId {
    let system = vu.plan().map_or(SystemTags::NONE, |plan| plan.system_tags);
    let mut tags: Vec<(Arc<str>, Arc<str>)> = Vec::with_capacity(8);
    let mut add = |tag: SystemTag, value: Arc<str>| {
        if system.has(tag) {
            tags.push((tag.as_str().into(), value));
        }
    };
    add(SystemTag::Url, prepared.url.clone());
    if prepared.is_browser {
        add(SystemTag::Name, prepared.url.clone());
    }
    if let Some(response) = response {
        add(SystemTag::Status, response.status.to_string().into());
        let protocol = response.headers.get("Sec-WebSocket-Protocol").unwrap_or_default();
        add(SystemTag::Subproto, String::from_utf8_lossy(protocol).into());
    }
    if let Some(remote) = remote {
        add(SystemTag::Ip, remote.ip().to_string().into());
    }
    tags.extend(prepared.tags.iter().cloned());
    vu.cache.extend(prepared.base_tags, tags)
}
