//! The `Response` that scripts see. Its fields become JavaScript values when they are first read: most scripts look at
//! two of the sixteen.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use ::json::Found;
use bytes::Bytes;
use rquickjs::class::{
    ClassKind, JsCell, JsClass, PropertyDescriptor, PropertyName, Readable, Trace, Tracer,
};
use rquickjs::{Array, Atom, Class, Ctx, Exception, Object, Persistent, Value};

use super::page;
use super::params::ResponseType;
use super::perform::Done;
use super::suspects;
use crate::error::unwind;
use crate::js::{self, Args, NativeFn, js_lifetime};
use crate::memory::Charge;
use crate::state::VuState;
use crate::state::http::{FieldAtoms, RESPONSE_FIELDS};
use crate::state::stop::StopReason;

/// k6's fields, in k6's order.
const FIELDS: [&str; RESPONSE_FIELDS] = [
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

/// Functions that belong to a response; k6 shows them among its own properties.
const METHODS: &[(&str, NativeFn)] = &[
    ("json", json),
    ("html", page::html),
    ("submitForm", page::submit_form),
    ("clickLink", page::click_link),
];

/// Capacity for fields, so that most scripts need no second allocation.
const FIELDS_READ_USUALLY: usize = 3;

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

/// The JavaScript object.
pub(crate) struct Response<'js> {
    facts: Box<Facts>,
    vu: Rc<VuState>,
    /// The bodies, which are not in the JavaScript heap.
    _held: Charge,
    /// The fields that were read or set, by their place in [`FIELDS`]: two, usually.
    values: RefCell<Vec<(u8, Value<'js>)>>,
    /// Properties that the script has set itself.
    extra: RefCell<Option<Object<'js>>>,
}
js_lifetime!(Response<'js>);

/// Learns the engine's numbers of the field names; the names live as long as the VU.
pub(super) fn prepare<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<()> {
    let holder = Object::new(ctx.clone())?;
    let mut atoms = FieldAtoms::default();
    for (index, name) in FIELDS.iter().enumerate() {
        holder.set(*name, index as i32)?;
        atoms[index] = js::atom_number(&Atom::from_str(ctx.clone(), name)?);
    }
    *vu.http.fields.borrow_mut() = atoms;
    *vu.http.field_names.borrow_mut() = Some(Persistent::save(ctx, holder));
    if let Some(prototype) = Class::<Response<'js>>::prototype(ctx)? {
        js::set_natives(&prototype, vu, METHODS)?;
    }
    Ok(())
}

/// Gives a finished request to the script: a response, or an exception where the script asked for one.
pub(super) fn finish<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>, done: Done) -> rquickjs::Result<Value<'js>> {
    if let Some(problem) = done.throws {
        return Err(Exception::throw_message(ctx, &problem));
    }
    let Some(held) = Charge::of(&vu.stop.memory, done.facts.body_bytes()) else {
        return Err(unwind(ctx, &vu.stop, StopReason::Memory));
    };
    let response = Response {
        facts: done.facts,
        vu: vu.clone(),
        _held: held,
        values: RefCell::new(Vec::with_capacity(FIELDS_READ_USUALLY)),
        extra: RefCell::default(),
    };
    let known = vu.http.prototype.borrow().clone();
    let prototype = match known {
        Some(known) => known.restore(ctx)?,
        None => prototype(ctx, vu)?,
    };
    Ok(Class::instance_proto(response, prototype)?.into_value())
}

/// The class's prototype, kept in the VU because asking the binding for it costs as much as making a response.
fn prototype<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let found = Class::<Response<'js>>::prototype(ctx)?.ok_or(rquickjs::Error::Unknown)?;
    *vu.http.prototype.borrow_mut() = Some(Persistent::save(ctx, found.clone()));
    Ok(found)
}

impl<'js> Trace<'js> for Response<'js> {
    fn trace<'a>(&self, tracer: Tracer<'a, 'js>) {
        for (_, value) in &*self.values.borrow() {
            tracer.mark(value);
        }
        if let Some(extra) = &*self.extra.borrow() {
            tracer.mark(extra.as_value());
        }
    }
}

impl<'js> JsClass<'js> for Response<'js> {
    const NAME: &'static str = "Response";
    const KIND: ClassKind = ClassKind::Exotic;
    type Mutable = Readable;

    fn constructor(_ctx: &Ctx<'js>) -> rquickjs::Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }

    fn exotic_get_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
        _receiver: Value<'js>,
    ) -> rquickjs::Result<Value<'js>> {
        let response = this.borrow();
        match response.own(ctx, &atom)? {
            Some(value) => Ok(value),
            None => match Class::<Response<'js>>::prototype(ctx)? {
                Some(prototype) => prototype.get(atom),
                None => Ok(Value::new_undefined(ctx.clone())),
            },
        }
    }

    fn exotic_set_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
        _receiver: Value<'js>,
        value: Value<'js>,
    ) -> rquickjs::Result<bool> {
        let response = this.borrow();
        if let Some(index) = response.field(&atom) {
            response.keep(index, value);
            return Ok(true);
        }
        response.extra(ctx)?.set(atom, value)?;
        Ok(true)
    }

    fn exotic_delete_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
    ) -> rquickjs::Result<bool> {
        let response = this.borrow();
        if let Some(index) = response.field(&atom) {
            response.keep(index, Value::new_undefined(ctx.clone()));
            return Ok(true);
        }
        response.extra(ctx)?.remove(atom)?;
        Ok(true)
    }

    fn exotic_has_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
    ) -> rquickjs::Result<bool> {
        let response = this.borrow();
        if response.field(&atom).is_some() {
            return Ok(true);
        }
        let name = atom.to_value()?;
        if response.extra(ctx)?.contains_key(name.clone())? {
            return Ok(true);
        }
        match Class::<Response<'js>>::prototype(ctx)? {
            Some(prototype) => prototype.contains_key(name),
            None => Ok(false),
        }
    }

    fn exotic_get_own_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
    ) -> rquickjs::Result<Option<PropertyDescriptor<'js>>> {
        let value = this.borrow().own(ctx, &atom)?;
        Ok(value.map(|value| PropertyDescriptor::new_value(value, true, true, true)))
    }

    fn exotic_get_own_property_names(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
    ) -> rquickjs::Result<Vec<PropertyName<'js>>> {
        let mut names = Vec::with_capacity(FIELDS.len());
        for name in FIELDS.into_iter().chain(METHODS.iter().map(|(name, _)| *name)) {
            names.push(PropertyName { atom: Atom::from_str(ctx.clone(), name)?, is_enumerable: true });
        }
        let extra = this.borrow().extra.borrow().clone();
        for name in extra.iter().flat_map(|extra| extra.keys::<String>()) {
            names.push(PropertyName { atom: Atom::from_str(ctx.clone(), &name?)?, is_enumerable: true });
        }
        Ok(names)
    }
}

impl<'js> Response<'js> {
    fn field(&self, atom: &Atom<'js>) -> Option<usize> {
        let number = js::atom_number(atom);
        self.vu.http.fields.borrow().iter().position(|known| *known == number)
    }

    /// The value of a field that was read or set before.
    fn kept(&self, index: usize) -> Option<Value<'js>> {
        let values = self.values.borrow();
        values.iter().find(|(known, _)| usize::from(*known) == index).map(|(_, value)| value.clone())
    }

    fn keep(&self, index: usize, value: Value<'js>) {
        let mut values = self.values.borrow_mut();
        match values.iter_mut().find(|(known, _)| usize::from(*known) == index) {
            Some((_, known)) => *known = value,
            None => values.push((index as u8, value)),
        }
    }

    fn extra(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
        let mut extra = self.extra.borrow_mut();
        if let Some(extra) = &*extra {
            return Ok(extra.clone());
        }
        let object = Object::new(ctx.clone())?;
        object.set_prototype(None)?;
        Ok(extra.insert(object).clone())
    }

    fn own(&self, ctx: &Ctx<'js>, atom: &Atom<'js>) -> rquickjs::Result<Option<Value<'js>>> {
        let Some(index) = self.field(atom) else {
            let extra = self.extra.borrow().clone();
            let name = atom.to_value()?;
            if let Some(extra) = extra
                && extra.contains_key(name.clone())?
            {
                return extra.get(name).map(Some);
            }
            let is_method = METHODS.iter().any(|(known, _)| {
                name.as_string().is_some_and(|name| name.to_string().is_ok_and(|name| name == *known))
            });
            return match Class::<Response<'js>>::prototype(ctx)? {
                Some(prototype) if is_method => prototype.get(name).map(Some),
                _ => Ok(None),
            };
        };
        if let Some(value) = self.kept(index) {
            return Ok(Some(value));
        }
        let value = self.make(ctx, FIELDS[index])?;
        // A number costs as little to make as to keep.
        if !value.is_number() {
            self.keep(index, value.clone());
        }
        Ok(Some(value))
    }

    fn make(&self, ctx: &Ctx<'js>, field: &str) -> rquickjs::Result<Value<'js>> {
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
        return Ok(rquickjs::ArrayBuffer::new_copy(ctx.clone(), &body[..])?.into_value());
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
    let facts = &response.facts;
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
    Ok(response.facts.body().map(|body| (body.clone(), with_user(&response.facts.target))))
}
