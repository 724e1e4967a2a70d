//! From one call to k6's samples.

use std::sync::Arc;

use grpc::{Code, Method, Status};
use model::metric::builtin;
use model::{Instant, Mark, SystemTag, SystemTags, TagSetId};

use super::connect::Connection;
use crate::Finished;
use crate::state::VuState;

/// The tags of a call's samples besides its status.
pub(super) struct CallTags {
    pub(super) base: TagSetId,
    /// Tags of this call only.
    pub(super) own: Vec<(Arc<str>, Arc<str>)>,
}

/// The tag set of a call to a method. Questions about health and types have no method, and only the status as a tag, as in
/// k6.
pub(super) fn tags_of(
    vu: &VuState,
    connection: &Connection,
    method: Option<&Arc<Method>>,
    tags: &CallTags,
    status: Option<Code>,
) -> TagSetId {
    let make = || {
        let system = vu.plan().map_or(SystemTags::NONE, |plan| plan.system_tags);
        let mut all: Vec<(Arc<str>, Arc<str>)> = Vec::with_capacity(8 + tags.own.len());
        all.extend(tags.own.iter().cloned());
        let mut add = |tag: SystemTag, value: Arc<str>| {
            if system.has(tag) {
                all.push((tag.as_str().into(), value));
            }
        };
        if let Some(method) = method {
            add(SystemTag::Url, format!("{}{}", connection.address, method.path).into());
            add(SystemTag::Method, (&*method.name).into());
            let service = method.path[1..].rsplit_once('/').map_or("", |(service, _)| service);
            add(SystemTag::Service, service.into());
            let name = tags.own.iter().find(|(name, _)| &**name == "name");
            add(SystemTag::Name, name.map_or_else(|| (&*method.path).into(), |(_, name)| name.clone()));
        }
        if let Some(status) = status {
            add(SystemTag::Status, status.0.to_string().into());
        }
        if let Some(remote) = connection.channel.remote().filter(|_| system.has(SystemTag::Ip)) {
            add(SystemTag::Ip, remote.ip().to_string().into());
        }
        vu.cache.extend(tags.base, all)
    };
    if !tags.own.is_empty() {
        return make();
    }
    let number = method.map_or(0, |method| Arc::as_ptr(method) as usize);
    connection.tags((tags.base, number, status.map_or(u32::MAX, |status| status.0)), make)
}

/// Emits the duration of a call, and counts its failure.
///
/// A call that the deadline or the end of the iteration cut has a lower bound; one that had no connection has no duration.
/// k6 has no sample of the first, and a plain value for the second.
pub(super) fn emit(
    vu: &VuState,
    tags: TagSetId,
    (started, finished): (Instant, Instant),
    mark: Mark,
    status: &Status,
    url: &dyn Fn() -> String,
) {
    let elapsed_ms = finished.ms_since(started);
    match (mark, vu.is_strict()) {
        (Mark::TimedOut, true) => {}
        (_, true) => vu.record(builtin::GRPC_REQ_DURATION, tags, elapsed_ms, Mark::Measured, finished),
        (mark, false) => vu.record(builtin::GRPC_REQ_DURATION, tags, elapsed_ms, mark, finished),
    }
    let Some(binding) = vu.binding() else { return };
    if status.code != Code::OK {
        let message = format!("gRPC status {}", status.code.name());
        let example = || format!("{}: {}", url(), status.message);
        binding.notes.error(wire::ErrorCode::OTHER.0, &message, tags, &example);
    }
}

/// A call under way, for the load that the run shows; over when it is dropped.
pub(super) struct UnderWay<'a> {
    vu: &'a VuState,
    scenario: Option<model::ScenarioId>,
}

impl<'a> UnderWay<'a> {
    pub(super) fn begin(vu: &'a VuState, at: Instant) -> UnderWay<'a> {
        let scenario = vu.scenario();
        if let Some(binding) = vu.binding() {
            binding.notes.request_started(scenario, at);
        }
        UnderWay { vu, scenario }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some(binding) = self.vu.binding() {
            let how = Finished { duration_ns: 0, mark: Mark::Failed, failed: false };
            binding.notes.request_finished(self.scenario, model::SystemClock::now(), how);
        }
    }
}
