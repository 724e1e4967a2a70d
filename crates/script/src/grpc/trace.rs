//! `traceparent` in the metadata of calls, and the client's side of a call whose trace is kept.

use std::sync::Arc;

use grpc::{Code, Status};
use model::{Instant, Mark, OWN_SERVICE, Span, SpanKind, SpanStatus};

use super::connect::Connection;
use super::metadata::Metadata;
use crate::callbacks::Spans;
use crate::state::VuState;
use crate::trace_context::{Asked, TraceOf, how};

/// The key in metadata (W3C Trace Context, 3.2); keys of gRPC are in lower case.
const KEY: &str = "traceparent";

/// Bytes of a status text, as much as is kept of those of servers.
const TEXT_BYTES_MAX: usize = 4096;

/// A call that a kept trace has.
pub(super) struct CallSpan {
    spans: Arc<dyn Spans>,
    asked: Asked,
}

impl CallSpan {
    /// Puts a call into a trace, if its turn comes and the script has not done so; none where no receiver takes spans.
    pub(super) fn offer(vu: &VuState, metadata: &mut Metadata) -> Option<CallSpan> {
        let binding = vu.binding()?;
        let own = metadata.iter().find(|(key, _)| key == KEY).map(|(_, value)| value.as_str());
        let (header, asked) = binding.run.traces?.header(own, TraceOf::Itself);
        metadata.extend(header.map(|value| (KEY.to_owned(), value)));
        Some(CallSpan { asked: asked?, spans: binding.run.spans.clone()? })
    }

    /// The call is over.
    #[cold]
    #[inline(never)]
    pub(super) fn hand_over(
        &self,
        vu: &VuState,
        (connection, path): (&Connection, &str),
        (started, finished): (Instant, Instant),
        mark: Mark,
        status: &Status,
    ) {
        let (service, method) = path.trim_start_matches('/').split_once('/').unwrap_or((path, ""));
        let mut attributes = vec![
            ("plimsoll.request", how(mark).to_owned()),
            ("rpc.system", "grpc".to_owned()),
            ("rpc.service", service.to_owned()),
            ("rpc.method", method.to_owned()),
            ("rpc.grpc.status_code", status.code.0.to_string()),
            ("server.address", connection.address.to_string()),
        ];
        if !status.message.is_empty() {
            let text = vu.init.secrets.redact(&status.message);
            attributes.push(("error.message", text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_owned()));
        }
        let span = Span {
            id: self.asked.context.span,
            parent: self.asked.parent,
            kind: SpanKind::Client,
            service: OWN_SERVICE.into(),
            operation: path.trim_start_matches('/').into(),
            start_ns: i64::try_from(started.as_ns()).unwrap_or(i64::MAX),
            duration: finished.since(started),
            status: if status.code == Code::OK { SpanStatus::Unset } else { SpanStatus::Error },
            attributes: attributes.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            links: Vec::new(),
        };
        self.spans.add(self.asked.context.trace, span);
    }
}
