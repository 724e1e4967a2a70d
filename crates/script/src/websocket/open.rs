//! Opening a connection, and what is counted of it.

use std::rc::Rc;
use std::sync::Arc;

use model::metric::builtin;
use model::{Mark, SystemTag, SystemTags, TagSetId};
use wire::{Upgrade, Upgraded};

use super::params::Prepared;
use super::session::Session;
use crate::state::VuState;

/// What came of opening a connection.
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
    let jar = Some(prepared.jar.for_requests());
    let upgraded = client.upgrade(Upgrade { request, jar, offers_deflate: prepared.offers_deflate }).await;
    let tags = tags_of(vu, &prepared, &upgraded);
    let Upgraded { started, finished, response, result, .. } = upgraded;
    let connecting_ms = finished.ms_since(started);
    // A connection that never was has no time to measure; k6 counts one all the same.
    let is_failed = response.is_none() && !vu.is_strict();
    let mark = if is_failed { Mark::Failed } else { Mark::Measured };
    vu.record(builtin::WS_SESSIONS, tags, 1.0, Mark::Measured, finished);
    vu.record(builtin::WS_CONNECTING, tags, connecting_ms, mark, finished);
    match result {
        Ok(socket) => {
            let session = Session::start(vu, socket, tags, started);
            Opened { response, error: None, session: Some(session) }
        }
        Err(error) => {
            if !prepared.is_browser {
                vu.record(builtin::WS_SESSION_DURATION, tags, connecting_ms, mark, finished);
            }
            let story = error.story().to_owned();
            if let Some(seat) = vu.seat() {
                seat.notes
                    .error(error.code.0, &error.message, tags, &|| format!("{}: {story}", prepared.url));
            }
            Opened { response, error: Some(story), session: None }
        }
    }
}

fn tags_of(vu: &VuState, prepared: &Prepared, upgraded: &Upgraded) -> TagSetId {
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
    if let Some(response) = &upgraded.response {
        add(SystemTag::Status, response.status.to_string().into());
        let protocol = response.headers.get("Sec-WebSocket-Protocol").unwrap_or_default();
        add(SystemTag::Subproto, String::from_utf8_lossy(protocol).into());
    }
    if let Some(remote) = upgraded.remote {
        add(SystemTag::Ip, remote.ip().to_string().into());
    }
    tags.extend(prepared.tags.iter().cloned());
    vu.cache.extend(prepared.base_tags, tags)
}
