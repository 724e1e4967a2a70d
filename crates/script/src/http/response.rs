//! The `Response` that scripts see. Its fields become JavaScript values when they are first read: most scripts look at
//! two of the sixteen.

use std::rc::Rc;
use std::sync::Arc;

use ::json::Found;
use bytes::Bytes;
use rquickjs::{Array, Class, Ctx, Exception, Object, Value};

use super::page;
use super::params::ResponseType;
use super::perform::Done;
use super::suspects;
use crate::error::unwind;
use crate::js::lazy::{self, Fields, Lazy};
use crate::js::{self, Args, NativeFn};
use crate::memory::Charge;
use crate::state::VuState;
use crate::state::kinds::Kind;
use crate::state::stop::StopReason;

/// Facts of a response.
pub(crate) struct Facts {
    /// The last exchange.
    pub(crate) exchange: Box<wire::Exchange>,
    /// Where it went.
    pub(crate) target: wire::Target,
    pub(crate) response_type: ResponseType,
    pub(crate) request: RequestFacts,
}

/// Facts of a request.
pub(crate) struct RequestFacts {
    pub(crate) method: wire::Method,
    pub(crate) target: wire::Target,
    pub(crate) headers: Vec<(std::borrow::Cow<'static, str>, String)>,
    /// The `User-Agent` where `headers` have none.
    pub(crate) user_agent: Option<Arc<str>>,
    pub(crate) body: wire::Body,
    pub(crate) cookies: Vec<(String, String, bool)>,
}

/// A response under its JavaScript object.
pub(super) struct Received {
    facts: Box<Facts>,
    /// The bodies, which are not in the JavaScript heap.
    _held: Charge,
}

/// The JavaScript object.
type Response<'js> = Lazy<'js, Received>;

/// Gives a finished request to the script: a response, or an exception where the script asked for one.
pub(super) fn finish<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>, done: Done) -> rquickjs::Result<Value<'js>> {
    if let Some(problem) = done.throws {
        return Err(Exception::throw_message(ctx, &problem));
    }
    let Some(held) = Charge::of(&vu.stop.memory, done.facts.body_bytes()) else {
        return Err(unwind(ctx, &vu.stop, StopReason::Memory));
    };
    lazy::object(ctx, vu, Received { facts: done.facts, _held: held })
}

impl Fields for Received {
    const NAME: &'static str = "Response";
    const FIELDS: &'static [&'static str] = &[
        "remote_ip",
        "remote_port",
        "url",
        "status",
        "status_text",
        "proto",
        "headers",
        "cookies",
        "body",
        "timings",
        "tls_version",
        "tls_cipher_suite",
        "ocsp",
        "error",
        "error_code",
        "request",
    ];
    const METHODS: &'static [(&'static str, NativeFn)] = &[
        ("json", json),
        ("html", page::html),
        ("submitForm", page::submit_form),
        ("clickLink", page::click_link),
    ];

    fn kind(vu: &VuState) -> &Kind {
        &vu.http.responses
    }

    fn make<'js>(&self, ctx: &Ctx<'js>, field: &str) -> rquickjs::Result<Value<'js>> {
        let facts = &self.facts;
        let text = |text: &str| Ok(rquickjs::String::from_str(ctx.clone(), text)?.into_value());
        match field {
            "remote_ip" => text(&facts.remote().map_or_else(String::new, |remote| remote.ip().to_string())),
            "remote_port" => {
                Ok(Value::new_int(ctx.clone(), facts.remote().map_or(0, |remote| remote.port().into())))
            }
            "url" => text(&with_user(&facts.target)),
            "status" => Ok(Value::new_int(ctx.clone(), facts.status().into())),
            "status_text" => text(&facts.status_text()),
            "proto" => text(facts.response().map_or("", |response| response.proto)),
            "headers" => headers(ctx, facts),
            "cookies" => super::jar::response_cookies(ctx, facts),
            "body" => body(ctx, facts),
            "timings" => timings(ctx, facts),
            "tls_version" => text(facts.exchange.tls.as_ref().map_or("", |tls| tls.version)),
            "tls_cipher_suite" => text(facts.exchange.tls.as_ref().map_or("", |tls| &tls.cipher_suite)),
            "ocsp" => super::ocsp::fields(ctx, facts.exchange.tls.as_deref()),
            "error" => text(facts.error().map_or("", |error| &error.message)),
            "error_code" => Ok(Value::new_int(ctx.clone(), error_code(&facts.exchange).into())),
            // What could not be made a request.
            _ if facts.target.as_str().is_empty() => Ok(Value::new_null(ctx.clone())),
            _ => request(ctx, &facts.request),
        }
    }
}

impl Facts {
    fn response(&self) -> Option<&wire::Response> {
        self.exchange.result.as_ref().ok()
    }

    fn error(&self) -> Option<&wire::Error> {
        self.exchange.result.as_ref().err()
    }

    /// The address of the server; absent without a connection.
    fn remote(&self) -> Option<std::net::SocketAddr> {
        self.exchange.remote.filter(|_| !self.error().is_some_and(wire::Error::is_unconnected))
    }

    fn status(&self) -> u16 {
        self.response().map_or(0, |response| response.status)
    }

    fn status_text(&self) -> std::borrow::Cow<'_, str> {
        self.response().map_or("".into(), wire::Response::status_line_text)
    }

    /// Bytes of the bodies that it keeps.
    fn body_bytes(&self) -> usize {
        let received = self.response().map_or(0, |response| response.body.len());
        received + self.request.body.as_bytes().len()
    }

    /// The body, unless there is none to show.
    fn body(&self) -> Option<&Bytes> {
        let response = self.response().filter(|_| self.response_type != ResponseType::None)?;
        // These statuses have no body by definition, which is not the same as an empty one.
        (!matches!(response.status, 204 | 304)).then_some(&response.body)
    }
}

/// k6's number for what went wrong: its own for errors, 1000 and the status for refusals, else zero.
pub(super) fn error_code(exchange: &wire::Exchange) -> u16 {
    match &exchange.result {
        Err(error) => error.code.0,
        Ok(response) if response.status >= 400 => 1000 + response.status,
        Ok(_) => 0,
    }
}

/// The URL with the user information that scripts put into it.
fn with_user(target: &wire::Target) -> String {
    let url = target.shown();
    let Some((user, password)) = target.user() else { return url.to_owned() };
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let separator = if password.is_empty() { "" } else { ":" };
    format!("{scheme}://{user}{separator}{password}@{rest}")
}

fn headers<'js>(ctx: &Ctx<'js>, facts: &Facts) -> rquickjs::Result<Value<'js>> {
    match facts.response() {
        Some(response) => header_object(ctx, &response.headers).map(Object::into_value),
        None => Ok(Object::new(ctx.clone())?.into_value()),
    }
}

/// Headers as k6 shows them: with canonical names, several of one name joined.
pub(super) fn header_object<'js>(ctx: &Ctx<'js>, headers: &wire::Headers) -> rquickjs::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let mut joined: Vec<(String, String)> = Vec::new();
    for (name, value) in headers.iter() {
        let name = String::from_utf8_lossy(name);
        let name = wire::canonical_name(&name);
        let value = String::from_utf8_lossy(value);
        match joined.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => {
                known.push_str(", ");
                known.push_str(&value);
            }
            None => joined.push((name.into_owned(), value.into_owned())),
        }
    }
    for (name, value) in joined {
        object.set(name, value)?;
    }
    Ok(object)
}

fn body<'js>(ctx: &Ctx<'js>, facts: &Facts) -> rquickjs::Result<Value<'js>> {
    let Some(body) = facts.body() else { return Ok(Value::new_null(ctx.clone())) };
    if facts.response_type == ResponseType::Binary {
        return js::array_buffer(ctx, body);
    }
    js::string_from_bytes(ctx, body)
}

fn timings<'js>(ctx: &Ctx<'js>, facts: &Facts) -> rquickjs::Result<Value<'js>> {
    let phases = &facts.exchange.phases;
    let object = Object::new(ctx.clone())?;
    let ms = |ns: u64| ns as f64 / 1e6;
    for (name, ns) in [
        ("duration", phases.duration_ns()),
        ("blocked", phases.blocked_ns),
        ("looking_up", phases.looking_up_ns),
        ("connecting", phases.connecting_ns),
        ("tls_handshaking", phases.tls_ns),
        ("sending", phases.sending_ns),
        ("waiting", phases.waiting_ns),
        ("receiving", phases.receiving_ns),
    ] {
        object.set(name, ms(ns))?;
    }
    Ok(object.into_value())
}

fn request<'js>(ctx: &Ctx<'js>, facts: &RequestFacts) -> rquickjs::Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("method", facts.method.as_str())?;
    object.set("url", with_user(&facts.target))?;
    let headers = Object::new(ctx.clone())?;
    let is_agent = |name: &str| name.eq_ignore_ascii_case("User-Agent");
    let agent = facts.user_agent.as_deref().filter(|_| !facts.headers.iter().any(|(name, _)| is_agent(name)));
    let agent = agent.into_iter().map(|agent| ("User-Agent", agent));
    let given = facts.headers.iter().map(|(name, value)| (name.as_ref(), value.as_str()));
    for (name, value) in agent.chain(given) {
        let values = Array::new(ctx.clone())?;
        values.set(0, value)?;
        headers.set(name, values)?;
    }
    // They are put together only for scripts that look. A header of the script's own is shown as it was given.
    if !facts.cookies.is_empty() && !facts.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("Cookie"))
    {
        let pairs: Vec<String> =
            facts.cookies.iter().map(|(name, value, _)| format!("{name}={value}")).collect();
        headers.set("Cookie", vec![pairs.join("; ")])?;
    }
    object.set("headers", headers)?;
    object.set("body", String::from_utf8_lossy(facts.body.as_bytes()).as_ref())?;
    let cookies = Object::new(ctx.clone())?;
    for (name, value, replace) in &facts.cookies {
        let cookie = Object::new(ctx.clone())?;
        cookie.set("name", name.as_str())?;
        cookie.set("value", value.as_str())?;
        cookie.set("replace", *replace)?;
        let values = Array::new(ctx.clone())?;
        values.set(0, cookie)?;
        cookies.set(name.as_str(), values)?;
    }
    object.set("cookies", cookies)?;
    Ok(object.into_value())
}

fn this_response<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Class<'js, Response<'js>>> {
    let object = args.this().into_object();
    match object.as_ref().and_then(Class::<Response<'js>>::from_object) {
        Some(response) => Ok(response),
        None => Err(args.type_error("this is not a Response")),
    }
}

/// Characters of a body that a message quotes.
const BODY_CHARS_SHOWN: usize = 60;

/// `json(selector?)`: the whole body parsed, or what a GJSON path finds in it.
fn json<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let response = this_response(args)?;
    let response = response.borrow();
    let facts = &response.fields().facts;
    let Some(body) = facts.body() else {
        return Err(args.error(
            "the body is null so we can't transform it to JSON - this likely was because of a request error getting the response",
        ));
    };
    let text = String::from_utf8_lossy(body);
    if args.given(0).is_some() {
        let path = args.string(0)?;
        let found = ::json::find(&text, &path);
        if found.is_none() && !begins_like_json(&text) {
            let problem = format!("res.json({path:?}) finds nothing: {}", beginning(facts, &text));
            suspects::warn_at_caller(args, &problem);
        }
        return selected(args, found);
    }
    match args.json_parse(text.as_bytes()) {
        Ok(value) => Ok(value),
        Err(rquickjs::Error::Exception) => {
            args.ctx.catch();
            Err(args.error(format!("{}; {}", json_problem(&text), beginning(facts, &text))))
        }
        Err(error) => Err(error),
    }
}

/// Where and why a text is not JSON.
fn json_problem(text: &str) -> String {
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Err(error) => {
            format!(
                "cannot parse json due to an error at line {}, character {} , error: {error}",
                error.line(),
                error.column()
            )
        }
        Ok(_) => "cannot parse json".into(),
    }
}

/// Returns whether a text can be JSON by its first character: pages of errors begin with `<`.
fn begins_like_json(text: &str) -> bool {
    let first = text.trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}']).chars().next();
    first.is_some_and(|first| first.is_ascii_digit() || "{[\"-tfn".contains(first))
}

/// Describes a response whose body is not JSON: its status and how the body begins.
fn beginning(facts: &Facts, text: &str) -> String {
    let status = facts.exchange.result.as_ref().map_or(0, |response| response.status);
    if text.is_empty() {
        return format!("the response has status {status} and an empty body");
    }
    let shown: String = text.chars().take(BODY_CHARS_SHOWN).collect();
    let rest = if shown.len() < text.len() { "…" } else { "" };
    format!("the response has status {status} and begins with {shown:?}{rest}")
}

fn selected<'js>(args: &Args<'_, 'js>, found: Option<Found>) -> rquickjs::Result<Value<'js>> {
    let ctx = args.ctx;
    match found {
        None => args.undefined(),
        Some(Found::Null) => Ok(Value::new_null(ctx.clone())),
        Some(Found::Bool(value)) => Ok(Value::new_bool(ctx.clone(), value)),
        Some(Found::Number(value)) => Ok(Value::new_number(ctx.clone(), value)),
        Some(Found::Text(text)) => Ok(rquickjs::String::from_str(ctx.clone(), &text)?.into_value()),
        Some(Found::Json(json)) => ctx.json_parse(json),
    }
}

/// The body and the URL of the response that a method was called on; nothing where there is no body.
pub(super) fn page_of(args: &Args<'_, '_>) -> rquickjs::Result<Option<(Bytes, String)>> {
    let response = this_response(args)?;
    let response = response.borrow();
    let facts = &response.fields().facts;
    Ok(facts.body().map(|body| (body.clone(), with_user(&facts.target))))
}
