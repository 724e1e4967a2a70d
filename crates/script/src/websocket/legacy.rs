//! `k6/ws`: `connect()` blocks until its socket is closed.

use std::rc::Rc;
use std::time::Duration;

use model::{Instant, SystemClock};
use rquickjs::{Array, Ctx, Object, Value};

use super::open::{open, refuse};
use super::session::{Event, EventKind};
use super::{fail, id_of, params, ping, session_of, with_payload};
use crate::error::unwind;
use crate::js::prelude::Prelude;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;
use crate::state::stop::StopReason;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/ws", build };

static PRELUDE: Prelude = Prelude::new("k6/ws", include_str!("../../js/ws.js"));

const NATIVES: &[(&str, NativeFn)] = &[
    ("fail", fail),
    ("open", open_socket),
    ("next", next),
    ("send", send),
    ("ping", ping),
    ("close", close),
    ("now", now),
];

/// Longest wait for an event; browsers' timers stop at 2^31 ms too.
const WAIT_MS_MAX: f64 = 2_147_483_647.0;

/// Bytes that may wait to be sent when `send()` returns.
const SEND_AHEAD_BYTES_MAX: usize = 64 << 10;

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    PRELUDE.run(ctx, vu, NATIVES)?.into_object().ok_or(rquickjs::Error::Exception)
}

fn interrupted(args: &Args<'_, '_>) -> rquickjs::Error {
    unwind(args.ctx, &args.vu.stop, StopReason::Interrupted)
}

/// `open(url, params)`: opens a connection and waits for it; the response, with `id` where it is open.
fn open_socket<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let url = args.string(0)?;
    let (target, problem) = match params::target_of(&url) {
        Ok(target) => (target, None),
        // It is read all the same, for the exceptions that its parameters may be worth.
        Err(error) => (placeholder(args)?, Some(error)),
    };
    let prepared = params::prepare(args, &url, target, args.given(1), false)?;
    let opened = match problem {
        Some(error) => refuse(args.vu, &prepared, &error),
        None => vu::block_on(open(args.vu, prepared)).map_err(|vu::Interrupted| interrupted(args))?,
    };
    args.vu.step_ended();
    let is_open = opened.session.is_some();
    let made = Object::new(args.ctx.clone())?;
    made.set("url", if is_open { url.as_str() } else { "" })?;
    made.set("status", opened.response.as_ref().map_or(0, |response| response.status))?;
    let headers = Object::new(args.ctx.clone())?;
    let mut body = rquickjs::String::from_str(args.ctx.clone(), "")?.into_value();
    if let Some(response) = &opened.response {
        for (name, value) in response.headers.iter() {
            let name = String::from_utf8_lossy(name);
            let value = String::from_utf8_lossy(value);
            headers.set(&*wire::canonical_name(&name), &*value)?;
        }
        body = js::string_from_bytes(args.ctx, &response.body)?;
    }
    made.set("headers", headers)?;
    made.set("body", body)?;
    // What the server answered is no error to k6, whatever it is.
    let error = opened.error.filter(|_| opened.response.is_none()).unwrap_or_default();
    made.set("error", error)?;
    if let Some(session) = opened.session {
        match args.vu.streams.add(session.clone()) {
            Some(id) => made.set("id", id)?,
            None => {
                session.leave(args.vu);
                return Err(args.error("too many WebSockets are open"));
            }
        }
    }
    Ok(made.into_value())
}

fn placeholder(args: &Args<'_, '_>) -> rquickjs::Result<wire::Target> {
    wire::Target::parse("http://localhost/").map_err(|error| args.error(error.story()))
}

/// `next(id, ms)`: waits for the next event, at most so long; `undefined` when none came.
fn next<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let Some(session) = session_of(args) else { return args.undefined() };
    let wait_ms = js::to_number(args.ctx, &args.get(1))?;
    let limit = (wait_ms.is_finite()).then(|| Duration::from_secs_f64(wait_ms.clamp(0.0, WAIT_MS_MAX) / 1e3));
    let waited = vu::block_on(async {
        tokio::select! {
            biased;
            () = session.ready() => {}
            () = tokio::time::sleep(limit.unwrap_or_default()), if limit.is_some() => {}
        }
    });
    waited.map_err(|vu::Interrupted| interrupted(args))?;
    match session.take_event() {
        Some(event) => Ok(describe(args, event)?.into_value()),
        None => args.undefined(),
    }
}

/// An event as `[kind, …]`.
fn describe<'js>(args: &Args<'_, 'js>, event: Event) -> rquickjs::Result<Array<'js>> {
    let described = Array::new(args.ctx.clone())?;
    match event.kind {
        EventKind::Text(text) => {
            described.set(0, "message")?;
            described.set(1, js::string_from_bytes(args.ctx, &text)?)?;
        }
        EventKind::Binary(bytes) => {
            described.set(0, "binaryMessage")?;
            described.set(1, js::array_buffer(args.ctx, &bytes)?)?;
        }
        EventKind::Ping => described.set(0, "ping")?,
        EventKind::Pong => described.set(0, "pong")?,
        EventKind::Closed { code, error, .. } => {
            described.set(0, "close")?;
            described.set(1, code)?;
            described.set(2, error)?;
        }
    }
    Ok(described)
}

/// `send(id, data)`: waits until nearly all of it is out, so that a script cannot outrun its server.
fn send<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let session = session_of(args);
    let is_taken = with_payload(args, &args.get(1), |kind, payload| {
        session.as_ref().is_some_and(|session| session.send(args.vu, kind, payload))
    })?;
    let Some(session) = session else { return args.undefined() };
    if is_taken && session.queued_bytes() > SEND_AHEAD_BYTES_MAX {
        vu::block_on(session.flushed(SEND_AHEAD_BYTES_MAX)).map_err(|vu::Interrupted| interrupted(args))?;
    }
    args.undefined()
}

/// `close(id, code)`: the session is over.
fn close<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if let (Some(session), Some(id)) = (session_of(args), id_of(args)) {
        let code = js::to_number(args.ctx, &args.get(1))? as u16;
        session.send_close(code, "");
        session.end(args.vu, SystemClock::now());
        args.vu.streams.remove(id);
    }
    args.undefined()
}

/// `now()`: milliseconds of a clock that only goes forward.
fn now<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    Ok(Value::new_number(args.ctx.clone(), SystemClock::now().ms_since(Instant::ZERO)))
}
