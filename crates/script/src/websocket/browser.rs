//! `k6/websockets`: the class `WebSocket` as browsers have it, on the event loop.

use std::rc::Rc;

use model::Epoch;
use rquickjs::{Ctx, Object, Value};

use super::open::{Opened, open};
use super::params::Prepared;
use super::session::{Event, EventKind, Session};
use super::{fail, id_of, params, ping, session_of, with_payload};
use crate::event_line::{EventLine, EventSource};
use crate::js::prelude::Prelude;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;
use crate::state::events::Completion;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/websockets", build };

/// The module's older name.
pub(crate) const EXPERIMENTAL: Builtin =
    Builtin { name: "k6/experimental/websockets", build: build_experimental };

static PRELUDE: Prelude = Prelude::new("k6/websockets", include_str!("../../js/websockets.js"));

const NATIVES: &[(&str, NativeFn)] = &[
    ("fail", fail),
    ("warn", warn),
    ("start", start),
    ("send", send),
    ("ping", |args| {
        if let Some(session) = session_of(args) {
            session.count_control(args.vu);
        }
        ping(args)
    }),
    ("close", close),
    ("end", end),
    ("buffered", buffered),
    ("blob", blob),
];

/// The places of the events in the list of `websockets.js`.
mod number {
    pub(super) const OPEN: i32 = 0;
    pub(super) const MESSAGE: i32 = 1;
    pub(super) const ERROR: i32 = 2;
    pub(super) const CLOSE: i32 = 3;
    pub(super) const PING: i32 = 4;
    pub(super) const PONG: i32 = 5;
}

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = PRELUDE.run(ctx, vu, NATIVES)?.into_object().ok_or(rquickjs::Error::Exception)?;
    module.set("Blob", crate::globals::blob::class(ctx, vu)?)?;
    Ok(module)
}

fn build_experimental<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    vu.warn("k6/experimental/websockets is now k6/websockets; please change the import");
    crate::js::registry::module(ctx, vu, MODULE.name)
}

/// `start(url, protocols, params, dispatch)`: begins to open a connection.
fn start<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let url = args.string(0)?;
    let target = params::target_of(&url).map_err(|error| args.error(error.story()))?;
    let mut prepared = params::prepare(args, &url, target, args.given(2), true)?;
    if args.given(1).is_some() {
        prepared.set_header("Sec-WebSocket-Protocol", args.string(1)?);
    }
    let Some(dispatch) = args.get(3).into_function() else {
        return Err(args.type_error("a WebSocket needs a function that takes its events"));
    };
    spawn_open(EventLine::new(args.ctx, args.vu, dispatch, 0), prepared);
    args.undefined()
}

fn spawn_open(line: EventLine, prepared: Prepared) {
    let state = line.vu.clone();
    state.events.spawn(Box::pin(async move {
        let opened = open(&line.vu, prepared).await;
        let completion: Completion = Box::new(move |ctx| opened_now(ctx, line, opened));
        completion
    }));
}

fn opened_now<'js>(ctx: &Ctx<'js>, mut line: EventLine, opened: Opened) -> rquickjs::Result<()> {
    let vu = &line.vu.clone();
    vu.step_ended();
    let at = unix_ms(vu, model::SystemClock::now());
    let added = opened.session.as_ref().and_then(|session| vu.streams.add(session.clone()));
    let (Some(session), Some(id)) = (opened.session.as_ref(), added) else {
        if let Some(session) = opened.session {
            session.leave(vu);
        }
        let error = opened.error.unwrap_or_else(|| "too many WebSockets are open".into());
        line.dispatch(ctx, (number::ERROR, at, error.as_str()))?;
        return line.dispatch(ctx, (number::CLOSE, at, Value::new_undefined(ctx.clone()), ""));
    };
    line.id = id;
    let header = |name: &str| {
        let value = opened.response.as_ref().and_then(|response| response.headers.get(name));
        value.map(|value| String::from_utf8_lossy(value).into_owned())
    };
    let extensions: Vec<String> = header("Sec-WebSocket-Extensions").into_iter().collect();
    let protocol = header("Sec-WebSocket-Protocol").unwrap_or_default();
    // Before the script's handler runs: it may wait, and no event is delivered meanwhile.
    line.clone().listen(session.clone());
    line.dispatch(ctx, (number::OPEN, at, id, protocol, extensions))
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
        matches!(event.kind, EventKind::Closed { .. })
    }

    fn deliver(&self, ctx: &Ctx<'_>, line: &EventLine, event: Event) -> rquickjs::Result<()> {
        let at = unix_ms(&line.vu, event.at);
        match event.kind {
            EventKind::Text(text) => {
                let message = Value::new_int(ctx.clone(), number::MESSAGE);
                let at = Value::new_float(ctx.clone(), at);
                line.dispatch_values(ctx, [&message, &at, &js::string_from_bytes(ctx, &text)?])
            }
            EventKind::Binary(bytes) => {
                let data = js::array_buffer(ctx, &bytes)?;
                line.dispatch(ctx, (number::MESSAGE, at, data, true))
            }
            EventKind::Ping => line.dispatch(ctx, (number::PING, at)),
            EventKind::Pong => line.dispatch(ctx, (number::PONG, at)),
            EventKind::Closed { code, reason, error } => {
                if let Some(error) = error {
                    line.dispatch(ctx, (number::ERROR, at, error))?;
                }
                line.dispatch(ctx, (number::CLOSE, at, code, reason))
            }
        }
    }
}

/// An instant as events carry it: milliseconds since 1970.
fn unix_ms(vu: &VuState, at: model::Instant) -> f64 {
    let epoch: Option<&Epoch> = vu.binding().map(|binding| &binding.run.epoch);
    epoch.map_or(0.0, |epoch| epoch.wall_unix_ns(at) as f64 / 1e6)
}

/// `send(id, data)`
fn send<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let session = session_of(args);
    let is_taken = with_payload(args, &args.get(1), |kind, payload| {
        session.as_ref().is_some_and(|session| session.send(args.vu, kind, payload))
    })?;
    let Some(session) = session else { return args.undefined() };
    if !is_taken && session.queued_bytes() > 0 {
        return Err(
            args.error("the WebSocket's queue is full: the server does not read as fast as the script sends")
        );
    }
    args.undefined()
}

/// `close(id, code, reason)`: asks for the end; the server's answer is the end, or that it does not answer in time.
fn close<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if let Some(session) = session_of(args) {
        let code = js::to_number(args.ctx, &args.get(1))? as u16;
        session.count_control(args.vu);
        session.close(args.vu, code, &args.string(2)?);
    }
    args.undefined()
}

/// `end(id)`: an end without an answer.
fn end<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if let (Some(session), Some(id)) = (session_of(args), id_of(args)) {
        session.leave(args.vu);
        args.vu.streams.remove(id);
    }
    args.undefined()
}

/// `warn(text)`
fn warn<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    args.vu.warn(args.string(0)?);
    args.undefined()
}

/// `buffered(id)`: bytes that wait to be sent.
fn buffered<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let bytes = session_of(args).map_or(0, |session| session.queued_bytes());
    Ok(Value::new_number(args.ctx.clone(), bytes as f64))
}

/// `blob(buffer)`: the same bytes as a `Blob`.
fn blob<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let bytes = js::bytes_of(&args.get(0)).unwrap_or_default();
    crate::globals::blob::new(args.ctx, args.vu, &bytes, "")
}
