//! Types from the server's own description.

use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use grpc::limits::DESCRIPTOR_BYTES_MAX;
use grpc::{Code, Deframer, Discovery, REFLECTION_PATHS, Schema, Status};
use model::{Instant, Mark, SystemClock};
use wire::{Call, CallEvent};

use super::call::{rpc_error, untraced_head_of};
use super::connect::Connection;
use super::load::compiled;
use super::metadata::Metadata;
use super::samples::{CallTags, emit, tags_of};
use super::status::{Fields, deadline_exceeded, of_break, of_connection, of_frame};
use crate::state::VuState;

/// Asks the server for all of its types; of the two versions of the question the newer one first.
pub(super) async fn discover(
    vu: &Rc<VuState>,
    connection: &Connection,
    metadata: &Metadata,
    deadline: Instant,
) -> Result<Arc<Schema>, String> {
    let mut last = String::new();
    for path in REFLECTION_PATHS {
        let started = SystemClock::now();
        let mut asking = Asking::default();
        let limited = match vu.http.client() {
            Some(http) => {
                let work = std::pin::pin!(asking.run(vu, connection, path, metadata, deadline));
                http.limit(deadline, work).await
            }
            None => None,
        };
        let status = limited.unwrap_or_else(deadline_exceeded);
        let mark = if status.code == Code::DEADLINE_EXCEEDED { Mark::TimedOut } else { Mark::Measured };
        let tags = CallTags { base: vu.tags.borrow_mut().id(&vu.cache), own: Vec::new() };
        let tags = tags_of(vu, connection, None, &tags, Some(status.code));
        // As in k6, answers are no samples, not even useless ones, and refusals are.
        if status.code != Code::OK && asking.why.is_none() {
            emit(vu, tags, (started, SystemClock::now()), mark, &status, &|| path.to_owned());
        }
        match status.code {
            Code::OK => return finished(vu, asking),
            Code::UNIMPLEMENTED => {
                last = format!(
                    "can't list services: {}; the server has no reflection: load its .proto files in the init context",
                    rpc_error(&status)
                );
            }
            _ => {
                return Err(asking
                    .why
                    .unwrap_or_else(|| format!("can't list services: {}", rpc_error(&status))));
            }
        }
    }
    Err(last)
}

/// The schema of all answers; VUs with the same answers share one.
fn finished(vu: &VuState, asking: Asking) -> Result<Arc<Schema>, String> {
    let discovery = asking.discovery;
    let key = format!("reflection {:?}", discovery.fingerprint());
    vu.init.schemas.get(key, move || compiled(move || discovery.finish().map_err(|error| error.to_string())))
}

#[derive(Default)]
struct Asking {
    discovery: Discovery,
    fields: Fields,
    /// Why an answer is of no use.
    why: Option<String>,
}

impl Asking {
    async fn run(
        &mut self,
        vu: &VuState,
        connection: &Connection,
        path: &str,
        metadata: &Metadata,
        deadline: Instant,
    ) -> Status {
        let mut call =
            match connection.channel.call(&untraced_head_of(vu, path, metadata, None), deadline).await {
                Ok(call) => call,
                Err(error) => return of_connection(&error),
            };
        let mut deframer = Deframer::new(DESCRIPTOR_BYTES_MAX);
        self.ask(&mut call);
        poll_fn(|cx| self.poll(cx, &mut call, &mut deframer)).await
    }

    fn ask(&mut self, call: &mut Call) {
        match self.discovery.next_request() {
            Some(request) => drop(call.queue(grpc::frame(&request))),
            None => call.finish(),
        }
    }

    fn poll(&mut self, cx: &Context<'_>, call: &mut Call, deframer: &mut Deframer) -> Poll<Status> {
        loop {
            call.poll_send(cx);
            let event = match ready!(call.poll_receive(cx)) {
                Ok(event) => event,
                Err(error) => return Poll::Ready(of_break(&error)),
            };
            let ended = match event {
                CallEvent::Head(http_status, headers) => self.fields.take_head(http_status, headers),
                CallEvent::Data(bytes) => {
                    call.release(bytes.len());
                    self.take(call, deframer, &bytes)
                }
                CallEvent::Trailers(trailers) => {
                    self.fields.trailers = Some(trailers);
                    None
                }
                CallEvent::End => Some(self.fields.status()),
            };
            if let Some(status) = ended {
                return Poll::Ready(status);
            }
        }
    }

    fn take(&mut self, call: &mut Call, deframer: &mut Deframer, bytes: &Bytes) -> Option<Status> {
        deframer.feed(bytes);
        loop {
            match deframer.next_message() {
                Ok(None) => return None,
                Ok(Some(answer)) => {
                    if let Err(error) = self.discovery.take(&answer) {
                        self.why = Some(error.to_string());
                        return Some(Status::new(Code::UNKNOWN, error.to_string()));
                    }
                    self.ask(call);
                }
                Err(error) => return Some(of_frame(&error)),
            }
        }
    }
}
