//! Calls with one request and one response: `invoke`, `asyncInvoke`, `healthCheck`.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use grpc::{Code, Deframer, EncodeError, Method, Status};
use model::{Instant, Mark, SystemClock};
use rquickjs::{Object, Persistent, Value};
use wire::{Call, CallEvent, CallHead};

use super::client::{Client, Known, this_client};
use super::connect::Connection;
use super::metadata::Metadata;
use super::params::{CALL_TIMEOUT, read_call};
use super::response::finish;
use super::samples::{CallTags, UnderWay, emit, tags_of};
use super::status::{Fields, deadline_exceeded, of_break, of_connection, of_frame};
use super::trace::CallSpan;
use crate::error::unwind;
use crate::js::{self, Args};
use crate::state::VuState;
use crate::state::events::Completion;
use crate::state::stop::StopReason;

/// The content type of requests.
pub(super) const CONTENT_TYPE: &str = "application/grpc";

/// Bytes of most requests as JSON.
const REQUEST_BYTES: usize = 256;

/// How often a call is made that the server says it has not looked at.
const ATTEMPTS_MAX: u32 = 2;

/// A call ready to make.
pub(super) struct Prepared {
    pub(super) client: Rc<Client>,
    pub(super) known: Known,
    pub(super) discards: bool,
    connection: Rc<Connection>,
    message: Vec<u8>,
    metadata: Metadata,
    tags: CallTags,
    timeout: std::time::Duration,
}

/// A call that is over.
pub(super) struct Outcome {
    pub(super) status: Status,
    pub(super) message: Option<Bytes>,
    pub(super) fields: Fields,
}

/// `invoke(method, request, params?)`: makes a call and waits.
pub(super) fn invoke<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let prepared = prepare(args, &args.get(1))?;
    let outcome = vu::block_on(pin!(perform(args.vu, &prepared)));
    let outcome =
        outcome.map_err(|vu::Interrupted| unwind(args.ctx, &args.vu.stop, StopReason::Interrupted))?;
    args.vu.step_ended();
    finish(args.ctx, args.vu, &prepared, outcome)
}

/// `asyncInvoke(method, request, params?)`: the same as a promise.
pub(super) fn async_invoke<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (promise, resolve, reject) = args.ctx.promise()?;
    let prepared = match prepare(args, &args.get(1)) {
        Ok(prepared) => prepared,
        Err(rquickjs::Error::Exception) if args.vu.stop.reason() == StopReason::None => {
            reject.call::<_, ()>((args.ctx.catch(),))?;
            return Ok(promise.into_value());
        }
        Err(error) => return Err(error),
    };
    let vu = args.vu.clone();
    let (resolve, reject) = (Persistent::save(args.ctx, resolve), Persistent::save(args.ctx, reject));
    args.vu.events.spawn(Box::pin(async move {
        let outcome = perform(&vu, &prepared).await;
        let completion: Completion = Box::new(move |ctx| {
            vu.step_ended();
            match finish(ctx, &vu, &prepared, outcome) {
                Ok(response) => resolve.restore(ctx)?.call((response,)),
                Err(rquickjs::Error::Exception) if vu.stop.reason() == StopReason::None => {
                    reject.restore(ctx)?.call((ctx.catch(),))
                }
                Err(error) => Err(error),
            }
        });
        completion
    }));
    Ok(promise.into_value())
}

/// `healthCheck(service?)`: the status that the service `grpc.health.v1.Health` returns.
pub(super) fn health_check<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let client = this_client(args)?;
    let connection = connected(args, &client)?;
    let service = if args.given(0).is_some() { args.string(0)? } else { String::new() };
    let tags = CallTags { base: args.vu.tags.borrow_mut().id(&args.vu.cache), own: Vec::new() };
    let asked = Asked {
        connection: &connection,
        path: grpc::health::CHECK_PATH,
        method: None,
        message: &grpc::health::request(&service),
        metadata: &Metadata::new(),
        tags: &tags,
        timeout: CALL_TIMEOUT,
    };
    let outcome = vu::block_on(pin!(ask(args.vu, asked)));
    let outcome =
        outcome.map_err(|vu::Interrupted| unwind(args.ctx, &args.vu.stop, StopReason::Interrupted))?;
    args.vu.step_ended();
    if outcome.status.code != Code::OK {
        return Err(args.error(rpc_error(&outcome.status)));
    }
    let health = grpc::health::status_of(&outcome.message.unwrap_or_default());
    let response = Object::new(args.ctx.clone())?;
    response.set("status", health.map_err(|error| args.error(error.to_string()))?)?;
    Ok(response.into_value())
}

/// A status as gRPC's libraries print it.
pub(super) fn rpc_error(status: &Status) -> String {
    format!("rpc error: code = {} desc = {}", status.code.name(), status.message)
}

/// The client's connection.
pub(super) fn connected(args: &Args<'_, '_>, client: &Client) -> rquickjs::Result<Rc<Connection>> {
    if !args.vu.is_running() {
        return Err(args.error("invoking RPC methods in the init context is not supported"));
    }
    client.connection().ok_or_else(|| args.error("no gRPC connection, you must call connect first"))
}

/// A method by what a script calls it.
pub(super) fn method_of(client: &Client, name: &str) -> Result<Known, String> {
    if name.is_empty() {
        return Err("method to invoke cannot be empty".to_owned());
    }
    client
        .method(name)
        .ok_or_else(|| format!("method \"/{}\" not found in file descriptors", name.trim_start_matches('/')))
}

fn prepare<'js>(args: &Args<'_, 'js>, request: &Value<'js>) -> rquickjs::Result<Prepared> {
    let client = this_client(args)?;
    let connection = connected(args, &client)?;
    let known = method_of(&client, &args.string(0)?).map_err(|why| args.error(why))?;
    if args.len() < 2 {
        return Err(args.error("request cannot be nil"));
    }
    if request.is_undefined() || request.is_null() {
        return Err(args.type_error("Cannot convert undefined or null to object"));
    }
    let params = read_call(args, args.given(2))
        .map_err(|unfit| unfit.thrown(args, "invalid GRPC's client.invoke() parameters"))?;
    let message = encode(args, &client, &known, request)?;
    let message = message
        .map_err(|why| args.error(format!("unable to serialise request object to protocol buffer: {why}")))?;
    Ok(Prepared {
        connection,
        known,
        message,
        discards: params.discards,
        metadata: params.metadata,
        tags: CallTags { base: args.vu.tags.borrow_mut().id(&args.vu.cache), own: params.tags },
        timeout: params.timeout.unwrap_or(CALL_TIMEOUT),
        client,
    })
}

/// The bytes of a message; the inner error says why the value is none.
pub(super) fn encode<'js>(
    args: &Args<'_, 'js>,
    client: &Client,
    known: &Known,
    value: &Value<'js>,
) -> rquickjs::Result<Result<Vec<u8>, String>> {
    let types = client.schemas();
    let input = known.method.input;
    let mut pause = || !args.vu.must_stop();
    let mut json = Vec::with_capacity(REQUEST_BYTES);
    let encoded = if js::plain::write(value, &mut json)? {
        known.schema.encode(&types, input, &json, &mut pause)
    } else {
        let Some(json) = vu::preempt::in_engine(|| args.ctx.json_stringify(value.clone()))? else {
            return Ok(Err("the message is a value that JSON does not have".to_owned()));
        };
        js::with_text(args.ctx, json.as_value(), |json| {
            known.schema.encode(&types, input, json.as_bytes(), &mut pause)
        })?
    };
    match encoded {
        Ok(bytes) => Ok(Ok(bytes)),
        Err(EncodeError::Value(why)) => Ok(Err(why)),
        Err(EncodeError::Interrupted) => Err(js::throw_uncatchable(args.ctx)),
    }
}

async fn perform(vu: &Rc<VuState>, prepared: &Prepared) -> Outcome {
    let asked = Asked {
        connection: &prepared.connection,
        path: &prepared.known.method.path,
        method: Some(&prepared.known.method),
        message: &prepared.message,
        metadata: &prepared.metadata,
        tags: &prepared.tags,
        timeout: prepared.timeout,
    };
    ask(vu, asked).await
}

/// A request and where it goes.
struct Asked<'a> {
    connection: &'a Rc<Connection>,
    path: &'a str,
    /// `None` for what the module asks by itself.
    method: Option<&'a Arc<Method>>,
    message: &'a [u8],
    metadata: &'a Metadata,
    tags: &'a CallTags,
    timeout: std::time::Duration,
}

/// Makes a call and counts it.
async fn ask(vu: &Rc<VuState>, asked: Asked<'_>) -> Outcome {
    let send_bytes_max = asked.connection.send_bytes_max;
    if asked.message.len() > send_bytes_max {
        let text =
            format!("trying to send message larger than max ({} vs. {send_bytes_max})", asked.message.len());
        let status = Status::new(Code::RESOURCE_EXHAUSTED, text);
        let flight = Flight::new(vu, &asked);
        return flight.end(status, Mark::Failed, None, Fields::default());
    }
    let mut flight = Flight::new(vu, &asked);
    let deadline = flight.started + asked.timeout;
    let (head, span) = head_of(vu, asked.path, asked.metadata, Some(asked.timeout));
    flight.span = span;
    let framed = grpc::frame(asked.message);
    let mut exchange = Exchange::new(asked.connection.receive_bytes_max);
    let limited = {
        let Some(http) = vu.http.client() else {
            return flight.end(
                Status::new(Code::INTERNAL, "calls need a running VU"),
                Mark::Failed,
                None,
                Fields::default(),
            );
        };
        let work = pin!(exchange.run(asked.connection, &head, &framed, deadline, &flight));
        http.limit(deadline, work).await
    };
    let (status, mark) = limited.unwrap_or_else(|| (deadline_exceeded(), Mark::TimedOut));
    flight.end(status, mark, exchange.message.take(), exchange.fields)
}

/// The head of a call, and its span where its trace is kept.
pub(super) fn head_of(
    vu: &VuState,
    path: &str,
    metadata: &Metadata,
    timeout: Option<std::time::Duration>,
) -> (CallHead, Option<CallSpan>) {
    let mut head = untraced_head_of(vu, path, metadata, timeout);
    let span = CallSpan::offer(vu, &mut head.fields);
    (head, span)
}

/// The head of a call that is in no trace: a question of the module itself.
pub(super) fn untraced_head_of(
    vu: &VuState,
    path: &str,
    metadata: &Metadata,
    timeout: Option<std::time::Duration>,
) -> CallHead {
    let mut fields = Vec::with_capacity(metadata.len() + 2);
    if let Some(timeout) = timeout {
        fields.push(("grpc-timeout".to_owned(), timeout_text(timeout)));
    }
    fields.extend(metadata.iter().cloned());
    CallHead { path: path.to_owned(), content_type: CONTENT_TYPE, user_agent: vu.http.user_agent(), fields }
}

/// At most eight digits and a unit.
fn timeout_text(timeout: std::time::Duration) -> String {
    const DIGITS_MAX: u128 = 99_999_999;
    match timeout.as_millis() {
        ms if ms <= DIGITS_MAX => format!("{ms}m"),
        ms => format!("{}S", (ms / 1_000).min(DIGITS_MAX)),
    }
}

/// A call from its begin to its samples. One that is dropped before its end was cut off, and the server has seen it.
struct Flight<'a> {
    vu: &'a VuState,
    asked: &'a Asked<'a>,
    started: Instant,
    /// When the last of the response could be read.
    received_at: Cell<Instant>,
    is_sent: Cell<bool>,
    is_over: Cell<bool>,
    under_way: RefCell<Option<UnderWay<'a>>>,
    span: Option<CallSpan>,
}

impl<'a> Flight<'a> {
    fn new(vu: &'a Rc<VuState>, asked: &'a Asked<'a>) -> Flight<'a> {
        let started = SystemClock::now();
        Flight {
            vu,
            asked,
            started,
            received_at: Cell::new(started),
            is_sent: Cell::new(false),
            is_over: Cell::new(false),
            under_way: RefCell::new(Some(UnderWay::begin(vu, started))),
            span: None,
        }
    }

    fn end(self, status: Status, mark: Mark, message: Option<Bytes>, fields: Fields) -> Outcome {
        self.is_over.set(true);
        let finished = if mark == Mark::Measured { self.received_at.get() } else { SystemClock::now() };
        self.count(&status, mark, finished);
        Outcome { status, message, fields }
    }

    fn count(&self, status: &Status, mark: Mark, finished: Instant) {
        self.under_way.borrow_mut().take();
        let asked = self.asked;
        let tags = tags_of(self.vu, asked.connection, asked.method, asked.tags, Some(status.code));
        let url = || format!("{}{}", asked.connection.address, asked.path);
        emit(self.vu, tags, (self.started, finished), mark, status, &url);
        // A call that never left is in no server's trace.
        if let Some(span) = self.span.as_ref().filter(|_| self.is_sent.get()) {
            let place = (&**asked.connection, asked.path);
            span.hand_over(self.vu, place, (self.started, finished), mark, status);
        }
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        if !self.is_over.get() && self.is_sent.get() && !self.vu.is_strict() {
            let status = Status::new(Code::CANCELLED, "call given up before its response came");
            self.count(&status, Mark::Cut, SystemClock::now());
        }
    }
}

/// One request and what comes of it.
struct Exchange {
    deframer: Deframer,
    fields: Fields,
    message: Option<Bytes>,
    bytes_max: usize,
}

impl Exchange {
    fn new(bytes_max: usize) -> Exchange {
        Exchange { deframer: Deframer::new(bytes_max), fields: Fields::default(), message: None, bytes_max }
    }

    async fn run(
        &mut self,
        connection: &Connection,
        head: &CallHead,
        framed: &Bytes,
        deadline: Instant,
        flight: &Flight<'_>,
    ) -> (Status, Mark) {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let mut call = match connection.channel.call(head, deadline).await {
                Ok(call) => call,
                Err(error) => {
                    let mark = if error.kind == wire::Kind::TimedOut { Mark::TimedOut } else { Mark::Failed };
                    return (of_connection(&error), mark);
                }
            };
            call.queue(framed.clone());
            call.finish();
            flight.is_sent.set(true);
            let status = poll_fn(|cx| self.poll(cx, &mut call)).await;
            flight.received_at.set(call.received_at());
            match status {
                Err(_) if call.is_unprocessed() && attempts < ATTEMPTS_MAX => {
                    *self = Exchange::new(self.bytes_max);
                }
                Err(error) => return (of_break(&error), Mark::Cut),
                Ok((status, mark)) => return (status, mark),
            }
        }
    }

    /// The status once there is one.
    fn poll(&mut self, cx: &Context<'_>, call: &mut Call) -> Poll<Result<(Status, Mark), wire::Error>> {
        call.poll_send(cx);
        loop {
            match ready!(call.poll_receive(cx))? {
                CallEvent::Head(http_status, headers) => {
                    if let Some(status) = self.fields.take_head(http_status, headers) {
                        return Poll::Ready(Ok((status, Mark::Measured)));
                    }
                }
                CallEvent::Data(bytes) => {
                    call.release(bytes.len());
                    self.deframer.feed(&bytes);
                    if let Some(status) = self.take_messages() {
                        return Poll::Ready(Ok((status, Mark::Cut)));
                    }
                }
                CallEvent::Trailers(trailers) => self.fields.trailers = Some(trailers),
                CallEvent::End => return Poll::Ready(Ok((self.end(), Mark::Measured))),
            }
        }
    }

    /// Takes the message; a second one, or what is none, ends the call.
    fn take_messages(&mut self) -> Option<Status> {
        loop {
            match self.deframer.next_message() {
                Ok(None) => return None,
                Ok(Some(message)) => {
                    if self.message.replace(message).is_none() {
                        continue;
                    }
                    let text = "cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message";
                    return Some(Status::new(Code::INTERNAL, text));
                }
                Err(error) => return Some(of_frame(&error)),
            }
        }
    }

    fn end(&mut self) -> Status {
        let status = self.fields.status();
        if status.code != Code::OK {
            return status;
        }
        if self.deframer.is_within() {
            return Status::new(Code::INTERNAL, "unexpected EOF: the response ended inside of a message");
        }
        if self.message.is_none() {
            let text = "cardinality violation: received no response message from non-server-streaming RPC";
            return Status::new(Code::INTERNAL, text);
        }
        status
    }
}
