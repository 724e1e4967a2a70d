//! `k6/websockets`: the class `WebSocket` as browsers have it, on the event loop.

use std::rc::Rc;
use std::sync::Arc;

use model::Epoch;
use rquickjs::{ArrayBuffer, Ctx, Function, Object, Persistent, Value};

use super::open::{Opened, open};
use super::params::Prepared;
use super::session::{Event, EventKind, Session};
use super::{fail, id_of, params, payload_of, ping, session_of};
use crate::async_groups;
use crate::js::prelude::Prelude;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;
use crate::state::events::Completion;
use crate::state::stop::StopReason;

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
    ("ping", ping),
    ("close", close),
    ("end", end),
    ("buffered", buffered),
    ("blob", blob),
];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = PRELUDE.run(ctx, vu, NATIVES)?.into_object().ok_or(rquickjs::Error::Exception)?;
    module.set("Blob", crate::globals::blob::class(ctx, vu)?)?;
    Ok(module)
}

fn build_experimental<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    vu.warn("k6/experimental/websockets is now k6/websockets; please change the import");
    crate::js::registry::module(ctx, vu, MODULE.name)
}

/// How a socket reaches its object: the function that takes its events.
#[derive(Clone)]
struct Line {
    vu: Rc<VuState>,
    dispatch: Persistent<Function<'static>>,
    id: u32,
    /// The group in which it was made, where groups are followed.
    group: Option<Arc<str>>,
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
    let dispatch = Persistent::save(args.ctx, dispatch);
    let group = async_groups::current(args.vu);
    spawn_open(Line { vu: args.vu.clone(), dispatch, id: 0, group }, prepared);
    args.undefined()
}

fn spawn_open(line: Line, prepared: Prepared) {
    let state = line.vu.clone();
    state.events.spawn(Box::pin(async move {
        let opened = open(&line.vu, prepared).await;
        let completion: Completion = Box::new(move |ctx| opened_now(ctx, line, opened));
        completion
    }));
}

fn opened_now<'js>(ctx: &Ctx<'js>, mut line: Line, opened: Opened) -> rquickjs::Result<()> {
    let vu = &line.vu.clone();
    vu.step_ended();
    let at = unix_ms(vu, model::SystemClock::now());
    let added = opened.session.as_ref().and_then(|session| vu.websockets.add(session.clone()));
    let (Some(session), Some(id)) = (opened.session.as_ref(), added) else {
        if let Some(session) = opened.session {
            session.leave(vu);
        }
        let error = opened.error.unwrap_or_else(|| "too many WebSockets are open".into());
        dispatch_event(ctx, &line, ("error", at, error.as_str()))?;
        return dispatch_event(ctx, &line, ("close", at, Value::new_undefined(ctx.clone()), ""));
    };
    line.id = id;
    let header = |name: &str| {
        let value = opened.response.as_ref().and_then(|response| response.headers.get(name));
        value.map(|value| String::from_utf8_lossy(value).into_owned())
    };
    let extensions: Vec<String> = header("Sec-WebSocket-Extensions").into_iter().collect();
    let protocol = header("Sec-WebSocket-Protocol").unwrap_or_default();
    // Before the script's handler runs: it may wait, and no event is delivered meanwhile.
    listen(line.clone(), session.clone());
    dispatch_event(ctx, &line, ("open", at, id, protocol, extensions))
}

/// Waits for events and passes them to the script.
fn listen(line: Line, session: Rc<Session>) {
    let vu = line.vu.clone();
    vu.events.spawn(Box::pin(async move {
        session.ready().await;
        let completion: Completion = Box::new(move |ctx| deliver(ctx, line, session));
        completion
    }));
}

fn deliver(ctx: &Ctx<'_>, line: Line, session: Rc<Session>) -> rquickjs::Result<()> {
    while let Some(event) = session.take_event() {
        let is_end = matches!(event.kind, EventKind::Closed { .. });
        if is_end {
            line.vu.websockets.remove(line.id);
        }
        deliver_one(ctx, &line, event)?;
        if is_end {
            return Ok(());
        }
        // Each event is a task of its own: what its handler promised comes before the next one.
        async_groups::run_jobs(ctx, &line.vu);
        if line.vu.stop.reason() != StopReason::None {
            return Ok(());
        }
    }
    if line.vu.websockets.contains(line.id) {
        listen(line, session);
    }
    Ok(())
}

fn deliver_one<'js>(ctx: &Ctx<'js>, line: &Line, event: Event) -> rquickjs::Result<()> {
    let at = unix_ms(&line.vu, event.at);
    match event.kind {
        EventKind::Text(text) => {
            dispatch_event(ctx, line, ("message", at, js::string_from_bytes(ctx, &text)?))
        }
        EventKind::Binary(bytes) => dispatch_event(
            ctx,
            line,
            ("message", at, ArrayBuffer::new_copy(ctx.clone(), &bytes[..])?.into_value()),
        ),
        EventKind::Ping => dispatch_event(ctx, line, ("ping", at)),
        EventKind::Pong => dispatch_event(ctx, line, ("pong", at)),
        EventKind::Closed { code, reason, error } => {
            if let Some(error) = error {
                dispatch_event(ctx, line, ("error", at, error))?;
            }
            dispatch_event(ctx, line, ("close", at, code, reason))
        }
    }
}

fn dispatch_event<'js, A: rquickjs::function::IntoArgs<'js>>(
    ctx: &Ctx<'js>,
    line: &Line,
    arguments: A,
) -> rquickjs::Result<()> {
    async_groups::resume(&line.vu, line.group.as_ref());
    let dispatch = line.dispatch.clone().restore(ctx)?;
    vu::preempt::in_engine(|| dispatch.call::<_, Value<'js>>(arguments)).map(drop)
}

/// An instant as events carry it: milliseconds since 1970.
fn unix_ms(vu: &VuState, at: model::Instant) -> f64 {
    let epoch: Option<&Epoch> = vu.binding().map(|binding| &binding.run.epoch);
    epoch.map_or(0.0, |epoch| epoch.wall_unix_ns(at) as f64 / 1e6)
}

/// `send(id, data)`
fn send<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (kind, payload) = payload_of(args, &args.get(1))?;
    let Some(session) = session_of(args) else { return args.undefined() };
    if !session.send(args.vu, kind, &payload) && session.queued_bytes() > 0 {
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
        session.close(args.vu, code, &args.string(2)?);
    }
    args.undefined()
}

/// `end(id)`: an end without an answer.
fn end<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if let (Some(session), Some(id)) = (session_of(args), id_of(args)) {
        session.leave(args.vu);
        args.vu.websockets.remove(id);
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
    crate::globals::blob::new(args.ctx, args.vu, bytes, "")
}
