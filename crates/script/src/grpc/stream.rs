//! `Stream`: the natives behind the class, and its events.

use std::rc::Rc;

use grpc::{Code, Status};
use model::Instant;
use rquickjs::{Ctx, Object, Value};

use super::call::{connected, encode, head_of, method_of};
use super::client::client_of;
use super::params::read_call;
use super::response;
use super::samples::CallTags;
use super::session::{Event, Session};
use crate::event_line::{EventLine, EventSource};
use crate::js::Args;
use crate::state::VuState;

/// `start(client, method, params, dispatch)`: opens a stream and returns its number.
pub(super) fn start<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let bad = |what: &str, why: &str| args.error(format!("invalid GRPC Stream's {what}: {why}"));
    let client = match args.given(0) {
        None => return Err(bad("client", "empty gRPC client")),
        Some(value) => {
            value.as_object().and_then(client_of).ok_or_else(|| bad("client", "not a gRPC client"))?
        }
    };
    if !args.vu.is_running() {
        return Err(args.error("creating a gRPC stream in the init context is not supported"));
    }
    if client.connection().is_none() {
        return Err(bad("client", "no gRPC connection, you must call connect first"));
    }
    let connection = connected(args, &client)?;
    let known = method_of(&client, &args.string(1)?).map_err(|why| bad("method", &why))?;
    let params = read_call(args, args.given(2))
        .map_err(|unfit| unfit.thrown(args, "invalid GRPC Stream's parameters"))?;
    let Some(dispatch) = args.get(3).into_function() else {
        return Err(args.type_error("a Stream needs a function that takes its events"));
    };
    let vu = args.vu;
    let tags = CallTags { base: vu.tags.borrow_mut().id(&vu.cache), own: params.tags };
    let (head, span) = head_of(vu, &known.method.path, &params.metadata, params.timeout);
    let way = (head, span, params.timeout);
    let session = Session::start(vu, client, connection, known, (tags, params.discards), way);
    let Some(id) = vu.streams.add(session.clone()) else {
        session.abandon();
        return Err(args.error("too many streams are open"));
    };
    EventLine::new(args.ctx, vu, dispatch, id).listen(session);
    Ok(Value::new_number(args.ctx.clone(), id.into()))
}

/// The stream that argument 0 names; `None` once it is over.
fn session_of(args: &Args<'_, '_>) -> Option<Rc<Session>> {
    args.vu.streams.get(args.get(0).as_number()? as u32)
}

/// `write(id, message)`
pub(super) fn write<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let Some(session) = session_of(args) else { return args.undefined() };
    match encode(args, &session.client, &session.known, &args.get(1))? {
        Ok(message) => {
            if !session.write(args.vu, &message) {
                return Err(args.error(
                    "the stream's queue is full: the server does not read as fast as the script writes",
                ));
            }
        }
        Err(why) => {
            let text = format!("can't serialise request object to protocol buffer: {why}");
            session.break_off(Status::new(Code::UNKNOWN, text));
        }
    }
    args.undefined()
}

/// `end(id)`: nothing follows.
pub(super) fn end<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if let Some(session) = session_of(args) {
        session.end();
    }
    args.undefined()
}

/// `fail(id)`: a handler threw.
pub(super) fn fail<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if let Some(session) = session_of(args) {
        session.abandon();
        args.vu.streams.remove(args.get(0).as_number().unwrap_or_default() as u32);
    }
    args.undefined()
}

/// `warn(text)`
pub(super) fn warn<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    args.vu.warn(args.string(0)?);
    args.undefined()
}

/// `notCallable(event)`
pub(super) fn not_callable<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    Err(args.type_error(format!("the handler for {} must be a function", args.string(0)?)))
}

impl EventSource for Session {
    type Event = Event;

    async fn ready(&self) {
        Session::ready(self).await;
    }

    fn take_event(&self) -> Option<Event> {
        Session::take_event(self)
    }

    fn is_last(event: &Event) -> bool {
        matches!(event, Event::End(_))
    }

    fn deliver(&self, ctx: &Ctx<'_>, line: &EventLine, event: Event) -> rquickjs::Result<()> {
        let vu = &line.vu;
        let (name, value, at) = match event {
            Event::Data(_, at) if self.discards => ("data", Object::new(ctx.clone())?.into_value(), at),
            Event::Data(bytes, at) => {
                ("data", response::message(ctx, vu, &self.client, &self.known, &bytes)?, at)
            }
            Event::Error(status, at) => ("error", response::error(ctx, vu, &self.client, &status)?, at),
            Event::End(at) => ("end", Object::new(ctx.clone())?.into_value(), at),
        };
        line.dispatch(ctx, (name, value, unix_s(vu, at)))
    }
}

/// An instant as events carry it: seconds since 1970.
fn unix_s(vu: &VuState, at: Instant) -> i64 {
    const SECOND_NS: i64 = 1_000_000_000;
    vu.binding().map_or(0, |binding| binding.run.epoch.wall_unix_ns(at) / SECOND_NS)
}
