//! Responses that are read while they come: `plimsoll/stream`, and `k6/x/sse` of the extension.
//!
//! The request is one of `k6/http` in every respect: its parameters, its samples, its failures. Only its body goes through a
//! [`Session`] instead of into the response.

mod measures;
mod parser;
mod session;

use std::rc::Rc;

use rquickjs::{Ctx, Object, Value};

use self::measures::{Answer, Measures};
use self::parser::{Format, Item};
use self::session::{Manner, Session};
use super::params::{self, Prepared};
use super::response;
use crate::error::unwind;
use crate::js::prelude::Prelude;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;
use crate::state::stop::StopReason;

pub(crate) const MODULE: Builtin = Builtin { name: "plimsoll/stream", build };

pub(crate) const SSE: Builtin = Builtin { name: "k6/x/sse", build: build_sse };

static PRELUDE: Prelude = Prelude::new("plimsoll/stream", include_str!("../../js/stream.js"));

static SSE_PRELUDE: Prelude = Prelude::new("k6/x/sse", include_str!("../../js/sse.js"));

const NATIVES: &[(&str, NativeFn)] = &[
    ("open", open),
    ("next", next),
    ("close", close),
    ("facts", facts),
    ("tokens", tokens),
    ("answer", answer),
    ("fail", |args| Err(args.error(args.string(0)?))),
    ("handedOver", handed_over),
];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    vu.stream_metrics.declare(&vu.init.metrics).map_err(|text| js::go_error(ctx, &text))?;
    PRELUDE.run(ctx, vu, NATIVES)?.into_object().ok_or(rquickjs::Error::Exception)
}

fn build_sse<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    vu.stream_metrics.declare_sse(&vu.init.metrics).map_err(|text| js::go_error(ctx, &text))?;
    SSE_PRELUDE.run(ctx, vu, NATIVES)?.into_object().ok_or(rquickjs::Error::Exception)
}

/// The stream that argument 0 names.
fn session_of(args: &Args<'_, '_>) -> Option<Rc<Session>> {
    args.vu.streams.get(args.get(0).as_number()? as u32)
}

/// Waits for something of a stream: the script stands still, the thread does not.
fn wait(args: &Args<'_, '_>, what: impl Future<Output = ()>) -> rquickjs::Result<()> {
    vu::block_on(what).map_err(|vu::Interrupted| unwind(args.ctx, &args.vu.stop, StopReason::Interrupted))
}

/// `open(method, url, body, params, kind)`: sends a request and waits for the head of its response, or for its failure.
/// `kind` is `sse`, `chat` or nothing. The result has an `id` where a body follows.
fn open<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let vu = args.vu;
    let method = args.string(0)?;
    let mut prepared = params::prepare(args, &method, &args.get(1), args.given(2), args.given(3))?;
    let kind = args.string(4)?;
    prepared.is_sse = kind == "sse";
    let manner = manner_of(args, &prepared, &kind)?;
    if manner.format == Some(Format::Events) && !has_header(&prepared, "Accept") {
        params::set_header(&mut prepared.request, "Accept", "text/event-stream".to_owned());
    }
    // A refused stream says why in its body, which is short.
    prepared.request.keep_body = true;
    let measures = Measures::new(vu, &prepared, kind == "chat");
    let session = Session::start(vu, prepared, manner, measures);
    let Some(id) = vu.streams.add(session.clone()) else {
        crate::state::open_streams::OpenStream::cut_off(&*session);
        return Err(
            args.error("too many streams are open in this VU; close those that are read to their end")
        );
    };
    wait(args, session.opened())?;
    vu.step_ended();
    let made = Object::new(args.ctx.clone())?;
    made.set("id", id)?;
    match session.head() {
        Some(head) => {
            made.set("isOpen", true)?;
            made.set("status", head.status)?;
            made.set("proto", head.proto)?;
            made.set("headers", response::header_object(args.ctx, &head.headers)?)?;
        }
        None => describe_end(args, &made, &session)?,
    }
    Ok(made.into_value())
}

fn has_header(prepared: &Prepared, name: &str) -> bool {
    prepared.request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// How the stream is received. The extension knows events alone, and a chat measures what it reads.
fn manner_of(args: &Args<'_, '_>, prepared: &Prepared, kind: &str) -> rquickjs::Result<Manner> {
    if kind == "sse" {
        return Ok(Manner { format: Some(Format::Events), discards: false });
    }
    let params = args.get(3);
    let params = params.as_object();
    let format: Option<Value<'_>> = params.map(|params| params.get("format")).transpose()?;
    let format = match format.filter(|format| !format.is_undefined() && !format.is_null()) {
        None => None,
        Some(format) => {
            let name = js::to_string(args.ctx, &format)?;
            let known = Format::NAMES.iter().find(|(known, _)| *known == name);
            let (_, format) = known.ok_or_else(|| {
                args.type_error(format!("invalid format {name:?}: use \"events\", \"lines\" or \"pieces\""))
            })?;
            Some(*format)
        }
    };
    // The option `discardResponseBodies` is about bodies that would be kept, which those of streams are not.
    let asks = params.map(|params| params.get::<_, Value<'_>>("responseType")).transpose()?;
    let discards = asks.is_some_and(|asks| asks.is_string())
        && prepared.response_type == params::ResponseType::None
        && kind != "chat";
    Ok(Manner { format, discards })
}

/// `next(id)`: waits for the next item; `undefined` where nothing follows.
fn next<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let Some(session) = session_of(args) else { return args.undefined() };
    if let Some((item, at_ms)) = session.take_item() {
        return item_of(args, item, at_ms);
    }
    wait(args, session.ready())?;
    match session.take_item() {
        Some((item, at_ms)) => item_of(args, item, at_ms),
        None => args.undefined(),
    }
}

fn item_of<'js>(args: &Args<'_, 'js>, item: Item, at_ms: f64) -> rquickjs::Result<Value<'js>> {
    let ctx = args.ctx;
    let made = Object::new(ctx.clone())?;
    match item {
        Item::Event(event) => {
            made.set("id", event.id)?;
            made.set("name", event.name)?;
            made.set("data", event.data)?;
            made.set("comment", event.comment)?;
        }
        Item::Line(bytes) => made.set("data", js::string_from_bytes(ctx, &bytes)?)?,
        Item::Piece(bytes) => made.set("data", js::byte_array(ctx, &bytes)?)?,
    }
    made.set("at", at_ms)?;
    Ok(made.into_value())
}

/// `close(id)`: nothing more is wanted; waits until the request is counted.
fn close<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if let Some(session) = session_of(args) {
        session.stop();
        wait(args, session.over())?;
    }
    args.undefined()
}

/// `facts(id)`: waits for the end of the request and forgets the stream. How it ended.
fn facts<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let made = Object::new(args.ctx.clone())?;
    let Some(session) = session_of(args) else { return Ok(made.into_value()) };
    wait(args, session.over())?;
    args.vu.step_ended();
    args.vu.streams.remove(args.get(0).as_number().unwrap_or_default() as u32);
    describe_end(args, &made, &session)?;
    let (first_ms, last_ms) = session.measures.event_times();
    made.set("events", session.measures.events() as f64)?;
    made.set("firstEvent", first_ms)?;
    made.set("lastEvent", last_ms)?;
    Ok(made.into_value())
}

/// Sets how a request ended: `status`, `headers`, `url`, `error`, `errorCode`, `body`, `duration` and `throws`, the text of the
/// exception that the script asked for.
fn describe_end<'js>(args: &Args<'_, 'js>, made: &Object<'js>, session: &Session) -> rquickjs::Result<()> {
    let Some(ended) = session.ended() else {
        made.set("status", 0)?;
        return made.set("error", "the stream was given up");
    };
    let facts = &ended.done.facts;
    let exchange = &facts.exchange;
    made.set("url", facts.target.as_str())?;
    made.set("duration", exchange.phases.duration_ns() as f64 / 1e6)?;
    match (&exchange.result, &ended.fault) {
        (Ok(_), Some(fault)) => made.set("error", fault.as_str())?,
        (Err(error), _) => made.set("error", error.story())?,
        (Ok(_), None) => {}
    }
    made.set("errorCode", response::error_code(exchange))?;
    if let Ok(response) = &exchange.result {
        made.set("status", response.status)?;
        made.set("proto", response.proto)?;
        made.set("headers", response::header_object(args.ctx, &response.headers)?)?;
        made.set("body", js::string_from_bytes(args.ctx, &response.body)?)?;
    }
    made.set("throws", ended.done.throws.as_deref())
}

/// `tokens(id, at, count)`: an item of that time has so many tokens.
fn tokens<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if let Some(session) = session_of(args) {
        let (at_ms, count) = (js::to_number(args.ctx, &args.get(1))?, js::to_number(args.ctx, &args.get(2))?);
        session.measures.tokens(args.vu, at_ms, count);
    }
    args.undefined()
}

/// `answer(id, isComplete, tokens)`: the answer of a model is over; its figures.
fn answer<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let made = Object::new(args.ctx.clone())?;
    let Some(session) = session_of(args) else { return Ok(made.into_value()) };
    wait(args, session.over())?;
    let tokens = args.given(2).map(|tokens| js::to_number(args.ctx, &tokens)).transpose()?;
    let answer = Answer { is_complete: js::to_bool(&args.get(1)), tokens };
    let said = session.measures.end_chat(args.vu, answer);
    made.set("tokens", said.tokens)?;
    made.set("firstToken", said.first_token_ms)?;
    made.set("tokensPerSecond", said.tokens_per_second)?;
    Ok(made.into_value())
}

/// `handedOver(id)`: the script takes an event.
fn handed_over<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if let Some(session) = session_of(args) {
        session.measures.handed_over(args.vu);
    }
    args.undefined()
}
